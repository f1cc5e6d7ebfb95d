//! From an address to an open WebSocket, over the same TLS as calls.

use crate::account::Account;
use crate::settings::is_loopback;
use crate::web::CallError;
use chitin_net::certificate_problem;
use reqwest::Url;
use rustls::pki_types::ServerName;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long it may take.
const LONGEST: Duration = Duration::from_secs(20);
/// The largest message that is taken.
const LARGEST: usize = 4 << 20;
/// What it is called in errors.
const OPEN: &str = "apps.connections.open";

/// A stream of bytes, with TLS or without.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// An open WebSocket.
pub(crate) type Socket = WebSocketStream<Box<dyn Stream>>;

impl Account {
    /// Asks Slack for an address to connect to. It is good once.
    pub(crate) async fn open_address(&self) -> Result<Url, CallError> {
        let Some(app) = &self.app else {
            return Err(CallError::Missing {
                what: "There is no app token, and Socket Mode needs one.",
                hint: "Make one with `connections:write` on the app's pages and set `appToken`",
            });
        };
        let answer = app.call(OPEN, &[]).await?;
        let url = answer.body["url"].as_str();
        let url = url.and_then(|url| Url::parse(url).ok());
        let url = url.ok_or_else(|| CallError::unreachable(OPEN, "Slack named no address"))?;
        let plain = url.scheme() == "ws" && is_loopback(&url) && is_loopback(&self.settings.api);
        if plain || (url.scheme() == "wss" && self.settings.trusts(&url)) {
            return Ok(url);
        }
        let host = url.host_str().unwrap_or("nowhere");
        let reason = format!("the address is at `{host}`, which is not Slack's");
        Err(CallError::odd(OPEN, &reason))
    }

    /// Opens a WebSocket.
    pub(crate) async fn dial(&self) -> Result<Socket, CallError> {
        let url = self.open_address().await?;
        tokio::time::timeout(LONGEST, self.connect(&url))
            .await
            .unwrap_or_else(|_| Err("it took too long".to_owned()))
            .map_err(|reason| CallError::unreachable(OPEN, &reason))
    }

    async fn connect(&self, url: &Url) -> Result<Socket, String> {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap_or(443);
        let stream = TcpStream::connect((host, port))
            .await
            .map_err(|error| format!("no connection: {error}"))?;
        let _ = stream.set_nodelay(true);
        let stream: Box<dyn Stream> = if url.scheme() == "ws" {
            Box::new(stream)
        } else {
            let name = ServerName::try_from(host.to_owned())
                .map_err(|_| "the host has no name".to_owned())?;
            let tls = TlsConnector::from(self.client.tls.clone());
            let stream = tls.connect(name, stream).await;
            Box::new(stream.map_err(|error| {
                certificate_problem(&error).unwrap_or_else(|| format!("no TLS: {error}"))
            })?)
        };
        let config = WebSocketConfig::default()
            .max_message_size(Some(LARGEST))
            .max_frame_size(Some(LARGEST));
        // The error may show the address, and with it the ticket: only its kind is said.
        let opened = client_async_with_config(url.as_str(), stream, Some(config)).await;
        opened
            .map(|(socket, _)| socket)
            .map_err(|_| "Slack did not open a WebSocket".to_owned())
    }
}
