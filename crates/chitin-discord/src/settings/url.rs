//! Addresses of a proxy. Without TLS they may be on this machine only: a token goes there.

use std::net::IpAddr;

/// An address: a scheme and an authority, nothing behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    /// The host, with its port if one is given.
    pub(crate) authority: String,
}

impl Url {
    /// Reads an address. `secure` is the scheme with TLS, `plain` the one without.
    pub(crate) fn read(text: &str, secure: &str, plain: &str) -> Result<Self, String> {
        let shape = format!("It must be an address such as `{secure}://proxy.example`.");
        let parsed = reqwest::Url::parse(text.trim()).map_err(|_| shape.clone())?;
        let host = parsed.host_str().unwrap_or_default();
        let bare = parsed.username().is_empty()
            && parsed.password().is_none()
            && parsed.query().is_none()
            && parsed.fragment().is_none()
            && matches!(parsed.path(), "" | "/");
        if host.is_empty() || !bare {
            return Err(shape);
        }
        let scheme = parsed.scheme();
        if scheme == plain && !is_loopback(host) {
            return Err(format!(
                "Without TLS (`{plain}://`) only an address on this machine can be used, because the token goes there."
            ));
        }
        if scheme != plain && scheme != secure {
            return Err(shape);
        }
        let port = parsed
            .port()
            .map_or_else(String::new, |port| format!(":{port}"));
        Ok(Self {
            scheme: scheme.to_owned(),
            authority: format!("{host}{port}"),
        })
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

/// Tells whether a host is this machine.
fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
