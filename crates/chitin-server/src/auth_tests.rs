//! Close-up: names, origins and tokens.

use super::*;
use crate::settings::ServerSettings;
use proptest::prelude::*;
use std::net::{Ipv4Addr, SocketAddr};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn auth() -> Auth {
    let mut settings = ServerSettings::new(SocketAddr::from(([127, 0, 0, 1], 0)), TOKEN.into());
    settings.hosts = vec!["yard.example".to_owned()];
    settings.origins = vec!["https://desk.example:8443".to_owned()];
    Auth::new(&settings)
}

fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name.clone(), value.parse().unwrap());
    }
    headers
}

fn host_passes(host: &str) -> bool {
    let local = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));
    let headers = headers(&[(HOST, host)]);
    let uri = Uri::from_static("/health");
    auth().check_host(&headers, &uri, local).is_ok()
}

#[test]
fn names_of_this_machine_and_those_allowed_pass() {
    for host in [
        "localhost",
        "LOCALHOST:80",
        "127.0.0.1:4000",
        "127.9.9.9",
        "[::1]:4000",
        "[::1]",
        "yard.example",
        "Yard.Example:443",
        "10.0.0.7:4000",
    ] {
        assert!(host_passes(host), "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "10.0.0.8",
        "",
        "a@localhost",
        "0.0.0.0",
        "localhost:x",
        "notlocalhost",
    ] {
        assert!(!host_passes(host), "{host}");
    }
}

#[test]
fn two_hosts_or_none_are_refused_and_so_is_another_name_in_the_address() {
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let uri = Uri::from_static("/");
    let two = headers(&[(HOST, "localhost"), (HOST, "localhost")]);
    assert!(auth().check_host(&two, &uri, local).is_err());
    assert!(auth().check_host(&HeaderMap::new(), &uri, local).is_err());
    let one = headers(&[(HOST, "localhost")]);
    let absolute = Uri::from_static("http://evil.example/");
    assert!(auth().check_host(&one, &absolute, local).is_err());
}

#[test]
fn pages_of_this_machine_of_the_server_and_those_allowed_pass() {
    let passes = |origin: &str| {
        let headers = headers(&[(HOST, "yard.example"), (ORIGIN, origin)]);
        auth().check_origin(&headers).is_ok()
    };
    for origin in [
        "http://localhost:5173",
        "https://127.0.0.1",
        "http://[::1]:80",
        "https://yard.example",
        "https://desk.example:8443",
    ] {
        assert!(passes(origin), "{origin}");
    }
    for origin in [
        "null",
        "https://evil.example",
        "https://yard.example.evil.example",
        "https://desk.example",
        "file://",
        "",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "ftp://localhost",
    ] {
        assert!(!passes(origin), "{origin}");
    }
    assert!(auth().check_origin(&HeaderMap::new()).is_ok());
}

#[test]
fn the_token_comes_in_a_header_or_as_a_protocol() {
    let bearer = |value: &str| auth().lets_in(&headers(&[(AUTHORIZATION, value)]));
    assert!(bearer(&format!("Bearer {TOKEN}")));
    assert!(bearer(&format!("bearer  {TOKEN}")));
    assert!(!bearer(TOKEN));
    assert!(!bearer("Bearer "));
    assert!(!bearer(&format!("Basic {TOKEN}")));
    let encoded = URL_SAFE_NO_PAD.encode(TOKEN);
    let protocol = |value: &str| auth().lets_in(&headers(&[(SEC_WEBSOCKET_PROTOCOL, value)]));
    assert!(protocol(&format!("chitin, chitin.bearer.{encoded}")));
    assert!(!protocol(&format!("chitin, chitin.bearer.{TOKEN}")));
    assert!(!protocol("chitin"));
}

proptest! {
    #[test]
    fn no_other_token_lets_anybody_in(text in "[ -~]{0,80}") {
        prop_assume!(text.trim() != TOKEN);
        let headers = headers(&[(AUTHORIZATION, &format!("Bearer {text}"))]);
        prop_assert!(!auth().lets_in(&headers));
    }

    #[test]
    fn no_other_port_passes_with_a_cookie(own in 1u16.., other in 1u16.., name in "localhost|127\\.0\\.0\\.1|yard\\.example") {
        let (host, origin) = (format!("{name}:{own}"), format!("http://{name}:{other}"));
        let passes = page_passes(&host, Some(&origin), Needs::Origin);
        prop_assert_eq!(passes, own == other);
    }

    #[test]
    fn a_name_that_ends_in_another_domain_never_passes(name in "[a-z0-9.]{0,20}", port in proptest::option::of(0u16..)) {
        let host = format!("{name}.evil.example");
        let host = port.map_or(host.clone(), |port| format!("{host}:{port}"));
        prop_assert!(!host_passes(&host));
    }
}

fn page_passes(host: &str, origin: Option<&str>, needs: Needs) -> bool {
    let mut pairs = vec![(HOST, host)];
    pairs.extend(origin.map(|origin| (ORIGIN, origin)));
    auth().check_page(&headers(&pairs), needs).is_ok()
}

#[test]
fn with_a_cookie_only_the_servers_own_page_passes_to_the_port() {
    let host = "localhost:7717";
    for origin in [
        "http://localhost:7717",
        "https://LOCALHOST:7717",
        "https://desk.example:8443",
    ] {
        assert!(page_passes(host, Some(origin), Needs::Origin), "{origin}");
    }
    for origin in [
        "http://localhost:7718",
        "http://localhost",
        "http://127.0.0.1:7717",
        "http://localhost:77170",
        "http://localhost:7717.evil.example",
        "http://evil@localhost:7717",
        "ftp://localhost:7717",
        "localhost:7717",
        "null",
        "",
    ] {
        assert!(
            !page_passes(host, Some(origin), Needs::NoOrigin),
            "{origin}"
        );
    }
    assert!(page_passes(host, None, Needs::NoOrigin));
    assert!(!page_passes(host, None, Needs::Origin));
}

#[test]
fn a_cookie_that_is_there_twice_is_none() {
    let cookie = |value: &str| super::cookie(&headers(&[(COOKIE, value)]), "a").map(str::to_owned);
    assert_eq!(cookie("b=1; a=2; c=3"), Some("2".to_owned()));
    assert_eq!(cookie("a=1; a=2"), None);
    assert_eq!(cookie("aa=1; xa=2; a="), None);
    assert_eq!(cookie(""), None);
}
