//! One connection: requests in, answers out, or what the script wants in their place.

use super::request::{self, Captured};
use super::served::Shared;
use chitin_protocol::script::{ScriptFault, ScriptPieces, ScriptReply};
use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How often a waiting server looks whether the client is gone.
const LOOK: Duration = Duration::from_millis(2);

/// What becomes of a connection after an answer.
enum After {
    Keep,
    Close,
}

/// Serves requests until the client or the server is done.
pub(super) fn serve(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut connection = Connection { shared, stream };
    let mut serve_all = || -> io::Result<()> {
        while let Some(request) = request::read(&mut reader)? {
            match connection.answer(request)? {
                After::Keep => {}
                After::Close => break,
            }
        }
        Ok(())
    };
    let served = serve_all();
    // The server keeps a second handle, so that it can stop us: the socket is not closed by letting go of this one.
    drop(connection.stream.shutdown(Shutdown::Both));
    served
}

struct Connection<'a> {
    shared: &'a Shared,
    stream: TcpStream,
}

impl Connection<'_> {
    fn answer(&mut self, request: Captured) -> io::Result<After> {
        let format = self.shared.format;
        let (path, text) = (request.path.clone(), request.text());
        let model = request.json()["model"]
            .as_str()
            .unwrap_or("none")
            .to_owned();
        let let_in = self.shared.lets_in(&request);
        let number = self.shared.capture(request);
        if path != format.path() {
            return self.error(404, "nothing is here", None);
        }
        if !let_in {
            return self.error(401, "the key is wrong", None);
        }
        let Some(reply) = self.shared.next_reply(&text) else {
            return self.error(400, "the script has no more replies", None);
        };
        let complaint = reply.expect.as_ref().and_then(|e| e.complaint(&text));
        if let Some(complaint) = complaint {
            let message = format!("not as the script expects: {complaint}");
            self.shared.complain(number, complaint);
            return self.error(400, &message, None);
        }
        let sent = self.send(&reply, &model, number);
        if sent.is_err() && !self.shared.is_stopped() {
            self.shared.closed(number);
        }
        sent
    }

    fn send(&mut self, reply: &ScriptReply, model: &str, number: usize) -> io::Result<After> {
        self.wait(Duration::from_millis(reply.delay_ms.unwrap_or(0)))?;
        if let Some(error) = &reply.error {
            return self.error(error.status, &error.message, error.retry_after.as_deref());
        }
        match reply.fault {
            Some(ScriptFault::Hang) => return self.hang(),
            Some(ScriptFault::Drop) => return Ok(After::Close),
            Some(ScriptFault::Html) => {
                return self.whole("200 OK", "text/html", "", "<html>nobody is home</html>");
            }
            Some(ScriptFault::Redirect) => {
                let to = "location: http://127.0.0.2:9/elsewhere\r\n";
                return self.whole("307 Temporary Redirect", "text/plain", to, "");
            }
            Some(
                ScriptFault::Stall
                | ScriptFault::Malformed
                | ScriptFault::ErrorEvent
                | ScriptFault::ErrorAtOnce,
            )
            | None => {}
        }
        let format = self.shared.format;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ntransfer-encoding: chunked\r\n\r\n",
            format.content_type()
        );
        self.stream.write_all(head.as_bytes())?;
        let parts = match reply.fault {
            Some(ScriptFault::ErrorAtOnce) => vec![format.error_part("Overloaded")],
            Some(_) | None => format.parts(reply, model, number),
        };
        let middle = parts.len() / 2;
        let pieces = reply.pieces.unwrap_or_default();
        for (index, part) in parts.iter().enumerate() {
            match reply.fault {
                Some(ScriptFault::Malformed) if index == middle => {
                    self.part(
                        "data: {\"type\": \"content_bl\u{fffd}\n\n{{{ no JSON at all\n\n",
                        pieces,
                    )?;
                }
                Some(ScriptFault::ErrorEvent) if index == middle => {
                    self.part(&format.error_part("Overloaded"), pieces)?;
                    break;
                }
                Some(ScriptFault::Stall) if reply.cut_after.is_none() && index == middle => {
                    return self.hang();
                }
                Some(_) | None => {}
            }
            self.part(part, pieces)?;
        }
        match (reply.cut_after, reply.fault) {
            (_, Some(ScriptFault::Stall)) => self.hang(),
            (Some(_), _) => Ok(After::Close),
            (None, _) => {
                self.stream.write_all(b"0\r\n\r\n")?;
                Ok(After::Keep)
            }
        }
    }

    /// Sends a part, cut into pieces as the script wants: each of them is a chunk and a packet of its own.
    fn part(&mut self, part: &str, pieces: ScriptPieces) -> io::Result<()> {
        let bytes = part.as_bytes();
        let size = if pieces.bytes == 0 {
            bytes.len().max(1)
        } else {
            pieces.bytes
        };
        for piece in bytes.chunks(size) {
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            self.stream.write_all(&chunk)?;
            self.wait(Duration::from_millis(pieces.pause_ms))?;
        }
        Ok(())
    }

    fn error(
        &mut self,
        status: u16,
        message: &str,
        retry_after: Option<&str>,
    ) -> io::Result<After> {
        let body = self.shared.format.error_body(status, message);
        // The date is fixed, so that a script can name a time to wait for.
        let headers = retry_after.map_or_else(String::new, |value| {
            format!("date: Sun, 15 Nov 2026 10:00:00 GMT\r\nretry-after: {value}\r\n")
        });
        self.whole(
            &format!("{status} Error"),
            "application/json",
            &headers,
            &body,
        )
    }

    fn whole(&mut self, status: &str, kind: &str, headers: &str, body: &str) -> io::Result<After> {
        let text = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(text.as_bytes())?;
        Ok(After::Keep)
    }

    /// Says nothing until the client or the server goes.
    fn hang(&mut self) -> io::Result<After> {
        self.wait(Duration::from_hours(1)).map(|()| After::Close)
    }

    /// Waits, and notices when the client goes.
    fn wait(&mut self, time: Duration) -> io::Result<()> {
        let start = Instant::now();
        while start.elapsed() < time && !self.shared.is_stopped() {
            self.stream
                .set_read_timeout(Some(LOOK.min(time).max(Duration::from_micros(100))))?;
            let looked = self.stream.peek(&mut [0]);
            self.stream.set_read_timeout(None)?;
            match looked {
                Ok(0) => return Err(ErrorKind::ConnectionAborted.into()),
                // The next request is there already; it has to wait.
                Ok(_) => std::thread::sleep(LOOK.min(time)),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}
