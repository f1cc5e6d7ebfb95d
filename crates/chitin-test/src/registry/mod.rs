//! Real registries on this machine, and what stands in their way: Debian's `docker-registry` on a free loopback port with
//! its own storage, a token server, a proxy that cuts connections, and a server that answers as a test says.
//!
//! Needed are the Debian packages `docker-registry` and, for what others make of our artifacts, `skopeo`.

mod certificate;
mod proxy;
mod scripted;
mod token;

pub use certificate::Certificates;
pub use proxy::CuttingProxy;
pub use scripted::{Reply, Request, ScriptedServer};

use crate::needs;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = "docker-registry";
/// How long a registry may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The only user.
pub const USER: &str = "pilot";
/// The user's password.
pub const PASSWORD: &str = "harbour:secret";
/// The line of a password file for both. The registry takes bcrypt only.
const PASSWORD_LINE: &str = "pilot:$2y$04$abcdefghijklmnopqrstuu3tIkvUhgTNrqt5DyShOG4rdb/oxYz7K\n";

/// How a registry is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    /// Plain HTTP, open to all.
    Plain,
    /// TLS with a certificate of its own authority.
    Tls,
    /// Plain HTTP, name and password.
    Basic,
    /// TLS, name and password.
    TlsBasic,
    /// Plain HTTP, tokens from a token server that wants name and password.
    Token,
}

/// A registry that runs until it is dropped.
#[derive(Debug)]
pub struct RegistryServer {
    child: Child,
    directory: TempDir,
    port: u16,
    certificates: Option<Certificates>,
    _tokens: Option<ScriptedServer>,
}

/// The lines that switch TLS on.
fn tls(made: &Certificates) -> String {
    let (server, key) = (made.server.display(), made.server_key.display());
    format!("  tls: {{certificate: {server}, key: {key}}}\n")
}

/// The lines that ask for a password, which is kept in a file.
fn password(file: &Path) -> String {
    write(file, PASSWORD_LINE.as_bytes());
    format!(
        "auth: {{htpasswd: {{realm: test, path: {}}}}}\n",
        file.display()
    )
}

impl RegistryServer {
    /// Starts a registry; `None` where none is installed, which is reported as a skipped test.
    pub fn start(setup: Setup) -> Option<Self> {
        if !needs::programs(&[PROGRAM]) {
            return None;
        }
        for _ in 0..5 {
            if let Some(server) = Self::try_start(setup) {
                return Some(server);
            }
        }
        unreachable!("docker-registry does not start")
    }

    fn try_start(setup: Setup) -> Option<Self> {
        let directory = TempDir::with_prefix("chitin-registry-").ok()?;
        let at = |name: &str| directory.path().join(name);
        let port = free_port();
        let (mut certificates, mut tokens) = (None, None);
        let extra = match setup {
            Setup::Plain => String::new(),
            Setup::Tls => tls(certificates.insert(Certificates::make(directory.path()))),
            Setup::Basic => password(&at("htpasswd")),
            Setup::TlsBasic => {
                let made = certificates.insert(Certificates::make(directory.path()));
                tls(made) + &password(&at("htpasswd"))
            }
            Setup::Token => {
                let (server, bundle) = token::start(directory.path());
                let port = tokens.insert(server).port();
                format!(
                    "auth: {{token: {{realm: 'http://127.0.0.1:{port}/token', service: {}, issuer: {}, rootcertbundle: {}}}}}\n",
                    token::SERVICE,
                    token::ISSUER,
                    bundle.display()
                )
            }
        };
        let config = format!(
            "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n\
             storage: {{filesystem: {{rootdirectory: {}}}, delete: {{enabled: true}}}}\n\
             http:\n  addr: 127.0.0.1:{port}\n  secret: for tests\n{extra}",
            at("data").display()
        );
        write(&at("config.yml"), config.as_bytes());
        let child = Command::new(PROGRAM)
            .arg("serve")
            .arg(at("config.yml"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut server = Self {
            child,
            directory,
            port,
            certificates,
            _tokens: tokens,
        };
        server.is_ready().then_some(server)
    }

    /// Waits until it listens. Somebody else may have taken the port meanwhile; then it ends.
    fn is_ready(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return false;
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                // Whoever answers must be the child, which ends when the port is taken.
                thread::sleep(Duration::from_millis(30));
                return matches!(self.child.try_wait(), Ok(None));
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Returns the port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the host as references write it.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the certificate of the authority that signed the registry's, as PEM.
    pub fn authority(&self) -> Vec<u8> {
        let path = self.certificates.as_ref().map(|made| &made.authority);
        path.map_or_else(Vec::new, |path| read(path))
    }

    /// Returns the file that holds a blob in the registry's storage.
    pub fn blob_file(&self, hex: &str) -> PathBuf {
        self.directory
            .path()
            .join("data/docker/registry/v2/blobs/sha256")
            .join(&hex[..2])
            .join(hex)
            .join("data")
    }

    /// Overwrites a blob in the registry's storage.
    pub fn overwrite_blob(&self, hex: &str, content: &[u8]) {
        write(&self.blob_file(hex), content);
    }
}

impl Drop for RegistryServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_or_else(
            |error| unreachable!("no free port: {error}"),
            |address| address.port(),
        )
}

fn write(path: &Path, content: &[u8]) {
    fs::write(path, content)
        .unwrap_or_else(|error| unreachable!("cannot write {}: {error}", path.display()));
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| unreachable!("cannot read {}: {error}", path.display()))
}
