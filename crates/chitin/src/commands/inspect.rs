//! `chitin inspect`: what is in an artifact.

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, Secrets, plain};
use crate::ship::{
    Finder, NetworkArgs, RefreshArgs, count, known_as, short, size, until_interrupted,
};
use chitin_pack::inspect::{ArtifactInspection, InspectDepth, LayerFacts, documents, inspect};
use chitin_pack::layer::LayerKind;
use chitin_pack::reference::Reference;
use chitin_pack::signatures;
use chitin_registry::ArtifactOrigin;
use chitin_runtime::Host;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Show an artifact's name, version, layers, files and signatures.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin inspect my-agent:1.2.0
  chitin inspect my-agent.tar --files
  chitin inspect registry.example/team/my-agent:1.2.0 --json
  chitin inspect my-agent:1.2.0 --raw                 manifest and config, as they are
  chitin inspect registry.example/team/my-agent --tags

Exit codes: 0 shown; 1 wrong arguments; 2 not found or damaged; 3 the registry failed.")]
pub(crate) struct Args {
    /// The artifact: a name in the local store, a directory, an archive, a digest, or a reference.
    artifact: String,

    /// List every file with its size and digest.
    #[arg(long)]
    files: bool,

    /// Print manifest and config as JSON.
    #[arg(long)]
    raw: bool,

    /// List the tags of the repository instead; the artifact is a reference then.
    #[arg(long, conflicts_with_all = ["files", "raw"])]
    tags: bool,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    refresh: RefreshArgs,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Shown {
    Raw(Value),
    Tags(Tags),
    Facts(Box<Facts>),
}

/// What is in it, and where it was looked at.
#[derive(Debug, Serialize)]
struct Facts {
    source: ArtifactOrigin,
    #[serde(flatten)]
    inspection: ArtifactInspection,
}

#[derive(Debug, Serialize)]
struct Tags {
    repository: String,
    tags: Vec<String>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        if self.tags {
            return printer.result(&Shown::Tags(self.list_tags(host)?));
        }
        let finder = Finder::new(host, &self.network, printer)?.refreshing(self.refresh);
        let found = finder.find(&self.artifact)?;
        let artifact = &found.artifact;
        if self.raw {
            return printer.result(&Shown::Raw(documents(artifact)));
        }
        let depth = if self.files {
            InspectDepth::Files
        } else {
            InspectDepth::Counts
        };
        let subject = signatures::subject_of(artifact);
        // Whose they are is `verify`'s to say; whether they hold can be said without a key.
        let signatures = signatures::check(&subject, None, &found.signatures, &[]);
        let facts = Facts {
            source: found.origin,
            inspection: inspect(artifact, depth, signatures)?,
        };
        printer.result(&Shown::Facts(Box::new(facts)))
    }
}

impl Args {
    fn list_tags(&self, host: &Host) -> Result<Tags, CliError> {
        let word = self
            .artifact
            .strip_prefix("oci://")
            .unwrap_or(&self.artifact);
        let reference: Reference = word.parse()?;
        let repository = format!("{}/{}", reference.host()?, reference.repository);
        let registry = self.network.registry(host)?;
        Ok(Tags {
            repository,
            tags: until_interrupted(registry.tags(&reference))?,
        })
    }
}

impl Render for Shown {
    fn secrets(&self) -> Secrets {
        match self {
            Self::Raw(_) => Secrets::ExactInPipes,
            Self::Tags(_) | Self::Facts(_) => Secrets::Redacted,
        }
    }

    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        match self {
            Self::Raw(value) => {
                let text = serde_json::to_string_pretty(value).unwrap_or_default();
                writeln!(out, "{}", crate::printer::tame(&text))
            }
            Self::Tags(found) => {
                for tag in &found.tags {
                    writeln!(out, "  {}", plain(tag, '\u{fffd}'))?;
                }
                writeln!(
                    out,
                    "{} has {}.",
                    paint.bold(&found.repository),
                    count(found.tags.len(), "tag")
                )
            }
            Self::Facts(facts) => facts_text(&facts.inspection, out, paint),
        }
    }
}

fn facts_text(facts: &ArtifactInspection, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let tame = |text: &str| plain(text, '\u{fffd}');
    writeln!(
        out,
        "{} {}",
        paint.bold(&tame(&facts.name)),
        tame(&facts.version)
    )?;
    if let Some(description) = facts.config["description"].as_str() {
        writeln!(out, "{}", tame(description))?;
    }
    writeln!(out, "{}", paint.dim(&tame(&facts.artifact_type)))?;
    writeln!(out, "{}, {}", facts.digest, size(facts.size))?;
    if let Some(adapter) = facts
        .config
        .pointer("/adapter/type")
        .and_then(Value::as_str)
    {
        let fidelity = facts
            .config
            .pointer("/adapter/fidelity")
            .and_then(Value::as_str);
        writeln!(
            out,
            "for {} ({})",
            tame(adapter),
            tame(fidelity.unwrap_or("?"))
        )?;
    }
    writeln!(out)?;
    for layer in &facts.layers {
        layer_text(layer, out, paint)?;
    }
    match facts.signatures.len() {
        0 => writeln!(out, "Not signed."),
        some => {
            writeln!(out, "{}:", count(some, "signature"))?;
            for signature in &facts.signatures {
                let said = |text: &Option<String>| tame(text.as_deref().unwrap_or("?"));
                let line = match &signature.status {
                    signatures::SignatureStatus::Invalid { reason } => {
                        format!("invalid: {}", tame(reason))
                    }
                    signatures::SignatureStatus::Valid { .. }
                    | signatures::SignatureStatus::Unbound { .. }
                    | signatures::SignatureStatus::Misnamed { .. }
                    | signatures::SignatureStatus::Untrusted => format!(
                        "{} by {} at {}, key {}",
                        signed_name(signature),
                        said(&signature.signer),
                        said(&signature.signed_at),
                        said(&signature.key_id)
                    ),
                };
                writeln!(out, "  {line}")?;
            }
            Ok(())
        }
    }
}

fn signed_name(signature: &signatures::Checked) -> String {
    match &signature.signed_name {
        Some(name) => format!("`{name}`"),
        None => "no name".to_owned(),
    }
}

fn layer_text(layer: &LayerFacts, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let name = layer.layer.map_or_else(
        || plain(&layer.descriptor.media_type, '\u{fffd}'),
        str::to_owned,
    );
    let files = layer
        .files
        .map_or_else(String::new, |files| count(files, "file"));
    writeln!(
        out,
        "  {name:<16} {files:>10} {:>9}  {}",
        size(layer.descriptor.size),
        paint.dim(&short(&layer.descriptor.digest))
    )?;
    let kind = layer.layer.and_then(LayerKind::from_name);
    for (path, file) in layer.entries.iter().flatten() {
        let run = if file.executable { "*" } else { "" };
        writeln!(
            out,
            "    {:<40} {:>9}  {}",
            format!("{}{run}", plain(&known_as(kind, path), '\u{fffd}')),
            size(file.size),
            paint.dim(&short(&file.digest))
        )?;
    }
    Ok(())
}
