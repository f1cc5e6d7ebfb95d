//! `chitin pull`: an artifact comes from a registry.

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::ship::{self, Finder, NetworkArgs, TrustArgs, count};
use chitin_pack::reference::Reference;
use chitin_pack::signatures::SignatureVerdict;
use chitin_pack::{Digest, PackWarning};
use chitin_runtime::Host;
use serde::Serialize;
use std::fmt;

/// Pull an artifact and its signatures from a registry.
///
/// Every blob is checked against its digest before it is stored; blobs that exist locally are not fetched again. An interrupted transfer resumes where it stopped, also in the next run. Packages that the agent builds on are pulled too. `inspect`, `verify`, `unpack` and `diff` then use the local copy; `pull` again, or their `--refresh`, asks the registry.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin pull registry.example/team/my-agent:1.2.0
  chitin pull registry.example/team/my-agent@sha256:9ac0… --require-signature
  chitin pull registry.example/team/my-agent:1.2.0 --tag my-agent:1.2.0

Exit codes: 0 pulled; 1 wrong arguments; 2 the store failed; 3 the registry failed; 6 no valid signature.")]
pub(crate) struct Args {
    /// The source: `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@DIGEST`.
    reference: String,

    /// A further name in the local store; repeatable.
    #[arg(long, value_name = "NAME")]
    tag: Vec<String>,

    #[command(flatten)]
    trust: TrustArgs,

    #[command(flatten)]
    network: NetworkArgs,
}

/// What came.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Pulled {
    reference: String,
    digest: Digest,
    tags: Vec<String>,
    layers: usize,
    /// How many packages came along.
    packages: usize,
    signature: Option<SignatureVerdict>,
    warnings: Vec<PackWarning>,
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
        let adding = finder.store.adding()?;
        let found = finder.pull(&reference)?;
        // What is not trusted gets no name here.
        let verdict = self.trust.judge(host, &found)?;
        finder.keep(&found)?;
        let manifest = finder
            .store
            .put_manifest_bytes(&found.artifact.manifest_bytes)?;
        for tag in &self.tag {
            finder.store.tag(tag, &manifest)?;
        }
        // An agent that is here shall be usable here, with its packages; without them it is still what was asked for.
        let brought = finder.bring_packages(&found.artifact);
        let packages = brought.map_err(CliError::from).unwrap_or_else(|error| {
            printer.note(&format!(
                "warning: could not pull the packages it builds on: {error}"
            ));
            0
        });
        drop(adding);
        ship::warn(printer, &verdict.warnings);
        printer.result(&Pulled {
            reference: reference.to_string(),
            digest: found.artifact.digest,
            tags: std::iter::once(found.name)
                .chain(self.tag.iter().cloned())
                .collect(),
            layers: found.artifact.manifest.layers.len(),
            packages,
            warnings: verdict.warnings.clone(),
            signature: Some(verdict).filter(|verdict| !verdict.signatures.is_empty()),
        })
    }
}

impl Render for Pulled {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let verified = match &self.signature {
            Some(verdict) if verdict.verified => ", with a trusted signature",
            Some(_) => ", with an unknown signature",
            None => "",
        };
        let packages = match self.packages {
            0 => String::new(),
            some => format!(" and {}", count(some, "package")),
        };
        writeln!(
            out,
            "Pulled {}, {}{packages}{verified}.",
            paint.bold(&self.reference),
            count(self.layers, "layer")
        )?;
        writeln!(out, "{}", self.digest)
    }
}
