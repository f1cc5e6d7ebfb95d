//! The HTTP client: HTTP/1.1, one TLS stack, no redirects, no proxy but the one that is handed in.

use super::endpoint::ModelEndpoint;
use super::tls_roots;
use reqwest::{Client, Proxy, redirect};
use secrecy::ExposeSecret;
use std::time::Duration;

/// How long an unused connection is kept; servers close theirs after about a minute.
const KEEP: Duration = Duration::from_secs(50);

/// Makes a client. Certificates are loaded only when the endpoint needs them: most of what a local server costs at the
/// start would be that.
pub fn make(endpoint: &ModelEndpoint) -> Result<Client, String> {
    let tls = if endpoint.needs_certificates() {
        endpoint.trust.tls()?
    } else {
        tls_roots::nobody()?
    };
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .http1_only()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .pool_idle_timeout(KEEP)
        .connect_timeout(endpoint.timeouts.connect)
        .no_proxy();
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
