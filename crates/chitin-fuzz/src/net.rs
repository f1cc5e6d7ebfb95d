//! Connections over the loopback address, for what can only be reached through a socket.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

/// The most bytes of an answer that are looked at.
const MOST: usize = 256 << 10;

/// Returns the one runtime of this process. All of it runs on the thread that asks.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made")
    })
}

/// Sends bytes, says that no more come, and returns what comes back until the other side ends or falls silent.
pub async fn exchange(to: SocketAddr, sent: &[u8], patience: Duration) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).await.expect("somebody listens");
    // A connection that ended early is no failure: what was sent may have been refused.
    let _ = stream.write_all(sent).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let mut buffer = [0; 8192];
    while answer.len() < MOST {
        match tokio::time::timeout(patience, stream.read(&mut buffer)).await {
            Ok(Ok(count @ 1..)) => answer.extend_from_slice(&buffer[..count]),
            Ok(Ok(_) | Err(_)) | Err(_) => break,
        }
    }
    answer
}

/// A request that somebody of ours sent.
#[derive(Debug)]
pub struct Asked {
    /// Its first line and its headers.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// Serves on an address of its own for as long as there are connections to it or a second; what is answered is written as it is.
pub async fn serve(answer: impl FnMut(&Asked) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .expect("the loopback address can be had");
    let address = listener.local_addr().expect("it has an address");
    let answer = Arc::new(Mutex::new(answer));
    tokio::spawn(async move {
        while let Ok(Ok((stream, _))) =
            tokio::time::timeout(Duration::from_millis(300), listener.accept()).await
        {
            tokio::spawn(converse(stream, Arc::clone(&answer)));
        }
    });
    address
}

async fn converse(mut stream: TcpStream, answer: Arc<Mutex<impl FnMut(&Asked) -> Vec<u8>>>) {
    let mut heard = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        while let Some((asked, length)) = whole(&heard) {
            heard.drain(..length);
            let said = (answer.lock().expect("nobody panicked"))(&asked);
            // Whoever has nothing to say hangs up: otherwise each input would wait for it.
            if said.is_empty() || stream.write_all(&said).await.is_err() {
                return;
            }
        }
        match tokio::time::timeout(Duration::from_millis(300), stream.read(&mut buffer)).await {
            Ok(Ok(count @ 1..)) => heard.extend_from_slice(&buffer[..count]),
            Ok(Ok(_) | Err(_)) | Err(_) => return,
        }
    }
}

/// Returns the first request, once all of it is there, and how long it is.
fn whole(bytes: &[u8]) -> Option<(Asked, usize)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let length = end + length.unwrap_or_default();
    let body = bytes.get(end..length)?.to_vec();
    Some((Asked { head, body }, length))
}
