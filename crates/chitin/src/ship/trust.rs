//! Whose signature is wanted: the policy file, and what the command line adds to it.

use super::{place, state};
use crate::error::{CliError, FailureKind};
use chitin_guard::Root;
use chitin_pack::signatures::{
    OlderArtifacts, Requirement, SignatureMode, SignatureVerdict, TrustPolicy, TrustedKey,
    load_public_key, pin, subject_of, verify,
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

    /// Accept an artifact that is older than the one accepted under this name before, from now on.
    #[arg(long)]
    allow_older: bool,

    /// Trust the public key in this file, besides those of the policy, and require a signature unless the policy says otherwise;
    /// repeatable.
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
        self.decide(host, found, &requirement)
    }

    /// The same where a signature is what the user asks about: without any rule, one is required.
    pub(crate) fn judge_strictly(
        &self,
        host: &Host,
        found: &FoundArtifact,
    ) -> Result<SignatureVerdict, CliError> {
        let requirement =
            self.requirement(host, found.target.as_deref(), SignatureMode::Require)?;
        self.decide(host, found, &requirement)
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
                ..Requirement::default()
            },
        };
        if self.require_signature {
            requirement.mode = SignatureMode::Require;
        }
        // Whoever names a key wants it to be looked at. A policy that only warns goes on warning.
        if requirement.mode == SignatureMode::None && !self.trust.is_empty() {
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

impl TrustArgs {
    /// Judges the signatures, and compares them with what was accepted under the same name before.
    fn decide(
        &self,
        host: &Host,
        found: &FoundArtifact,
        requirement: &Requirement,
    ) -> Result<SignatureVerdict, CliError> {
        let subject = subject_of(&found.artifact);
        let used = found.used_name();
        let mut verdict = verify(&subject, used.as_ref(), &found.signatures, requirement)?;
        if let Some(used) = used.filter(|_| verdict.verified) {
            let home = state(host)?;
            let home = Root::create_private(&home).map_err(|error| {
                let message =
                    "Could not open Chitin's home to compare the artifact with earlier ones.";
                CliError::new(FailureKind::Internal, message).caused_by(error)
            })?;
            let older = if self.allow_older {
                OlderArtifacts::Accept
            } else {
                OlderArtifacts::Refuse
            };
            pin(&home, &used, &mut verdict, older)?;
        }
        Ok(verdict)
    }
}
