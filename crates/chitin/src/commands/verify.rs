//! `chitin verify`: is an artifact whole, and did somebody you trust sign it?

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::ship::{self, Finder, NetworkArgs, RefreshArgs, TrustArgs, short};
use chitin_pack::Digest;
use chitin_pack::signatures::{SignatureStatus, SignatureVerdict};
use chitin_registry::ArtifactOrigin;
use chitin_runtime::Host;
use serde::Serialize;
use std::fmt;

/// Verify an artifact's contents and signatures.
///
/// The trust policy `trust.json5` in Chitin's home says what must be signed, and by whom. Without a policy, a signature by one of the `--trust` keys is required.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin verify my-agent:1.2.0 --trust ada.pub.pem
  chitin verify registry.example/team/my-agent:1.2.0
  chitin verify my-agent.tar --policy trust.json5 --json

Exit codes: 0 valid; 2 damaged; 3 the registry failed; 6 no valid signature.")]
pub(crate) struct Args {
    /// The artifact: a name in the local store, a directory, an archive, a digest, or a reference.
    artifact: String,

    #[command(flatten)]
    trust: TrustArgs,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    refresh: RefreshArgs,
}

#[derive(Debug, Serialize)]
struct Verified {
    artifact: String,
    source: ArtifactOrigin,
    /// `store`, or the path of the directory or archive.
    place: String,
    digest: Digest,
    #[serde(flatten)]
    verdict: SignatureVerdict,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let finder = Finder::new(host, &self.network, printer)?.refreshing(self.refresh);
        let found = finder.find_told(&self.artifact)?;
        found.artifact.verify()?;
        let verdict = self.trust.judge_strictly(host, &found).map_err(|error| {
            if found.was_pulled() {
                error.hint("checked the pulled copy; `--refresh` fetches newer signatures")
            } else {
                error
            }
        })?;
        ship::warn(printer, &verdict.warnings);
        printer.result(&Verified {
            artifact: found.name,
            source: found.origin,
            place: match found.place.file() {
                Some(path) => path.display().to_string(),
                None => "store".to_owned(),
            },
            digest: found.artifact.digest,
            verdict,
        })
    }
}

impl Render for Verified {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for signature in &self.verdict.signatures {
            let said = |text: &Option<String>| plain(text.as_deref().unwrap_or("?"), '\u{fffd}');
            let name = signature.signed_name.as_ref();
            let name = name.map_or_else(String::new, |name| format!("`{name}` by "));
            let (word, more) = match &signature.status {
                SignatureStatus::Valid { key } => (
                    paint.good("trusted"),
                    format!(
                        "{name}{} at {}, key `{}`",
                        said(&signature.signer),
                        said(&signature.signed_at),
                        plain(key, '\u{fffd}')
                    ),
                ),
                SignatureStatus::Unbound { key } => (
                    paint.warn("unbound"),
                    format!(
                        "{} at {}, key `{}`; binds neither name nor version",
                        said(&signature.signer),
                        said(&signature.signed_at),
                        plain(key, '\u{fffd}')
                    ),
                ),
                SignatureStatus::Misnamed { key, used_as, .. } => (
                    paint.bad("other name"),
                    format!(
                        "{name}{} at {}, key `{}`; used as `{used_as}`",
                        said(&signature.signer),
                        said(&signature.signed_at),
                        plain(key, '\u{fffd}')
                    ),
                ),
                SignatureStatus::Untrusted => (
                    paint.warn("unknown"),
                    format!(
                        "{name}{} at {}, key {}",
                        said(&signature.signer),
                        said(&signature.signed_at),
                        said(&signature.key_id)
                    ),
                ),
                SignatureStatus::Invalid { reason } => {
                    (paint.bad("invalid"), plain(reason, '\u{fffd}'))
                }
            };
            writeln!(
                out,
                "  {word} {} {more}",
                paint.dim(&short(&signature.digest))
            )?;
        }
        let said = if self.verdict.verified {
            "intact, with a trusted signature"
        } else {
            "intact; no signature was required"
        };
        writeln!(
            out,
            "{} {} is {said}.",
            paint.bold(&plain(&self.artifact, '\u{fffd}')),
            match self.source {
                ArtifactOrigin::File => format!("in `{}`", plain(&self.place, '\u{fffd}')),
                ArtifactOrigin::Store => "in the local store".to_owned(),
                ArtifactOrigin::Registry => "from its registry".to_owned(),
            }
        )?;
        writeln!(out, "{}", self.digest)
    }
}
