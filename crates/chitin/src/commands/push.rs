//! `chitin push`: an artifact goes to a registry.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::ship::{Bar, Finder, Moved, NetworkArgs, count, size, until_interrupted};
use chitin_pack::reference::Reference;
use chitin_pack::signatures::{SignedName, UsedName, check, subject_of};
use chitin_pack::{Digest, ExitKind};
use chitin_registry::FoundArtifact;
use chitin_runtime::Host;
use serde::Serialize;
use std::fmt;

/// Push an artifact and its signatures to a registry.
///
/// Only blobs that the registry lacks are sent. The manifest is sent unchanged, so the digest is the same on both sides. An interrupted transfer resumes where it stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin push my-agent:1.2.0 registry.example/team/my-agent:1.2.0
  chitin push my-agent.tar 127.0.0.1:5000/my-agent --plain-http

Exit codes: 0 pushed; 1 wrong arguments; 2 the artifact is damaged; 3 the registry failed.")]
pub(crate) struct Args {
    /// The artifact: a name in the local store, a directory, an archive, or a digest.
    artifact: String,

    /// The target: `HOST/REPOSITORY:TAG`.
    reference: String,

    /// Do not push the signatures.
    #[arg(long)]
    no_signatures: bool,

    #[command(flatten)]
    network: NetworkArgs,
}

/// What was sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Pushed {
    reference: String,
    digest: Digest,
    signatures: usize,
    #[serde(flatten)]
    moved: Moved,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let word = self
            .reference
            .strip_prefix("oci://")
            .unwrap_or(&self.reference);
        let reference: Reference = word.parse()?;
        reference.host()?;
        let finder = Finder::new(host, &self.network, printer)?;
        let store = &finder.store;
        let adding = store.adding()?;
        // Without anything to send, it is the registry that gets nothing.
        let found = finder.find(&self.artifact).map_err(|error| {
            if error.class() == Some("missing-manifest") {
                error.with_kind(FailureKind::Ship(ExitKind::Registry))
            } else {
                error
            }
        })?;
        let artifact = &found.artifact;
        store.copy_in(artifact)?;
        let signatures: Vec<Digest> = if self.no_signatures {
            Vec::new()
        } else {
            store.copy_signatures(&found.signatures)?;
            let good = found.signatures.iter().filter(|one| one.found.is_ok());
            good.map(|one| one.digest).collect()
        };
        if !self.no_signatures {
            note_other_names(&found, &reference, printer);
        }
        let registry = self.network.registry(host)?;
        let bar = Bar::new(printer.stream(), "Pushing");
        let pushed = until_interrupted(async {
            let digest = registry
                .push(store, &artifact.digest, &reference, &bar)
                .await?;
            for signature in &signatures {
                registry
                    .push_referrer(store, signature, &reference, &bar)
                    .await?;
            }
            Ok(digest)
        });
        let moved = bar.finish();
        drop(adding);
        printer.result(&Pushed {
            reference: reference.to_string(),
            digest: pushed?,
            signatures: signatures.len(),
            moved,
        })
    }
}

/// Says so when the artifact is signed, and none of its signatures will hold where it is going.
fn note_other_names(found: &FoundArtifact, reference: &Reference, printer: &Printer) {
    let Some(used) = UsedName::of(&reference.to_string()) else {
        return;
    };
    let signatures = check(
        &subject_of(&found.artifact),
        Some(&used),
        &found.signatures,
        &[],
    );
    let signed = signatures.into_iter().filter_map(|one| one.signed_name);
    let names: Vec<SignedName> = signed.collect();
    if let Some(name) = names.first()
        && !names.iter().any(|name| name.holds_for(&used))
    {
        printer.note(&format!(
            "warning: the artifact is signed as `{name}`, which does not hold for `{used}`; `chitin sign --as {used}` makes a signature that does"
        ));
    }
}

impl Render for Pushed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let signed = match self.signatures {
            0 => String::new(),
            some => format!(" with {}", count(some, "signature")),
        };
        writeln!(
            out,
            "Pushed {}{signed}: {} sent ({}), {} there already.",
            paint.bold(&self.reference),
            count(self.moved.blobs, "blob"),
            size(self.moved.bytes),
            self.moved.already_there
        )?;
        writeln!(out, "{}", self.digest)
    }
}
