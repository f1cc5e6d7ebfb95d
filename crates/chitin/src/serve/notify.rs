//! Tells systemd how the server stands, where it wants to know.

use chitin_runtime::Host;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Where systemd listens.
const VARIABLE: &str = "NOTIFY_SOCKET";

/// Tells systemd how the server stands; nobody, where it does not ask.
pub(crate) struct Notifier(Option<SocketAddr>);

impl Notifier {
    /// Finds out whether somebody wants to know.
    pub(crate) fn new(host: &Host) -> Self {
        let place = host
            .env
            .get(VARIABLE)
            .and_then(|place| match place.strip_prefix('@') {
                Some(name) => abstract_name(name),
                None if place.starts_with('/') => SocketAddr::from_pathname(place).ok(),
                None => None,
            });
        Self(place)
    }

    /// It takes messages in.
    pub(crate) fn ready(&self) {
        self.say("READY=1");
    }

    /// It is about to end.
    pub(crate) fn stopping(&self) {
        self.say("STOPPING=1");
    }

    fn say(&self, word: &str) {
        if let Some(place) = &self.0
            && let Ok(socket) = UnixDatagram::unbound()
        {
            let _ = socket.send_to_addr(word.as_bytes(), place);
        }
    }
}

/// Returns the address of a socket that is no file.
#[cfg(target_os = "linux")]
fn abstract_name(name: &str) -> Option<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    SocketAddr::from_abstract_name(name).ok()
}

#[cfg(not(target_os = "linux"))]
fn abstract_name(_: &str) -> Option<SocketAddr> {
    None
}
