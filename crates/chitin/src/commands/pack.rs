//! `chitin pack`: a workspace becomes an artifact.

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::ship::{self, Finder, NetworkArgs, count, short, size};
use chitin_guard::Root;
use chitin_pack::artifact::Artifact;
use chitin_pack::build::{
    Annotations, BuildOptions, Built, LinkMode, MemoryFileMode, OutsidePaths, OwnLayers, Reuse,
    build,
};
use chitin_pack::compat::LOCK_FILE;
use chitin_pack::definition::DefinitionFile;
use chitin_pack::layer::{LayerKind, MB};
use chitin_pack::packages::Lock;
use chitin_pack::secrets::refuse_secrets;
use chitin_pack::store::{Export, Store, write_archive, write_layout};
use chitin_pack::{Digest, PackWarning};
use chitin_runtime::{Host, PackRequest, Setup, shown};
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Pack a workspace into a reproducible artifact.
///
/// The artifact contains the seven workspace files, `skills/` and `memory/`, byte for byte, and in layers of Chitin's own the extension files
/// (PERMISSIONS.md, MCP.md, CHANNELS.md, RUNTIME.md, SKILLS.md), `.agents/skills/`, and documents that the packed files link to; other tools ignore those layers. In a directory without `AGENTS.md` the `README.md` is packed the same way. State, sessions, credentials and all other files are never packed. The artifact is stored in the local store under NAME:VERSION. An unchanged workspace is not read again.
#[derive(Debug, clap::Args)]
#[command(
    disable_version_flag = true,
    after_help = "Examples:
  chitin pack ./my-agent --version 1.2.0
  chitin pack ./my-agent --output my-agent.tar        an OCI archive as well
  chitin pack ./my-agent --memory-file --json
  chitin pack ./project --definition agent.json       the parts that a definition names
  chitin pack --profile --name gateway                the portable part of openclaw.json

Exit codes: 0 packed; 1 not a workspace, secrets found, or a wrong argument; 2 a file cannot be packed; 4 packages
cannot be resolved."
)]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// The artifact's name; by default that of the directory.
    #[arg(long)]
    name: Option<String>,

    /// The version, such as `1.2.0`.
    #[arg(long, default_value = "0.1.0")]
    version: String,

    /// A one-line description of the agent.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// The author.
    #[arg(long, value_name = "TEXT")]
    author: Option<String>,

    /// The licence.
    #[arg(long, value_name = "TEXT")]
    license: Option<String>,

    /// A further name in the local store; repeatable.
    #[arg(long, value_name = "NAME")]
    tag: Vec<String>,

    /// Also write it to a file: `FILE.tar` is an OCI archive, any other name a directory with an OCI layout.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Include `MEMORY.md`.
    #[arg(long)]
    memory_file: bool,

    /// Pack only what stax's own format has: no extension files, no `.agents/skills/`, no linked documents.
    #[arg(long, conflicts_with_all = ["definition", "profile", "source"])]
    stax: bool,

    /// Pack the targets of links, where the format allows that; otherwise links are refused.
    #[arg(long)]
    flatten_links: bool,

    /// Pack even if the checker finds secrets.
    #[arg(long)]
    allow_secrets: bool,

    /// Write the optional annotations too: description, author, counts per layer. This changes the digests.
    #[arg(long)]
    annotations: bool,

    /// Set the size limit of a layer, in megabytes; repeatable.
    #[arg(long, value_name = "LAYER=MB", value_parser = limit)]
    limit: Vec<(LayerKind, u64)>,

    /// Read every file again, ignoring fingerprints of earlier packs.
    #[arg(long)]
    afresh: bool,

    /// Pack the parts named in a definition instead of a workspace.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["profile", "source"])]
    definition: Option<String>,

    /// With a definition: allow paths outside its directory.
    #[arg(long, requires = "definition")]
    allow_outside: bool,

    /// With a definition: resolve its packages and write `stax.lock` beside it.
    #[arg(long, requires = "definition")]
    lock: bool,

    /// Pack the portable, non-secret part of `openclaw.json` as a runtime profile; DIR is not used.
    #[arg(long, conflicts_with = "source")]
    profile: bool,

    /// Pack all of DIR as a source snapshot, without version control.
    #[arg(long)]
    source: bool,

    #[command(flatten)]
    network: NetworkArgs,
}

