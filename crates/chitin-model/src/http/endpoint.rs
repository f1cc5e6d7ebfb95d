//! Where a model is, and what it takes to reach it.

use crate::error::ModelError;
use crate::wire::{self, Wire};
use chitin_net::TlsRoots;
use chitin_protocol::settings::KeyHeaderSetting;
use reqwest::Url;
use secrecy::SecretString;
use std::time::Duration;

/// Where a model is, and what it takes to reach it.
#[derive(Debug, Clone)]
pub struct ModelEndpoint {
    /// The address that the wire format's path is put behind.
    pub base_url: String,
    /// The key.
    pub key: Option<SecretString>,
    /// How the key is sent.
    pub key_header: KeyHeaderSetting,
    /// Further headers, which are kept like keys.
    pub headers: Vec<(String, SecretString)>,
    /// A proxy to go through. The environment is not asked.
    pub proxy: Option<SecretString>,
    /// How long to wait for what.
    pub timeouts: ModelTimeouts,
    /// Whom TLS trusts.
    pub trust: TlsRoots,
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelTimeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the first byte of an answer; a model that is loaded from disk first needs minutes.
    pub first_byte: Duration,
    /// For the next byte of an answer.
    pub idle: Duration,
}

impl Default for ModelTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            idle: Duration::from_mins(2),
        }
    }
}

impl ModelEndpoint {
    /// Starts from an address; nothing else is set.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            key: None,
            key_header: KeyHeaderSetting::Native,
            headers: Vec::new(),
            proxy: None,
            timeouts: ModelTimeouts::default(),
            trust: TlsRoots::default(),
        }
    }

    /// Sets the key.
    #[must_use]
    pub fn with_key(mut self, key: SecretString) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets how long to wait for what.
    #[must_use]
    pub const fn with_timeouts(mut self, timeouts: ModelTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets whom TLS trusts.
    #[must_use]
    pub fn with_trust(mut self, trust: TlsRoots) -> Self {
        self.trust = trust;
        self
    }

    /// Refuses addresses that cannot be used, or that would show a secret wherever they are shown.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        let url = Url::parse(&self.base_url).map_err(|error| {
            ModelError::Unbuildable(format!("`{}` is not an address: {error}", self.base_url))
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ModelError::Unbuildable(format!(
                "the address of `{}` carries a name or a password, which would be logged; use `headers` or a key",
                self.origin()
            )));
        }
        if matches!(url.scheme(), "http" | "https") && url.has_host() {
            return Ok(());
        }
        Err(ModelError::Unbuildable(format!(
            "`{}` is not an address that begins with `http://` or `https://`",
            self.base_url
        )))
    }

    /// Returns scheme, host and port: what may be shown of the address.
    pub(crate) fn origin(&self) -> String {
        Url::parse(&self.base_url).map_or_else(
            |_| "the provider".to_owned(),
            |url| url.origin().ascii_serialization(),
        )
    }

    /// Puts the wire format's path behind the base, and what the base asks for behind both.
    pub(super) fn url(&self, wire: &dyn Wire) -> String {
        match self.base_url.split_once('?') {
            Some((base, query)) => format!("{}?{query}", wire::url(wire, base)),
            None => wire::url(wire, &self.base_url),
        }
    }
}

/// Takes out of an address where keys may stand: before the host, and in the query. The rest stays as it was written, which a parser of
/// addresses would not leave it.
pub fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_cannot_be_used_are_refused_without_showing_a_password() {
        let complaint = |base: &str| {
            ModelEndpoint::new(base)
                .check()
                .expect_err("refused")
                .to_string()
        };
        assert!(complaint("127.0.0.1:80").contains("not an address"));
        assert!(complaint("ftp://x.example").contains("http"));
        let text = complaint("https://me:hunter2@x.example/v1");
        assert!(
            text.contains("x.example") && !text.contains("hunter2"),
            "{text}"
        );
        assert!(ModelEndpoint::new("HTTP://x.example").check().is_ok());
    }

    #[test]
    fn a_shown_address_has_no_place_for_a_key() {
        for (url, shown) in [
            (
                "https://me:key@x.example/v1?key=1#2",
                "https://x.example/v1",
            ),
            ("https://x.example/a@b", "https://x.example/a@b"),
            ("https://x.example", "https://x.example"),
            ("no address?key=1", "no address"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
