//! The HTTP client of registries: the one that all have, authorities of the user's own, and the proxy that is handed in.

use crate::options::RegistryOptions;
use chitin_net::{PemError, client_builder, trusting};
use chitin_pack::{ErrorClass, PackError};
use reqwest::{Client, NoProxy, Proxy};
use secrecy::ExposeSecret;

/// What is spoken to in plain HTTP stays on this machine and never goes through a proxy.
const THIS_MACHINE: &str = "localhost,127.0.0.0/8,::1";

pub(super) fn make(options: &RegistryOptions) -> Result<Client, PackError> {
    let wrong = |what: &str| PackError::new(ErrorClass::Usage, what.to_owned());
    let tls = trusting(&options.extra_roots).map_err(|error| match error {
        PemError::Tls(_) => wrong("TLS cannot be set up").caused_by(error),
        PemError::Empty | PemError::Form(_) | PemError::Unusable => {
            not_a_certificate().caused_by(error)
        }
    })?;
    let mut builder = client_builder(tls)
        .connect_timeout(options.timeouts.connect)
        .user_agent(&options.user_agent);
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
