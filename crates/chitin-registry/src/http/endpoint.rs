//! Where a registry is.

use crate::options::PlainHttp;
use chitin_pack::{ErrorClass, PackError};
use reqwest::Url;
use std::net::IpAddr;

/// The name people use for it, and the host that answers.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// A registry that may be spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// The host as references write it; credentials are kept under it.
    pub(crate) host: String,
    base: Url,
}

impl Endpoint {
    /// Decides how a host is spoken to, and whether at all.
    pub(crate) fn new(host: &str, plain: PlainHttp) -> Result<Self, PackError> {
        let scheme = match plain {
            PlainHttp::Never => "https",
            PlainHttp::Loopback => "http",
        };
        let address = if host == DOCKER_HUB.0 {
            DOCKER_HUB.1
        } else {
            host
        };
        let base = Url::parse(&format!("{scheme}://{address}/v2/")).map_err(|error| {
            let message = format!("`{}` is not a host", host.escape_debug());
            PackError::new(ErrorClass::InvalidReference, message).caused_by(error)
        })?;
        if plain == PlainHttp::Loopback && !is_loopback(&base) {
            let message = format!("plain HTTP is not spoken to `{host}`, which is another machine");
            return Err(PackError::new(ErrorClass::Registry, message)
                .hint("leave the plain HTTP switch out; it is for registries on this machine"));
        }
        Ok(Self {
            host: host.to_owned(),
            base,
        })
    }

    /// Returns the address of something in a repository.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("/v2/{path}"));
        url
    }

    /// Tells whether an address is this registry's own: only there credentials go.
    pub(crate) fn owns(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    /// Tells whether an address that the registry named may be asked at all: HTTPS, or the plain HTTP of this machine when
    /// the registry itself is spoken to that way.
    pub(crate) fn may_lead_to(&self, url: &Url) -> bool {
        let is_plain = !url.username().is_empty() || url.password().is_some();
        if is_plain || !url.has_host() {
            return false;
        }
        match url.scheme() {
            "https" => true,
            "http" => self.base.scheme() == "http" && is_loopback(url),
            _ => false,
        }
    }

    /// Reads an address that the registry named, which may be relative.
    pub(crate) fn follow(&self, from: &Url, location: &str) -> Option<Url> {
        from.join(location).ok().filter(|url| self.may_lead_to(url))
    }
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        for near in ["127.0.0.1:5000", "127.9.9.9", "localhost:80", "[::1]:5000"] {
            let endpoint = Endpoint::new(near, PlainHttp::Loopback).unwrap();
            assert_eq!(endpoint.url("a/tags/list").scheme(), "http");
        }
        for far in [
            "registry.example",
            "10.0.0.1:5000",
            "localhost.example",
            "128.0.0.1",
            "[::2]:5000",
            "127.0.0.1.example",
        ] {
            let error = Endpoint::new(far, PlainHttp::Loopback).unwrap_err();
            assert_eq!(error.exit().code(), 3, "{far}");
            assert!(error.advice().is_some());
            assert!(Endpoint::new(far, PlainHttp::Never).is_ok(), "{far}");
        }
    }

    #[test]
    fn a_registry_may_not_send_us_to_plain_http() {
        let far = Endpoint::new("registry.example", PlainHttp::Never).unwrap();
        let from = far.url("a/blobs/x");
        assert!(far.follow(&from, "https://cdn.example/x").is_some());
        assert!(far.follow(&from, "/v2/b").is_some());
        for wrong in [
            "http://cdn.example/x",
            "http://127.0.0.1/x",
            "https://me:pass@cdn.example/x",
            "file:///etc/passwd",
        ] {
            assert!(far.follow(&from, wrong).is_none(), "{wrong}");
        }
        let near = Endpoint::new("localhost:5000", PlainHttp::Loopback).unwrap();
        let from = near.url("a/blobs/x");
        assert!(near.follow(&from, "http://127.0.0.1:6000/x").is_some());
        assert!(near.follow(&from, "http://cdn.example/x").is_none());
        assert!(!near.owns(&near.follow(&from, "http://127.0.0.1:6000/x").unwrap()));
    }
}