/// What was packed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Packed {
    name: String,
    version: String,
    digest: Digest,
    size: u64,
    tags: Vec<String>,
    layers: Vec<Layer>,
    /// How many layers an earlier pack gave, unread.
    reused_layers: usize,
    warnings: Vec<PackWarning>,
    /// What was left out at the root.
    left_out: Vec<String>,
    #[serde(
        serialize_with = "chitin_workspace::json_path::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    output: Option<PathBuf>,
    #[serde(
        serialize_with = "chitin_workspace::json_path::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    lock: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    #[serde(rename = "layer")]
    name: &'static str,
    digest: Digest,
    size: u64,
    files: usize,
    /// The digest of the archive before compression, the same whoever compresses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_digest: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_size: Option<u64>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let store = ship::store(host)?;
        // What is built has no name until it is tagged; nobody may sweep it away before.
        let adding = store.adding()?;
        let (built, lock) = if self.profile {
            (self.profile(host, printer, &store)?, None)
        } else if let Some(definition) = &self.definition {
            self.project(host, printer, &store, definition)?
        } else {
            (self.directory(host, printer, &store)?, None)
        };
        let artifact = store.artifact(&built.manifest.digest)?;
        if !self.allow_secrets {
            refuse_secrets(&artifact, &store)?;
        }
        let text = |member: &str| {
            artifact.config[member]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let (name, version) = (text("name"), text("version"));
        let mut tags = vec![format!("{name}:{version}")];
        tags.extend(self.tag.iter().cloned());
        for tag in &tags {
            store.tag(tag, &built.manifest)?;
        }
        drop(adding);
        let output = self.write_out(host, &artifact, &tags[0])?;
        ship::warn(printer, &built.warnings);
        let blobs = built.layers.iter().map(|layer| layer.descriptor.size);
        printer.result(&Packed {
            size: blobs.sum::<u64>() + artifact.manifest.config.size + built.manifest.size,
            digest: built.manifest.digest,
            name,
            version,
            tags,
            layers: built.layers.iter().map(Layer::from).collect(),
            reused_layers: built.reused,
            warnings: built.warnings,
            left_out: built.skipped,
            output,
            lock,
        })
    }

    fn directory(&self, host: &Host, printer: &Printer, store: &Store) -> Result<Built, CliError> {
        let setup = Setup::find(host, &self.target.target(), &printer.notes())?;
        if !self.target.with.is_empty() {
            let message = "An artifact contains one workspace: `--with` cannot be packed.";
            return Err(CliError::new(FailureKind::Usage, message)
                .hint("pack each workspace; list the others under `packages` in a definition"));
        }
        for other in &setup.with {
            printer.note(&format!(
                "configuration composes it with `{}`, which is not packed, nor are its rules",
                shown(other, host)
            ));
        }
        let request = self.request(host);
        Ok(if self.source {
            setup.pack_source(host, &request, store)?
        } else {
            setup.pack(host, &request, store)?
        })
    }

    fn project(
        &self,
        host: &Host,
        printer: &Printer,
        store: &Arc<Store>,
        definition: &str,
    ) -> Result<(Built, Option<PathBuf>), CliError> {
        let here = host.env.working_directory();
        let project = self
            .target
            .directory
            .as_ref()
            .map_or_else(|| here.to_path_buf(), |given| host.env.resolve(given));
        let named = (!definition.is_empty()).then_some(definition);
        let entry = DefinitionFile::load(&project, named)?;
        let mut options = self.options(host);
        let mut lock_file = None;
        let read = entry.definition()?;
        if self.lock && !read.packages.is_empty() {
            let finder = Finder::new(host, &self.network, printer)?;
            let layer = json!({ "packages": read.packages });
            let (resolution, _) = ship::resolved(&finder, &layer, None)?;
            let text = Lock::of(&resolution).to_text();
            let root =
                Root::open(&entry.project).map_err(|error| unwritable(&entry.project, error))?;
            root.replace(Path::new(LOCK_FILE), text.as_bytes())
                .map_err(|error| unwritable(&entry.project, error))?;
            options.lock = Some(Digest::of(text.as_bytes()));
            lock_file = Some(entry.project.join(LOCK_FILE));
        }
        Ok((build(&entry.project, &read, &options, store)?, lock_file))
    }

    fn profile(&self, host: &Host, printer: &Printer, store: &Store) -> Result<Built, CliError> {
        let setup = Setup::find(
            host,
            &chitin_runtime::AgentTarget {
                directory: None,
                ..self.target.target()
            },
            &printer.notes(),
        )?;
        Ok(setup.pack_profile(&self.request(host), store)?)
    }

    fn request(&self, host: &Host) -> PackRequest {
        PackRequest {
            name: self.name.clone(),
            version: self.version.clone(),
            description: self.description.clone(),
            author: self.author.clone(),
            license: self.license.clone(),
            memory_file: if self.memory_file {
                MemoryFileMode::Pack
            } else {
                MemoryFileMode::Leave
            },
            own_layers: if self.stax {
                OwnLayers::Leave
            } else {
                OwnLayers::Pack
            },
            build: self.options(host),
        }
    }

    fn options(&self, host: &Host) -> BuildOptions {
        BuildOptions {
            links: if self.flatten_links {
                LinkMode::Flatten
            } else {
                LinkMode::Refuse
            },
            outside: if self.allow_outside {
                OutsidePaths::Allow
            } else {
                OutsidePaths::Refuse
            },
            annotations: if self.annotations {
                Annotations::Full
            } else {
                Annotations::Plain
            },
            limits: self.limit.iter().copied().collect(),
            output: self.output.as_ref().map(|path| host.env.resolve(path)),
            closed: Vec::new(),
            reuse: if self.afresh {
                Reuse::Nothing
            } else {
                Reuse::Unchanged
            },
            lock: None,
        }
    }

    fn write_out(
        &self,
        host: &Host,
        artifact: &Artifact,
        tag: &str,
    ) -> Result<Option<PathBuf>, CliError> {
        let Some(path) = &self.output else {
            return Ok(None);
        };
        let path = host.env.resolve(path);
        let version = tag.rsplit(':').next();
        let export = Export {
            artifact,
            referrers: Vec::new(),
            tag: version,
        };
        if path.extension().is_some_and(|extension| extension == "tar") {
            write_archive(&path, &export)?;
        } else {
            write_layout(&path, &export)?;
        }
        Ok(Some(path))
    }
}

