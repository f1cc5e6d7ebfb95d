//! Who may come in: the right token, a name that is ours, and no page of somebody else.

use crate::error::ApiError;
use crate::settings::ServerSettings;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::header::{
    AUTHORIZATION, COOKIE, HOST, HeaderName, HeaderValue, ORIGIN, SEC_WEBSOCKET_PROTOCOL,
};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, StatusCode, Uri};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// The protocol that a WebSocket speaks.
pub(crate) const PROTOCOL: &str = "chitin";
/// What a protocol begins with that carries the token, in base 64 for URLs: a page cannot set headers of a WebSocket.
const BEARER_PROTOCOL: &str = "chitin.bearer.";

/// Where a browser says how near the page is that sends something.
const FETCH_SITE: &str = "sec-fetch-site";

/// Whether a request must say which page sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// It must: it changes something, or its answer is no answer that browsers keep from other pages.
    Origin,
    /// It need not.
    NoOrigin,
}

/// Knows who may come in.
pub(crate) struct Auth {
    /// The digest of the token: what is compared has one length, whatever was sent.
    token: [u8; 32],
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Auth {
    pub(crate) fn new(settings: &ServerSettings) -> Self {
        Self {
            token: Sha256::digest(settings.token.expose_secret()).into(),
            hosts: settings.hosts.clone(),
            origins: settings.origins.clone(),
        }
    }

    /// Refuses a name that is not ours. A page whose name was made to point here has another one.
    pub(crate) fn check_host(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        local: IpAddr,
    ) -> Result<(), ApiError> {
        let Some(host) = only(headers, &HOST) else {
            return Err(ApiError::bad("The request needs one `Host` header."));
        };
        let asked = uri.authority().map(Authority::as_str);
        for name in std::iter::once(host).chain(asked) {
            let ours = authority(name).is_some_and(|name| self.is_ours(name.host(), local));
            if !ours {
                return Err(ApiError::new(
                    StatusCode::FORBIDDEN,
                    "bad_host",
                    "The `Host` header is not allowed.",
                )
                .hint("Allow the name in the server's settings, or use a loopback address."));
            }
        }
        Ok(())
    }

    fn is_ours(&self, name: &str, local: IpAddr) -> bool {
        is_loopback(name)
            || address(name) == Some(local)
            || self
                .hosts
                .iter()
                .any(|host| host.eq_ignore_ascii_case(name))
    }

    /// Refuses pages of others. Programs send no `Origin`.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let allowed = only(headers, &ORIGIN).is_some_and(|origin| {
            let listed = |one: &String| one.eq_ignore_ascii_case(origin);
            self.origins.iter().any(listed) || is_own_page(origin, only(headers, &HOST))
        });
        if allowed {
            return Ok(());
        }
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "bad_origin",
            "This origin is not allowed.",
        )
        .hint("Allow the origin in the server's settings."))
    }

    /// Tells whether a request carries the token.
    pub(crate) fn lets_in(&self, headers: &HeaderMap) -> bool {
        match token(headers) {
            Some(token) => self.is_token(&token),
            None => false,
        }
    }

    /// Refuses what a page other than our own sends with our cookie. Other ports of this machine are other pages, although browsers
    /// send them the same cookies. A proxy that says another name than the browser does is listed.
    pub(crate) fn check_page(&self, headers: &HeaderMap, needs: Needs) -> Result<(), ApiError> {
        let own = |origin: &str| {
            let rest = origin.split_once("://").map(|(_, rest)| rest);
            let same = only(headers, &HOST).is_some_and(|host| {
                rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host)) && is_web(origin)
            });
            same || self
                .origins
                .iter()
                .any(|one| one.eq_ignore_ascii_case(origin))
        };
        let fine = match only(headers, &ORIGIN) {
            Some(origin) => own(origin),
            None => !headers.contains_key(ORIGIN) && needs == Needs::NoOrigin,
        };
        let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
        let near = site.is_none_or(|site| site == b"same-origin" || site == b"none");
        if fine && near {
            return Ok(());
        }
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "bad_origin",
            "Only the server's own web page may do this.",
        )
        .hint("Programs send the token in `Authorization`, and no cookie."))
    }

    /// Tells whether somebody who logs in knows the token.
    pub(crate) fn knows(&self, token: &str) -> bool {
        self.is_token(token.as_bytes())
    }

    fn is_token(&self, presented: &[u8]) -> bool {
        let presented: [u8; 32] = Sha256::digest(presented).into();
        presented.ct_eq(&self.token).into()
    }
}

/// Tells whether a request carries a token of any kind.
pub(crate) fn has_token(headers: &HeaderMap) -> bool {
    headers.contains_key(AUTHORIZATION) || token(headers).is_some()
}

/// Returns the value of a cookie that is there once.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(COOKIE).into_iter();
    let mut found = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(key, value)| *key == name && !value.is_empty());
    let (_, value) = found.next()?;
    found.next().is_none().then_some(value)
}

/// Tells whether a request comes from this machine's own browser, and not over a network: its cookie need not be kept to TLS.
pub(crate) fn is_near(headers: &HeaderMap) -> bool {
    let secure = headers.get("x-forwarded-proto");
    let secure = secure.is_some_and(|proto| proto.as_bytes().eq_ignore_ascii_case(b"https"));
    let host = only(headers, &HOST).and_then(authority);
    !secure && host.is_some_and(|host| is_loopback(host.host()))
}

/// Returns the token that a request carries: in its header, or among the protocols of a WebSocket. Never in its address,
/// which ends up in logs.
fn token(headers: &HeaderMap) -> Option<Vec<u8>> {
    if let Some(value) = only(headers, &AUTHORIZATION) {
        let (scheme, token) = value.split_once(' ')?;
        let bearer = scheme.eq_ignore_ascii_case("bearer");
        return bearer.then(|| token.trim().as_bytes().to_vec());
    }
    protocols(headers).find_map(|protocol| {
        let encoded = protocol.strip_prefix(BEARER_PROTOCOL)?;
        URL_SAFE_NO_PAD.decode(encoded).ok()
    })
}

/// Returns the protocols that a client of a WebSocket speaks.
pub(crate) fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(SEC_WEBSOCKET_PROTOCOL)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// Returns a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).into_iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn authority(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    // A name, or a name and a port, and nothing else.
    let whole = authority.host() == text || authority.port_u16().is_some();
    (whole && !text.contains('@')).then_some(authority)
}

fn is_web(origin: &str) -> bool {
    origin.starts_with("http://") || origin.starts_with("https://")
}

fn is_own_page(origin: &str, host: Option<&str>) -> bool {
    let rest = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    let Some(rest) = rest else {
        return false;
    };
    let same = host.is_some_and(|host| host.eq_ignore_ascii_case(rest));
    same || authority(rest).is_some_and(|name| is_loopback(name.host()))
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || address(name).is_some_and(|address| address.is_loopback())
}

fn address(name: &str) -> Option<IpAddr> {
    let name = name.strip_prefix('[').unwrap_or(name);
    name.strip_suffix(']').unwrap_or(name).parse().ok()
}

#[cfg(test)]
#[path = "auth_tests.rs"]
mod tests;
