//! What all our HTTP clients have in common.

use reqwest::{Client, ClientBuilder, redirect};
use rustls::ClientConfig;
use std::time::Duration;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept; servers close theirs after about a minute.
const KEEP: Duration = Duration::from_secs(50);

/// Returns the settings that all clients share: HTTP/1.1, no second try, no proxy of the environment, and no redirects: a key must not go
/// where somebody else sends it.
pub fn client_builder(tls: ClientConfig) -> ClientBuilder {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .http1_only()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(KEEP)
        .no_proxy()
}
