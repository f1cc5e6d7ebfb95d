//! Where a server listens.

use crate::error::{ErrorKind, RuntimeError};
use chitin_protocol::settings::ServeSettings;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The port, when nobody says.
const PORT: u16 = 7717;

/// Puts together where to listen: what was typed, what is configured, the usual.
pub fn listen_address(
    said: &ServeSettings,
    typed: Option<&str>,
) -> Result<SocketAddr, RuntimeError> {
    let usual = SocketAddr::new(
        match &said.address {
            Some(address) => address.parse().map_err(|_| {
                let what = format!("`server.address` is not an address: `{address}`.");
                RuntimeError::new(ErrorKind::Config, what)
            })?,
            None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        },
        said.port.unwrap_or(PORT),
    );
    match typed {
        Some(place) => listen(place, usual),
        None => Ok(usual),
    }
}

/// Reads a place to listen on; what is left out is usual.
fn listen(place: &str, usual: SocketAddr) -> Result<SocketAddr, RuntimeError> {
    let port = |text: &str| text.parse::<u16>().ok();
    let parsed = place.parse::<SocketAddr>().ok().or_else(|| {
        match (place.strip_prefix(':').and_then(port), place.parse()) {
            (Some(port), _) => Some(SocketAddr::new(usual.ip(), port)),
            (None, Ok(address)) => Some(SocketAddr::new(address, usual.port())),
            (None, Err(_)) => None,
        }
    });
    parsed.ok_or_else(|| {
        RuntimeError::new(
            ErrorKind::Usage,
            format!("`{place}` is not an address to listen on."),
        )
        .hint("`--listen 127.0.0.1:7717`, `--listen :7717`, `--listen [::1]:7717`")
    })
}
