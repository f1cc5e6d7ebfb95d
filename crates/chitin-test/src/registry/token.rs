//! A token server: name and password in, a signed token out.

use super::scripted::{Reply, Request, ScriptedServer};
use super::{PASSWORD, USER, certificate, write};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{KeyPair, SigningKey};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) const SERVICE: &str = "test-registry";
pub(super) const ISSUER: &str = "test-issuer";
/// Tokens for tests need no clock.
const FAR_AWAY: u64 = 4_102_444_800;

/// Starts the server; returns it and the certificate that its tokens are checked with.
pub(super) fn start(directory: &Path) -> (ScriptedServer, PathBuf) {
    let made = KeyPair::generate().and_then(|key| {
        let certificate = certificate::named("tokens for tests").self_signed(&key)?;
        Ok((key, certificate))
    });
    let (key, certificate) =
        made.unwrap_or_else(|error| unreachable!("no certificate for tokens: {error}"));
    let bundle = directory.join("token.pem");
    write(&bundle, certificate.pem().as_bytes());
    let encoded = STANDARD.encode(certificate.der());
    let server = ScriptedServer::start(move |request| answer(request, &key, &encoded));
    (server, bundle)
}

fn answer(request: &Request, key: &KeyPair, certificate: &str) -> Reply {
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
    let header = json!({ "typ": "JWT", "alg": "ES256", "x5c": [certificate] });
    let claims = json!({
        "iss": ISSUER, "sub": USER, "aud": SERVICE, "exp": FAR_AWAY, "nbf": 0, "iat": 0, "jti": "1",
        "access": access,
    });
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", encoded(&header), encoded(&claims));
    let signature = key
        .sign(signed.as_bytes())
        .unwrap_or_else(|error| unreachable!("a token cannot be signed: {error}"));
    let signature = fixed(&signature)
        .unwrap_or_else(|| unreachable!("a signature is not two numbers: {signature:?}"));
    let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
    Reply::json(&json!({ "token": token, "expires_in": 300 }))
}

/// Turns an ECDSA signature from ASN.1, a sequence of two integers, into two numbers of 32 bytes each, as tokens have it.
fn fixed(signature: &[u8]) -> Option<[u8; 64]> {
    let mut numbers = [0; 64];
    let mut rest = signature.strip_prefix(&[0x30])?.get(1..)?;
    for half in numbers.chunks_mut(32) {
        let (&length, after) = rest.strip_prefix(&[0x02])?.split_first()?;
        let (number, after) = after.split_at_checked(usize::from(length))?;
        // A leading zero keeps a large number positive; small numbers are short.
        let number = number.strip_prefix(&[0]).unwrap_or(number);
        half.get_mut(32_usize.checked_sub(number.len())?..)?
            .copy_from_slice(number);
        rest = after;
    }
    rest.is_empty().then_some(numbers)
}
