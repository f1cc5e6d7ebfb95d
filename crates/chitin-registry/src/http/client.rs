//! The HTTP client: HTTP/1.1, one TLS stack, no redirects of its own, no proxy but the one that is handed in.

use crate::options::RegistryOptions;
use chitin_pack::{ErrorClass, PackError};
use reqwest::{Client, NoProxy, Proxy, redirect};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use secrecy::ExposeSecret;
use std::sync::Arc;

/// What is spoken to in plain HTTP stays on this machine and never goes through a proxy.
const THIS_MACHINE: &str = "localhost,127.0.0.0/8,::1";

pub(super) fn make(options: &RegistryOptions) -> Result<Client, PackError> {
    let wrong = |what: &str| PackError::new(ErrorClass::Usage, what.to_owned());
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for pem in &options.extra_roots {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let read = read.map_err(|error| not_a_certificate().caused_by(error.to_string()))?;
        // Bundles hold old certificates too that nobody can use; the others count.
        let (added, _) = roots.add_parsable_certificates(read);
        if added == 0 {
            return Err(not_a_certificate());
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("TLS cannot be set up").caused_by(error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .http1_only()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(options.timeouts.connect)
        .user_agent(&options.user_agent)
        .no_proxy();
    if let Some(proxy) = &options.proxy {
        // The cause may show the address, and with it a password.
        let proxy = Proxy::all(proxy.expose_secret())
            .map_err(|_| wrong("the proxy is not an address such as `http://127.0.0.1:3128`"))?
            .no_proxy(NoProxy::from_string(THIS_MACHINE));
        builder = builder.proxy(proxy);
    }
    builder
        .build()
        .map_err(|error| wrong("the HTTP client cannot be made").caused_by(error.without_url()))
}

fn not_a_certificate() -> PackError {
    PackError::new(
        ErrorClass::Usage,
        "the certificate authority is not a PEM certificate",
    )
    .hint("use a file that starts with `-----BEGIN CERTIFICATE-----`")
}
