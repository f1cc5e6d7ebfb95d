//! Registries: how they are reached, and how a transfer is stopped.

use super::state;
use crate::error::{CliError, FailureKind};
use chitin_guard::{Hardlinks, LinkPolicy, ReadPolicy, Root};
use chitin_net::{MOST_CERTIFICATES, OWN_AUTHORITIES};
use chitin_pack::PackError;
use chitin_registry::{Keychain, PlainHttp, RegistryClient, RegistryOptions};
use chitin_runtime::Host;
use std::path::{Path, PathBuf};

/// How registries are reached.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Registry")]
pub(crate) struct NetworkArgs {
    /// Use plain HTTP; allowed only for a registry on this machine.
    #[arg(long)]
    plain_http: bool,

    /// Also trust the certificate authorities in this PEM file; repeatable.
    #[arg(long, value_name = "FILE")]
    ca_file: Vec<PathBuf>,
}

impl NetworkArgs {
    /// Returns a way to registries, with the user's credentials at hand.
    pub(crate) fn registry(&self, host: &Host) -> Result<RegistryClient, CliError> {
        let mut options = RegistryOptions::default();
        if self.plain_http {
            options.plain_http = PlainHttp::Loopback;
        }
        for file in &self.ca_file {
            let pem = read_file(host, file, MOST_CERTIFICATES)?;
            options.extra_roots.push(pem);
        }
        if let Some(file) = host.trust().file() {
            let named = |error: CliError| error.hint(format!("`{OWN_AUTHORITIES}` names it"));
            let pem = read_file(host, file, MOST_CERTIFICATES).map_err(named)?;
            options.extra_roots.push(pem);
        }
        Ok(RegistryClient::new(
            options,
            Keychain::of_user(&state(host)?, &host.env),
        )?)
    }
}

/// Splits the path of a file that the user names into the directory, opened, and the name in it.
pub(crate) fn place(host: &Host, file: &Path) -> Result<(Root, PathBuf), CliError> {
    let path = host.env.resolve(file);
    let shown = || format!("`{}` cannot be used.", file.display());
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(CliError::new(FailureKind::User, shown()).hint("name a file"));
    };
    let root = Root::open(parent)
        .map_err(|error| CliError::new(FailureKind::User, shown()).caused_by(error))?;
    Ok((root, PathBuf::from(name)))
}

/// Reads a file that the user names, wherever it lies.
pub(crate) fn read_file(host: &Host, file: &Path, limit: u64) -> Result<Vec<u8>, CliError> {
    let (root, name) = place(host, file)?;
    let policy = ReadPolicy {
        links: LinkPolicy::Anywhere,
        hardlinks: Hardlinks::Allow,
        ..ReadPolicy::inside(limit)
    };
    let read = root.read(&name, &policy).map_err(|error| {
        CliError::new(
            FailureKind::User,
            format!("`{}` cannot be read.", file.display()),
        )
        .caused_by(error)
    })?;
    Ok(read.bytes)
}

/// Does something that waits for the network, until it is done or the user presses Ctrl-C. What was moved by then is kept
/// for the next try.
pub(crate) fn until_interrupted<T>(
    work: impl Future<Output = Result<T, PackError>>,
) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| {
            CliError::new(
                FailureKind::Internal,
                "Could not set up the network client.",
            )
            .caused_by(error)
        })?;
    runtime.block_on(async {
        tokio::select! {
            done = work => Ok(done?),
            _ = tokio::signal::ctrl_c() => Err(CliError::new(FailureKind::Interrupted, "Stopped.")
                .hint("transferred data is kept; run the same command to resume")),
        }
    })
}
