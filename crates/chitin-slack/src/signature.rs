//! Who sent a call over HTTP: Slack signs every one with a secret that only it and we know.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// How far our clock and Slack's may be apart, in seconds. What is older may be a call that somebody kept.
pub const SKEW_SECONDS: i64 = 5 * 60;
/// The version of the signature.
const VERSION: &str = "v0";
/// A block of SHA-256.
const BLOCK: usize = 64;

/// Why a call is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unsigned {
    /// A header is missing or odd.
    #[error("The call is not signed.")]
    Missing,
    /// It was signed at another time.
    #[error("The call was signed at another time than now; a clock may be wrong.")]
    Old,
    /// Somebody else signed it.
    #[error("The signature is not Slack's.")]
    Wrong,
}

/// Checks a signature: `v0=` and the HMAC-SHA256 of `v0:timestamp:body`.
///
/// # Errors
///
/// Why the call is not believed.
pub fn check(
    secret: &SecretString,
    timestamp: Option<&str>,
    signature: Option<&str>,
    body: &[u8],
    now_ms: i64,
) -> Result<(), Unsigned> {
    let timestamp = timestamp.ok_or(Unsigned::Missing)?;
    let signature = signature.ok_or(Unsigned::Missing)?;
    let plain = !timestamp.is_empty() && timestamp.len() <= 16;
    if !plain || !timestamp.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Unsigned::Missing);
    }
    let at: i64 = timestamp.parse().map_err(|_| Unsigned::Missing)?;
    let key = secret.expose_secret();
    if key.is_empty() {
        return Err(Unsigned::Wrong);
    }
    let own = sign(key.as_bytes(), timestamp, body);
    if !bool::from(own.as_bytes().ct_eq(signature.as_bytes())) {
        return Err(Unsigned::Wrong);
    }
    if (now_ms.div_euclid(1_000) - at).abs() > SKEW_SECONDS {
        return Err(Unsigned::Old);
    }
    Ok(())
}

/// Returns the signature of a call.
fn sign(key: &[u8], timestamp: &str, body: &[u8]) -> String {
    let digest = hmac(
        key,
        &[VERSION.as_bytes(), b":", timestamp.as_bytes(), b":", body],
    );
    format!("{VERSION}={}", hex(&digest))
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(HEX[usize::from(digit)]))
        .collect()
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// HMAC with SHA-256 (RFC 2104).
fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let mut inner = Sha256::new();
    inner.update(block.map(|byte| byte ^ 0x36));
    for part in parts {
        inner.update(part);
    }
    let mut outer = Sha256::new();
    outer.update(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::{hex, hmac, sign};

    /// RFC 4231, cases 1, 2 and 6.
    #[test]
    fn the_code_is_that_of_the_rfc() {
        let case = |key: &[u8], data: &[u8]| hex(&hmac(key, &[data]));
        assert_eq!(
            case(&[0x0b; 20], b"Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            case(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            case(
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First"
            ),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    /// The example of Slack's own documentation.
    #[test]
    fn the_signature_is_slacks() {
        let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&\
            channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&\
            response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&\
            trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        assert_eq!(
            sign(
                b"8f742231b10e8888abcd99yyyzzz85a5",
                "1531420618",
                body.as_bytes()
            ),
            "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
        );
    }
}
