//! Whose signature is wanted: the policy file, and what the command line adds to it.

use super::{Found, read_file, state};
use crate::error::CliError;
use crate::host::Host;
use chitin_pack::artifact::Descriptor;
use chitin_pack::compat::OCI_MANIFEST;
use chitin_pack::trust::{
    MAX_POLICY_BYTES, Mode, Policy, PublicKey, Requirement, TrustedKey, Verdict, verify,
};
use chitin_workspace::guard::Root;
use std::path::{Path, PathBuf};

/// The policy file in Chitin's home.
pub(crate) const POLICY_FILE: &str = "trust.json5";
/// The largest file with a public key.
const MOST_KEY: u64 = 64 * 1024;

/// Whose signature is wanted.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Trust")]
pub(crate) struct TrustArgs {
    /// Stop unless somebody you trust signed it, whatever the policy says.
    #[arg(long)]
    require_signature: bool,

    /// The policy file; left out, `trust.json5` in Chitin's home, if it is there.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Trust the public key in this file too; may be given several times.
    #[arg(long, value_name = "FILE")]
    trust: Vec<PathBuf>,
}

impl TrustArgs {
    /// Decides whether an artifact may be used.
    pub(crate) fn judge(&self, host: &Host, found: &Found) -> Result<Verdict, CliError> {
        let requirement = self.requirement(host, found.target.as_deref(), Mode::None)?;
        decide(found, &requirement)
    }

    /// The same where a signature is what the user asks about: without any rule, one is required.
    pub(crate) fn judge_strictly(&self, host: &Host, found: &Found) -> Result<Verdict, CliError> {
        let requirement = self.requirement(host, found.target.as_deref(), Mode::Require)?;
        decide(found, &requirement)
    }

    fn requirement(
        &self,
        host: &Host,
        target: Option<&str>,
        without_policy: Mode,
    ) -> Result<Requirement, CliError> {
        let mut requirement = match self.policy(host)? {
            Some(policy) => policy.requirement(target),
            None => Requirement {
                mode: without_policy,
                keys: Vec::new(),
            },
        };
        if self.require_signature {
            requirement.mode = Mode::Require;
        }
        for file in &self.trust {
            let path = host.env.working_directory().join(file);
            let text = String::from_utf8_lossy(&read_file(&path, MOST_KEY)?).into_owned();
            requirement.keys.push(TrustedKey {
                name: file.display().to_string(),
                key: PublicKey::parse(&text)?,
            });
        }
        Ok(requirement)
    }

    fn policy(&self, host: &Host) -> Result<Option<Policy>, CliError> {
        let path = if let Some(named) = &self.policy {
            host.env.working_directory().join(named)
        } else {
            let state = state(host)?;
            let root = Root::open(&state).ok();
            let kind = root.and_then(|root| root.kind(Path::new(POLICY_FILE)));
            // Anything that stands there must be understood: a policy that is passed over protects nobody.
            if kind.is_none() {
                return Ok(None);
            }
            state.join(POLICY_FILE)
        };
        let bytes = read_file(&path, MAX_POLICY_BYTES as u64)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Some(Policy::parse(&text)?))
    }
}

fn decide(found: &Found, requirement: &Requirement) -> Result<Verdict, CliError> {
    let artifact = &found.artifact;
    let subject = Descriptor::new(
        OCI_MANIFEST,
        artifact.digest,
        artifact.manifest_bytes.len() as u64,
    );
    Ok(verify(&subject, &found.signatures, requirement)?)
}
