//! Whose signature is wanted: the policy file, and what the command line adds to it.

use super::{place, state};
use crate::error::{CliError, FailureKind};
use chitin_guard::Root;
use chitin_pack::signatures::{
    Requirement, SignatureMode, SignatureVerdict, TrustPolicy, TrustedKey, load_public_key,
    subject_of, verify,
};
use chitin_registry::FoundArtifact;
use chitin_runtime::Host;
use std::path::{Path, PathBuf};

/// The policy file in Chitin's home.
pub(crate) const POLICY_FILE: &str = "trust.json5";

/// Whose signature is wanted.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Trust")]
pub(crate) struct TrustArgs {
    /// Require a trusted signature, whatever the policy says.
    #[arg(long)]
    require_signature: bool,

    /// The policy file; by default `trust.json5` in Chitin's home, if it exists.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Also trust the public key in this file; repeatable.
    #[arg(long, value_name = "FILE")]
    trust: Vec<PathBuf>,
}

impl TrustArgs {
    /// Decides whether an artifact may be used.
    pub(crate) fn judge(
        &self,
        host: &Host,
        found: &FoundArtifact,
    ) -> Result<SignatureVerdict, CliError> {
        let requirement = self.requirement(host, found.target.as_deref(), SignatureMode::None)?;
        decide(found, &requirement)
    }

    /// The same where a signature is what the user asks about: without any rule, one is required.
    pub(crate) fn judge_strictly(
        &self,
        host: &Host,
        found: &FoundArtifact,
    ) -> Result<SignatureVerdict, CliError> {
        let requirement =
            self.requirement(host, found.target.as_deref(), SignatureMode::Require)?;
        decide(found, &requirement)
    }

    fn requirement(
        &self,
        host: &Host,
        target: Option<&str>,
        without_policy: SignatureMode,
    ) -> Result<Requirement, CliError> {
        let mut requirement = match self.policy(host)? {
            Some(policy) => policy.requirement(target),
            None => Requirement {
                mode: without_policy,
                keys: Vec::new(),
            },
        };
        if self.require_signature {
            requirement.mode = SignatureMode::Require;
        }
        for file in &self.trust {
            let (directory, name) = place(host, file)?;
            requirement.keys.push(TrustedKey {
                name: file.display().to_string(),
                key: load_public_key(&directory, &name)?,
            });
        }
        Ok(requirement)
    }

    /// Anything that stands in the policy's place must be understood: one that is passed over protects nobody.
    fn policy(&self, host: &Host) -> Result<Option<TrustPolicy>, CliError> {
        let Some(file) = &self.policy else {
            return match Root::open(&state(host)?) {
                Ok(home) => Ok(TrustPolicy::load(&home, Path::new(POLICY_FILE))?),
                Err(_) => Ok(None),
            };
        };
        let (directory, name) = place(host, file)?;
        let policy = TrustPolicy::load(&directory, &name)?.ok_or_else(|| {
            let message = format!("There is no trust policy at `{}`.", file.display());
            CliError::new(FailureKind::User, message).hint("name an existing file")
        })?;
        Ok(Some(policy))
    }
}

fn decide(found: &FoundArtifact, requirement: &Requirement) -> Result<SignatureVerdict, CliError> {
    let subject = subject_of(&found.artifact);
    Ok(verify(&subject, &found.signatures, requirement)?)
}
