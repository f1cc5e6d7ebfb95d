//! TLS with an authority that nobody knows: what a company's proxy looks like from behind it.
//!
//! An [`Authority`] is made for one test and gone when it is dropped. A [`Front`] speaks TLS on loopback and passes what it hears
//! to a server that speaks none.

use crate::registry::Certificates;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// An authority that nobody knows, with a server's certificate that it signed.
#[derive(Debug)]
pub struct Authority {
    directory: TempDir,
    certificates: Certificates,
}

/// Where a fake can be reached, with TLS or without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    secure: bool,
}

/// A server that speaks TLS and passes on what it hears. It ends when it is dropped.
pub struct Front {
    address: SocketAddr,
    speaking: Arc<Mutex<TlsAcceptor>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Authority {
    /// Makes one; its servers are those on this machine.
    pub fn new() -> Self {
        Self::for_names("IP:127.0.0.1,DNS:localhost")
    }

    /// Makes one whose servers have other names, such as `DNS:elsewhere.example`.
    pub fn for_names(names: &str) -> Self {
        let directory = TempDir::with_prefix("chitin-authority-")
            .unwrap_or_else(|error| unreachable!("no temporary directory: {error}"));
        let certificates = Certificates::make_for(directory.path(), names);
        Self {
            directory,
            certificates,
        }
    }

    /// Returns the PEM file with the authority's certificate.
    pub fn file(&self) -> &Path {
        &self.certificates.authority
    }

    /// Returns a place for further files, gone with the authority.
    pub fn directory(&self) -> PathBuf {
        self.directory.path().to_path_buf()
    }

    /// Speaks TLS in front of a server.
    pub fn front(&self, behind: SocketAddr) -> Front {
        let bad = |error: &dyn std::fmt::Display| -> ! { unreachable!("no port: {error}") };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| bad(&error));
        let address = listener.local_addr().unwrap_or_else(|error| bad(&error));
        let (stop, stopped) = oneshot::channel();
        let speaking = Arc::new(Mutex::new(self.acceptor()));
        let current = Arc::clone(&speaking);
        let thread = std::thread::spawn(move || serve(listener, &current, behind, stopped));
        Front {
            address,
            speaking,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn acceptor(&self) -> TlsAcceptor {
        let bad = |error: &dyn std::fmt::Display| -> ! { unreachable!("no TLS: {error}") };
        let chain = CertificateDer::pem_file_iter(&self.certificates.server)
            .and_then(Iterator::collect)
            .unwrap_or_else(|error| bad(&error));
        let key = PrivateKeyDer::from_pem_file(&self.certificates.server_key)
            .unwrap_or_else(|error| bad(&error));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap_or_else(|error| bad(&error))
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap_or_else(|error| bad(&error));
        TlsAcceptor::from(Arc::new(config))
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Front {
    /// Returns where it is.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Shows the certificate of another authority to whoever connects from now on.
    pub fn show(&self, authority: &Authority) {
        let mut speaking = self.speaking.lock().unwrap_or_else(PoisonError::into_inner);
        *speaking = authority.acceptor();
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Place {
    pub(crate) const fn new(behind: SocketAddr, front: Option<&Front>) -> Self {
        match front {
            Some(front) => Self {
                address: front.address,
                secure: true,
            },
            None => Self {
                address: behind,
                secure: false,
            },
        }
    }

    /// Returns where requests go.
    pub(crate) fn http(self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns where WebSockets are.
    pub(crate) fn ws(self) -> String {
        let scheme = if self.secure { "wss" } else { "ws" };
        format!("{scheme}://{}", self.address)
    }
}

fn serve(
    listener: TcpListener,
    speaking: &Mutex<TlsAcceptor>,
    behind: SocketAddr,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap_or_else(|error| unreachable!("no runtime: {error}"));
    runtime.block_on(async {
        let accepting = async {
            listener.set_nonblocking(true).ok()?;
            let listener = tokio::net::TcpListener::from_std(listener).ok()?;
            loop {
                let (stream, _) = listener.accept().await.ok()?;
                stream.set_nodelay(true).ok()?;
                let acceptor = speaking
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                tokio::spawn(async move {
                    let mut near = acceptor.accept(stream).await.ok()?;
                    let mut far = tokio::net::TcpStream::connect(behind).await.ok()?;
                    far.set_nodelay(true).ok()?;
                    copy_bidirectional(&mut near, &mut far).await.ok()
                });
            }
        };
        tokio::select! {
            end = accepting => {
                let _: Option<()> = end;
            }
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}
