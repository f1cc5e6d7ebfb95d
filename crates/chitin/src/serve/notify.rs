//! Tells systemd how the server stands, where it wants to know.

use chitin_runtime::Host;
use rustix::time::{ClockId, clock_gettime};
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

    /// It begins anew. Afterwards it is ready again, whether it did or not.
    pub(crate) fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}"));
    }

    /// Another process is the server from now on.
    pub(crate) fn is_now(&self, process: u32) {
        self.say(&format!("MAINPID={process}"));
    }

    /// Tells whether somebody wants to know, who then follows the server from process to process. The first process of a container is
    /// waited for, whatever else there is.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some() && std::process::id() != 1
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
