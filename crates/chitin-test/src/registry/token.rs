//! A token server: name and password in, a signed token out.

use super::scripted::{Reply, Request, ScriptedServer};
use super::{PASSWORD, USER, read, run};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) const SERVICE: &str = "test-registry";
pub(super) const ISSUER: &str = "test-issuer";
/// Tokens for tests need no clock.
const FAR_AWAY: u64 = 4_102_444_800;

/// Starts the server; returns it and the certificate that its tokens are checked with.
pub(super) fn start(directory: &Path) -> (ScriptedServer, PathBuf) {
    let made = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "token.key",
        "-out",
        "token.pem",
        "-days",
        "3650",
        "-subj",
        "/CN=tokens for tests",
    ];
    run("openssl", &made, &[], directory);
    let pem = String::from_utf8_lossy(&read(&directory.join("token.pem"))).into_owned();
    let certificate: String = pem
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    let directory = directory.to_path_buf();
    let bundle = directory.join("token.pem");
    let server = ScriptedServer::start(move |request| answer(request, &directory, &certificate));
    (server, bundle)
}

fn answer(request: &Request, directory: &Path, certificate: &str) -> Reply {
    let expected = format!("Basic {}", STANDARD.encode(format!("{USER}:{PASSWORD}")));
    if request.header("authorization") != Some(&expected) {
        return Reply::status(401);
    }
    let access: Vec<Value> = request
        .query("scope")
        .iter()
        .filter_map(|scope| {
            let mut parts = scope.splitn(3, ':');
            let (kind, name) = (parts.next()?, parts.next()?);
            let actions: Vec<&str> = parts.next()?.split(',').collect();
            Some(json!({ "type": kind, "name": name, "actions": actions }))
        })
        .collect();
    let header = json!({ "typ": "JWT", "alg": "RS256", "x5c": [certificate] });
    let claims = json!({
        "iss": ISSUER, "sub": USER, "aud": SERVICE, "exp": FAR_AWAY, "nbf": 0, "iat": 0, "jti": "1",
        "access": access,
    });
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", encoded(&header), encoded(&claims));
    let sign = ["dgst", "-sha256", "-sign", "token.key"];
    let signature = run("openssl", &sign, signed.as_bytes(), directory);
    let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
    Reply::json(&json!({ "token": token, "expires_in": 300 }))
}
