//! Whom TLS trusts: the usual authorities, and those that a user adds.
//!
//! A company's proxy that looks into TLS signs everything anew, with an authority that only the company knows. Its users name that
//! authority in a variable that other programs read too ([`OWN_AUTHORITIES`]).

use crate::compat;
use crate::fs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The variable that names a PEM file of further authorities.
pub const OWN_AUTHORITIES: &str = compat::OWN_AUTHORITIES;

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
        let mut roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        if let Some(own) = &self.0 {
            // Bundles hold old certificates too that nobody can use; the others count.
            let (added, _) = roots.add_parsable_certificates(own.certificates()?.iter().cloned());
            if added == 0 {
                return Err(own.wrong("holds no certificate that can be used"));
            }
        }
        with_roots(roots)
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
        let pem = fs::read_bytes(&self.file, MOST_CERTIFICATES)
            .map_err(|problem| format!("`{OWN_AUTHORITIES}` cannot be used: {problem}"))?;
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        match read {
            Ok(read) if !read.is_empty() => Ok(self.read.get_or_init(|| read)),
            Ok(_) => Err(self
                .wrong("has no certificate in it; one begins with `-----BEGIN CERTIFICATE-----`")),
            Err(error) => Err(self.wrong(&format!("is not PEM as it should be: {error}"))),
        }
    }

    fn wrong(&self, what: &str) -> String {
        format!(
            "`{OWN_AUTHORITIES}` cannot be used: `{}` {what}",
            self.file.display()
        )
    }
}

/// Sets TLS up with nobody to trust, for addresses that need none.
pub(super) fn nobody() -> Result<ClientConfig, String> {
    with_roots(RootCertStore::empty())
}

fn with_roots(roots: RootCertStore) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Says what is wrong with a certificate, and what to do about it, if that is why a connection failed.
pub fn certificate_problem(error: &(dyn Error + 'static)) -> Option<String> {
    let rustls::Error::InvalidCertificate(why) = tls_error(error)? else {
        return None;
    };
    Some(match why {
        // A renewed authority may have the name of the one that is known, and another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate is signed by an authority that is not trusted; if it is your company's, name its PEM file in \
             `{OWN_AUTHORITIES}`"
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is that of another host".to_owned()
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "the certificate is too old or too new; look at the clock of this machine".to_owned()
        }
        other => format!("the certificate is not good: {other}"),
    })
}

/// Finds what TLS said; it comes wrapped in errors of the operating system's kind, which do not call it their source.
fn tls_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut next = Some(error);
    while let Some(found) = next {
        if let Some(tls) = found.downcast_ref() {
            return Some(tls);
        }
        let wrapped = found
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        next = match wrapped {
            Some(inner) => Some(inner),
            None => found.source(),
        };
    }
    None
}
