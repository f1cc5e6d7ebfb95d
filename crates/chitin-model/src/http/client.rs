//! The HTTP client of a model: the one that all have, and the proxy that is handed in.

use super::endpoint::ModelEndpoint;
use chitin_net::client_builder;
use reqwest::{Client, Proxy};
use secrecy::ExposeSecret;

/// Makes a client. Certificates are loaded only when the endpoint or its proxy needs them.
pub fn make(endpoint: &ModelEndpoint) -> Result<Client, String> {
    let tls = match &endpoint.proxy {
        Some(_) => endpoint.trust.tls()?,
        None => endpoint.trust.tls_for(&endpoint.base_url)?,
    };
    let mut builder = client_builder(tls).connect_timeout(endpoint.timeouts.connect);
    if let Some(proxy) = &endpoint.proxy {
        let proxy = Proxy::all(proxy.expose_secret()).map_err(|_| {
            "the proxy is not an address such as `http://127.0.0.1:3128`".to_owned()
        })?;
        builder = builder.proxy(proxy);
    }
    builder
        .build()
        .map_err(|error| format!("the HTTP client cannot be made: {error}"))
}
