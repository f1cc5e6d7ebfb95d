//! Certificates for a server on this machine.

use super::write;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, SanType,
};
use std::path::{Path, PathBuf};

/// An authority and a server's certificate that it signed.
#[derive(Debug)]
pub struct Certificates {
    /// The authority's certificate.
    pub authority: PathBuf,
    /// The server's certificate, for `127.0.0.1` and `localhost` unless something else is said.
    pub server: PathBuf,
    /// The server's key.
    pub server_key: PathBuf,
}

impl Certificates {
    /// Makes both in a directory.
    pub fn make(directory: &Path) -> Self {
        Self::make_for(directory, "IP:127.0.0.1,DNS:localhost")
    }

    /// Makes both in a directory; the server's certificate is for these names, each with `IP:` or `DNS:` before it.
    pub fn make_for(directory: &Path, names: &str) -> Self {
        Self::try_make(directory, names)
            .unwrap_or_else(|error| unreachable!("no certificate for `{names}`: {error}"))
    }

    fn try_make(directory: &Path, names: &str) -> Result<Self, rcgen::Error> {
        let authority_key = KeyPair::generate()?;
        let mut authority = named("authority for tests");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_pem = authority.self_signed(&authority_key)?.pem();

        let server_key = KeyPair::generate()?;
        let mut server = named("localhost");
        server.is_ca = IsCa::ExplicitNoCa;
        server.subject_alt_names = names.split(',').map(san).collect::<Result<_, _>>()?;
        let issuer = Issuer::new(authority, authority_key);
        let server_pem = server.signed_by(&server_key, &issuer)?.pem();

        let made = Self {
            authority: directory.join("authority.pem"),
            server: directory.join("server.pem"),
            server_key: directory.join("server.key"),
        };
        write(&made.authority, authority_pem.as_bytes());
        write(&made.server, server_pem.as_bytes());
        write(&made.server_key, server_key.serialize_pem().as_bytes());
        Ok(made)
    }
}

/// Returns what a certificate with this common name begins with.
pub(super) fn named(name: &str) -> CertificateParams {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = subject;
    parameters
}

fn san(name: &str) -> Result<SanType, rcgen::Error> {
    match name.split_once(':') {
        Some(("DNS", host)) => Ok(SanType::DnsName(host.try_into()?)),
        Some(("IP", address)) => {
            let address = address.parse();
            Ok(SanType::IpAddress(address.unwrap_or_else(|_| {
                unreachable!("`{name}` is not an address")
            })))
        }
        _ => unreachable!("`{name}` begins with neither `IP:` nor `DNS:`"),
    }
}
