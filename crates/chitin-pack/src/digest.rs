//! SHA-256 names of bytes, as OCI writes them: `sha256:` and 64 hexadecimal digits.

use crate::error::{ErrorClass, PackError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

/// The name of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the raw bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the 64 digits without the algorithm.
    pub fn hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.0
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|nibble| char::from(DIGITS[usize::from(nibble)]))
            .collect()
    }

    /// Reads 64 lower-case digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = PackError;

    fn from_str(text: &str) -> Result<Self, PackError> {
        text.strip_prefix("sha256:")
            .and_then(Self::from_hex)
            .ok_or_else(|| {
                PackError::new(
                    ErrorClass::InvalidReference,
                    format!("`{}` is not a SHA-256 digest", text.escape_debug()),
                )
            })
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Passes bytes on and keeps count of them.
#[derive(Debug)]
pub struct Hashing<W> {
    inner: W,
    state: Sha256,
    size: u64,
}

impl<W> Hashing<W> {
    /// Wraps a writer.
    pub fn new(inner: W) -> Self {
        Self {
            inner,
            state: Sha256::new(),
            size: 0,
        }
    }

    /// Returns the writer, and the digest and size of what went through.
    pub fn finish(self) -> (W, Digest, u64) {
        (self.inner, Digest(self.state.finalize().into()), self.size)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.state.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_and_read_back() {
        let empty = Digest::of(b"");
        let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(empty.to_string(), text);
        assert_eq!(text.parse::<Digest>().unwrap(), empty);
        for wrong in ["", "sha256:", "md5:00", &text.to_uppercase(), &text[..70]] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }
}
