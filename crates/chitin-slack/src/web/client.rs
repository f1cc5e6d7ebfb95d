//! The HTTP client and the TLS that sockets share with it: one stack, no redirects, no proxy of the environment.

use chitin_net::{TlsRoots, certificate_problem, client_builder};
use rustls::ClientConfig;
use std::sync::Arc;

/// What calls and sockets are made with.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) tls: Arc<ClientConfig>,
}

/// Makes a client. It follows no redirects: a token must not go where somebody else sends it.
pub(crate) fn make(trust: &TlsRoots) -> Result<Client, String> {
    let tls = trust.tls()?;
    let http = client_builder(tls.clone())
        .user_agent(concat!("chitin/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("the HTTP client cannot be made: {error}"))?;
    Ok(Client {
        http,
        tls: Arc::new(tls),
    })
}

/// Says what went wrong, without the address: it may hold a ticket.
pub(super) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    if let Some(problem) = certificate_problem(&error) {
        return problem;
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text.chars().take(300).collect()
}
