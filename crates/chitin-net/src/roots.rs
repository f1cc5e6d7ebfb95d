//! Whom TLS trusts: the usual authorities, and those that a user adds.
//!
//! A company's proxy that looks into TLS signs everything anew, with an authority that only the company knows. Its users name that
//! authority in a variable that other programs read too ([`OWN_AUTHORITIES`]).

use chitin_guard::plain_file;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The variable that names a PEM file of further authorities (Node.js, on which OpenClaw runs).
pub const OWN_AUTHORITIES: &str = "NODE_EXTRA_CA_CERTS";

/// The largest file of certificates that is read.
pub const MOST_CERTIFICATES: u64 = 4 * 1024 * 1024;

/// Whom TLS trusts. Cheap to clone. A file is read when TLS is first set up, and then once; it is not a secret.
#[derive(Debug, Clone, Default)]
pub struct TlsRoots(Option<Arc<Own>>);

/// Authorities of the user's own.
#[derive(Debug)]
struct Own {
    file: PathBuf,
    read: OnceLock<Vec<CertificateDer<'static>>>,
}

/// Why certificates in a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    /// There is none in it.
    #[error("has no certificate in it; one begins with `-----BEGIN CERTIFICATE-----`")]
    Empty,
    /// It is written in another form.
    #[error("is not PEM as it should be: {0}")]
    Form(#[from] pem::Error),
    /// None of those in it is a certificate of an authority.
    #[error("holds no certificate that can be used")]
    Unusable,
    /// The TLS library refuses.
    #[error("is not used, because TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

impl TlsRoots {
    /// Trusts the authorities in a PEM file besides the usual ones. The file is not looked at yet.
    pub fn with_file(file: impl Into<PathBuf>) -> Self {
        Self(Some(Arc::new(Own {
            file: file.into(),
            read: OnceLock::new(),
        })))
    }

    /// Returns the file with the user's own authorities, if one is named.
    pub fn file(&self) -> Option<&Path> {
        self.0.as_ref().map(|own| own.file.as_path())
    }

    /// Returns the one way in which the program speaks TLS: rustls with ring, and these authorities.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or holds no authority, in words that name it and the variable.
    pub fn tls(&self) -> Result<ClientConfig, String> {
        let own = self.0.as_ref().map(|own| own.certificates()).transpose()?;
        with_certificates(own).map_err(|error| match &self.0 {
            Some(own) => own.wrong(&error),
            None => error.to_string(),
        })
    }

    /// Returns what an address needs of [`Self::tls`]. Authorities are loaded only for addresses with TLS: most of what a local server
    /// costs at the start would be that.
    ///
    /// # Errors
    ///
    /// As [`Self::tls`].
    pub fn tls_for(&self, url: &str) -> Result<ClientConfig, String> {
        let is_plain = url
            .get(..7)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
        if is_plain {
            with_roots(RootCertStore::empty())
                .map_err(|error| format!("TLS cannot be set up: {error}"))
        } else {
            self.tls()
        }
    }
}

impl PartialEq for TlsRoots {
    fn eq(&self, other: &Self) -> bool {
        self.file() == other.file()
    }
}

impl Eq for TlsRoots {}

impl Own {
    fn certificates(&self) -> Result<&[CertificateDer<'static>], String> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let pem = plain_file::read_bytes(&self.file, MOST_CERTIFICATES)
            .map_err(|problem| format!("`{OWN_AUTHORITIES}` cannot be used: {problem}"))?;
        let read = certificates(&pem).map_err(|error| self.wrong(&error))?;
        Ok(self.read.get_or_init(|| read))
    }

    fn wrong(&self, error: &PemError) -> String {
        format!(
            "`{OWN_AUTHORITIES}` cannot be used: `{}` {error}",
            self.file.display()
        )
    }
}

/// Returns TLS that trusts the usual authorities and those in PEM files.
///
/// # Errors
///
/// When a file holds no authority.
pub fn trusting(files: &[Vec<u8>]) -> Result<ClientConfig, PemError> {
    let read: Vec<_> = files
        .iter()
        .map(|pem| certificates(pem))
        .collect::<Result<_, _>>()?;
    with_certificates(read.iter().map(Vec::as_slice))
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let read: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>()?;
    if read.is_empty() {
        return Err(PemError::Empty);
    }
    Ok(read)
}

fn with_certificates<'c>(
    files: impl IntoIterator<Item = &'c [CertificateDer<'static>]>,
) -> Result<ClientConfig, PemError> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for own in files {
        // Bundles hold old certificates too that nobody can use; the others count.
        let (added, _) = roots.add_parsable_certificates(own.iter().cloned());
        if added == 0 {
            return Err(PemError::Unusable);
        }
    }
    Ok(with_roots(roots)?)
}

fn with_roots(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
