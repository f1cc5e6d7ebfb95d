//! A server on loopback that embeds: written from the providers' documents, it shares no code with the client.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

impl Asked {
    /// The texts to embed.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let input = self.body["input"].as_array().unwrap();
        input.iter().map(|text| text.as_str().unwrap()).collect()
    }
}

/// What is answered.
pub(crate) enum Reply {
    /// As the wire format says.
    Vectors,
    /// Something else with status 200.
    Body(String),
    /// The first bytes of what the wire format says, with the length of all of it.
    Half,
    /// Not a success.
    Failure(u16, &'static str, Value),
    /// Nothing, for longer than anybody waits.
    Silence,
}

/// Answers requests by a script; what comes after its end is answered with vectors.
pub(crate) struct EmbeddingServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl EmbeddingServer {
    pub(crate) fn start(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        // It ends with the test's process.
        thread::spawn(move || {
            let mut script = script.into_iter();
            for stream in listener.incoming().flatten() {
                let reply = script.next().unwrap_or(Reply::Vectors);
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(&stream, &reply, &kept));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// The vector of a text: how long it is, how many spaces it has, and one number that is always there.
pub(crate) fn numbers(text: &str) -> [f64; 3] {
    [
        f64::from(u32::try_from(text.len()).unwrap()),
        f64::from(u32::try_from(text.matches(' ').count()).unwrap()),
        1.0,
    ]
}

fn serve(stream: &TcpStream, reply: &Reply, kept: &Mutex<Vec<Asked>>) {
    let asked = read(stream);
    kept.lock().unwrap().push(asked.clone());
    let (status, extra, body) = match reply {
        Reply::Vectors | Reply::Half => (200, "", vectors(&asked)),
        Reply::Body(body) => (200, "", body.clone()),
        Reply::Failure(status, headers, body) => (*status, *headers, body.to_string()),
        Reply::Silence => {
            thread::sleep(Duration::from_secs(5));
            return;
        }
    };
    let sent = match reply {
        Reply::Half => &body[..body.len() / 2],
        Reply::Vectors | Reply::Body(_) | Reply::Failure(..) | Reply::Silence => body.as_str(),
    };
    let length = body.len();
    let mut stream = stream;
    // A client that is gone is what some tests are about.
    let _ = write!(
        stream,
        "HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\n{extra}content-length: {length}\r\nconnection: close\r\n\r\n{sent}"
    );
}

fn read(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        head.iter().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    let mut body = vec![0; header("content-length").unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Asked {
        path: head[0].split(' ').nth(1).unwrap().to_owned(),
        authorization: header("authorization"),
        body: serde_json::from_slice(&body).unwrap(),
    }
}

/// Answers as the format of the path says: OpenAI numbers its vectors, and they may come in any order.
fn vectors(asked: &Asked) -> String {
    let all = asked.texts().into_iter().map(numbers);
    if asked.path.ends_with("/api/embed") {
        let all: Vec<_> = all.collect();
        return json!({"model": "m", "embeddings": all, "total_duration": 1}).to_string();
    }
    let mut data: Vec<_> = all
        .enumerate()
        .map(|(index, embedding)| json!({"object": "embedding", "index": index, "embedding": embedding}))
        .collect();
    data.reverse();
    json!({"object": "list", "data": data, "usage": {"total_tokens": 3}}).to_string()
}