/// Reads `LAYER=MB`.
fn limit(text: &str) -> Result<(LayerKind, u64), String> {
    let (layer, megabytes) = text.split_once('=').ok_or("write it as LAYER=MB")?;
    let kind = LayerKind::from_name(layer).ok_or_else(|| format!("there is no layer `{layer}`"))?;
    let megabytes: u64 = megabytes.parse().map_err(|_| "the limit is not a number")?;
    Ok((kind, megabytes.saturating_mul(MB)))
}

fn unwritable(directory: &Path, error: impl std::error::Error + Send + Sync + 'static) -> CliError {
    let message = format!(
        "`{}` cannot be written.",
        directory.join(LOCK_FILE).display()
    );
    CliError::new(FailureKind::User, message).caused_by(error)
}

impl From<&chitin_pack::build::BuiltLayer> for Layer {
    fn from(built: &chitin_pack::build::BuiltLayer) -> Self {
        Self {
            name: built.kind.name(),
            digest: built.descriptor.digest,
            size: built.descriptor.size,
            files: built.files,
            content_digest: built.tar.map(|(digest, _)| digest),
            content_size: built.tar.map(|(_, size)| size),
        }
    }
}

impl Render for Packed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for layer in &self.layers {
            let files = count(layer.files, "file");
            writeln!(
                out,
                "  {:<16} {files:>10} {:>9}  {}",
                layer.name,
                size(layer.size),
                paint.dim(&short(&layer.digest))
            )?;
        }
        if !self.left_out.is_empty() {
            let names: Vec<_> = self
                .left_out
                .iter()
                .map(|name| plain(name, '\u{fffd}'))
                .collect();
            writeln!(
                out,
                "  {}",
                paint.dim(&format!("left out: {}", names.join(", ")))
            )?;
        }
        let unread = if self.reused_layers > 0 && self.reused_layers == self.layers.len() {
            "; unchanged, nothing was read again"
        } else {
            ""
        };
        writeln!(
            out,
            "Packed {}, {}{unread}.",
            paint.bold(&self.tags.join(", ")),
            size(self.size)
        )?;
        writeln!(out, "{}", self.digest)?;
        if let Some(path) = &self.output {
            writeln!(out, "Wrote `{}`.", path.display())?;
        }
        if let Some(path) = &self.lock {
            writeln!(out, "Wrote `{}`.", path.display())?;
        }
        Ok(())
    }
}
