//! Where a running server can be reached, for commands of the same user: a file in Chitin's home, and a claim that holds as long as the server
//! lives. Without the claim, whoever took the port of a server that is gone would be shown its token.

use crate::error::{ErrorKind, RuntimeError};
use chitin_guard::{ClaimKind, NameClaim, ReadPolicy, Root};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// The file with the address, in Chitin's home.
pub(crate) const FILE: &str = "server-address";
/// The name that the server claims.
const LOCK: &str = "server-address.lock";
/// No address is longer.
const LONGEST: u64 = 256;

/// The address of a server, as long as it runs.
#[derive(Debug)]
pub struct PublishedAddress {
    _claim: NameClaim,
}

impl PublishedAddress {
    /// Writes down where this process serves.
    pub fn new(state: &Path, address: SocketAddr) -> Result<Self, RuntimeError> {
        let failed = || RuntimeError::new(ErrorKind::User, "Could not store the address.");
        let root = Root::create_private(state).map_err(|error| failed().caused_by(error))?;
        let claim = root.claim(Path::new(LOCK), ClaimKind::Alone);
        let claim = claim.map_err(|error| failed().caused_by(error))?;
        let claim = claim.ok_or_else(failed)?;
        root.replace(Path::new(FILE), format!("{address}\n").as_bytes())
            .map_err(|error| failed().caused_by(error))?;
        Ok(Self { _claim: claim })
    }

    /// Returns where a server of a home listens; nothing if none is running.
    pub fn of_running(state: &Path) -> Option<SocketAddr> {
        let root = Root::open(state).ok()?;
        let policy = ReadPolicy::inside(LONGEST);
        let read = root.read(Path::new(FILE), &policy).ok()?;
        // Shared, so that two who look at once do not take each other for the server.
        let claim = root.claim(Path::new(LOCK), ClaimKind::SharedNow);
        let is_running = matches!(claim, Ok(None));
        let text = String::from_utf8_lossy(&read.bytes).into_owned();
        let mut address: SocketAddr = text.trim().parse().ok().filter(|_| is_running)?;
        if address.ip().is_unspecified() {
            address.set_ip(match address.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chitin_test::TestEnv;

    #[test]
    fn an_address_counts_only_while_its_server_lives() {
        let env = TestEnv::new();
        let state = env.home().join(".chitin");
        assert_eq!(PublishedAddress::of_running(&state), None);
        let address = "0.0.0.0:7".parse().unwrap();
        let published = PublishedAddress::new(&state, address).unwrap();
        let reached = Some("127.0.0.1:7".parse().unwrap());
        assert_eq!(PublishedAddress::of_running(&state), reached);
        drop(published);
        // The file is still there, and whoever has the port now is not shown a token.
        assert_eq!(PublishedAddress::of_running(&state), None);
    }
}
