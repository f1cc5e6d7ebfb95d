//! `chitin sign`: put your name to an artifact, or make the key for it.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::ship::{Finder, NetworkArgs, count, place};
use chitin_pack::Digest;
use chitin_pack::artifact::{Artifact, Descriptor};
use chitin_pack::compat::OCI_MANIFEST;
use chitin_pack::signatures::{PrivateKey, Signature, SignedName, load_private_key, save_keys};
use chitin_runtime::Host;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// Sign an artifact with an ed25519 key, or create a key.
///
/// The signature is put where the artifact is: into the local store, or into the directory or archive that was named. It is a separate artifact that refers to the agent: registries copy it along, and the agent's digest does not change. It binds the name, the version and the time besides the content, so it does not hold under another name.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin sign --new-key ada                            writes ada.pem and ada.pub.pem
  chitin sign my-agent:1.2.0 --key ada.pem --signer ada@example.org
  chitin sign my-agent:1.2.0 --key ada.pem --as registry.example/team/my-agent:1.2.0
  chitin push my-agent:1.2.0 registry.example/team/my-agent:1.2.0      the signature is pushed too
  chitin sign my-agent.tar --key ada.pem               the signature is in the archive

Exit codes: 0 signed; 1 wrong arguments or key; 2 the artifact or a file failed; 3 the registry failed.")]
pub(crate) struct Args {
    /// The artifact: a name in the local store, a directory, an archive, a digest, or a reference.
    #[arg(required_unless_present = "new_key")]
    artifact: Option<String>,

    /// The private key.
    #[arg(long, value_name = "FILE", required_unless_present = "new_key")]
    key: Option<PathBuf>,

    /// The signer's name, as others see it; by default the key's id.
    #[arg(long, value_name = "NAME")]
    signer: Option<String>,

    /// The name and version to sign, such as `registry.example/team/agent:1.2.0`; by default those that the artifact was packed with.
    ///
    /// The signature holds where the repository ends with this name and the tag is this version, a part of it (`1.2`), or a word such as `latest`.
    #[arg(long = "as", value_name = "NAME:VERSION")]
    signed_name: Option<String>,

    /// Create a key pair instead: the private key in NAME.pem, readable by you alone, the public key in NAME.pub.pem.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["artifact", "key", "signer", "signed_name"])]
    new_key: Option<PathBuf>,

    #[command(flatten)]
    network: NetworkArgs,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Signed {
    artifact: String,
    digest: Digest,
    signature: Digest,
    #[serde(rename = "signedName")]
    name: SignedName,
    signer: String,
    key_id: String,
    signatures: usize,
    /// `store`, or the path of the directory or archive that holds the signature now.
    #[serde(rename = "signedIn")]
    place: String,
    #[serde(skip)]
    is_stored: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewKey {
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    private: PathBuf,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    public: PathBuf,
    key_id: String,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        if let Some(file) = &self.new_key {
            return printer.result(&make_key(host, file)?);
        }
        let (Some(artifact), Some(key)) = (&self.artifact, &self.key) else {
            return Err(CliError::new(
                FailureKind::Usage,
                "Name an artifact and a key.",
            ));
        };
        let (directory, name) = place(host, key)?;
        let key = load_private_key(&directory, &name)?;
        let key_id = key.public().id();
        let signer = self.signer.clone().unwrap_or_else(|| key_id.clone());
        let finder = Finder::new(host, &self.network, printer)?;
        let _adding = finder.store.adding()?;
        let found = finder.find_told(artifact)?;
        // Nobody should sign what is not whole.
        found.artifact.verify()?;
        let name = self.name_of(&found.artifact)?;
        let subject = Descriptor::of(OCI_MANIFEST, &found.artifact.manifest_bytes);
        let signature = Signature::make(&subject, &name, &key, &signer, &Host::now())?;
        let signature = found.place.add_signature(&signature)?.digest;
        let others = found.signatures.iter();
        let others = others.filter(|other| other.digest != signature).count();
        printer.result(&Signed {
            artifact: found.name,
            digest: found.artifact.digest,
            signature,
            name,
            signer,
            key_id,
            signatures: others + 1,
            place: match found.place.file() {
                Some(path) => path.display().to_string(),
                None => "store".to_owned(),
            },
            is_stored: found.place.file().is_none(),
        })
    }
}

impl Args {
    /// What is signed: the name that was typed, or the artifact's own.
    fn name_of(&self, artifact: &Artifact) -> Result<SignedName, CliError> {
        match &self.signed_name {
            Some(name) => Ok(SignedName::parse(name)?),
            None => SignedName::of(artifact).map_err(|error| {
                CliError::from(error).hint("say what to sign it as with `--as NAME:VERSION`")
            }),
        }
    }
}

fn make_key(host: &Host, file: &Path) -> Result<NewKey, CliError> {
    let (directory, name) = place(host, file)?;
    let key = PrivateKey::generate()?;
    let name = name.to_string_lossy();
    let name = name.strip_suffix(".pem").unwrap_or(&name);
    let (private, public) = save_keys(&directory, name, &key)?;
    Ok(NewKey {
        private: directory.path().join(private),
        public: directory.path().join(public),
        key_id: key.public().id(),
    })
}

impl Render for Signed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "Signed {} as `{}` by {}, key {}; it now has {}.",
            paint.bold(&plain(&self.artifact, '\u{fffd}')),
            self.name,
            plain(&self.signer, '\u{fffd}'),
            self.key_id,
            count(self.signatures, "signature")
        )?;
        if self.is_stored {
            writeln!(
                out,
                "The signature is in the local store; `chitin push` takes it along."
            )?;
        } else {
            let place = plain(&self.place, '\u{fffd}');
            writeln!(out, "The signature is in `{place}`.")?;
        }
        writeln!(out, "{}", self.signature)
    }
}

impl Render for NewKey {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(out, "Created the key {}.", paint.bold(&self.key_id))?;
        writeln!(out, "  private, keep it secret: {}", self.private.display())?;
        writeln!(out, "  public, to share:        {}", self.public.display())
    }
}
