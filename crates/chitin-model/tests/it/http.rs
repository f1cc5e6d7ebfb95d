//! Answers over real sockets, in all four wire formats.

use crate::asking::{self, Conversation, KEY, LONG, collect, done, model, run};
use chitin_model::{Api, HttpModel, Model, ModelEndpoint, StreamEvent, Tee};
use chitin_protocol::message::{Block, StopReason};
use chitin_test::model_server::{Format, ModelServer};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

const REPLY: &str = r#"{"thinking":"Let me see.","text":"Hello, wörld 🦀! This is an answer.","usage":{"input":11,"output":7,"cacheRead":5}}"#;

#[test]
fn an_answer_comes_step_by_step_in_every_format() {
    for format in Format::ALL {
        let server = ModelServer::start(format, REPLY);
        let events = run(asking::ask(
            &model(&server, LONG),
            &Conversation::saying("hi"),
        ))
        .unwrap();
        let message = done(&events);
        assert_eq!(events[0], StreamEvent::Start, "{format:?}");
        assert_eq!(
            message.content.text(),
            "Hello, wörld 🦀! This is an answer.",
            "{format:?}"
        );
        assert_eq!(message.stop_reason, Some(StopReason::Stop), "{format:?}");
        let thought = message.content.blocks().iter().any(
            |block| matches!(block, Block::Thinking(block) if block.thinking == "Let me see."),
        );
        assert!(thought, "{format:?}: {message:?}");
        let usage = message.usage.unwrap();
        assert_eq!(usage.output, 7, "{format:?}");
        assert_eq!(usage.input + usage.cache_read, 16, "{format:?}");
        let streamed: String = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::TextDelta { delta, .. } => Some(delta.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(streamed, message.content.text(), "{format:?}");
    }
}

#[test]
fn calls_of_tools_come_with_their_arguments_in_every_format() {
    let script = r#"{"text":"Looking.","toolCalls":[{"name":"read","arguments":{"path":"a \"b\".md"}},{"name":"exec","arguments":{"command":"ls"}}]}"#;
    for format in Format::ALL {
        let server = ModelServer::start(format, script);
        let events = run(asking::ask(
            &model(&server, LONG),
            &Conversation::saying("hi"),
        ))
        .unwrap();
        let message = done(&events);
        let calls: Vec<_> = message
            .tool_calls()
            .map(|call| (call.name.as_str(), call.arguments.clone().unwrap()))
            .collect();
        assert_eq!(
            calls,
            [
                ("read", json!({"path": "a \"b\".md"})),
                ("exec", json!({"command": "ls"}))
            ],
            "{format:?}"
        );
        assert_eq!(message.stop_reason, Some(StopReason::ToolUse), "{format:?}");
    }
}

#[test]
fn the_bytes_that_are_prepared_are_the_bytes_that_are_sent_and_hashed() {
    for format in Format::ALL {
        let server = ModelServer::with_key(format, REPLY, KEY);
        let model = model(&server, LONG);
        let conversation = Conversation::saying("Grüß dich");
        let (prepared, events) = run(async {
            let (prepared, events) = asking::send(&model, &conversation).await.unwrap();
            (prepared, collect(events).await.unwrap())
        });
        done(&events);
        let request = &server.requests()[0];
        assert_eq!(request.body, prepared.body, "{format:?}");
        assert_eq!(format!("{}{}", server.origin(), request.path), prepared.url);
        let mut digest = String::new();
        for byte in Sha256::digest(&request.body) {
            write!(digest, "{byte:02x}").unwrap();
        }
        assert_eq!(prepared.digest, digest);
        for (name, value) in &prepared.headers {
            assert_eq!(request.header(name), Some(value.as_str()), "{name}");
        }
        assert!(!prepared.secret_headers.is_empty());
        for name in &prepared.secret_headers {
            assert!(request.header(name).unwrap().contains(KEY), "{name}");
        }
        assert!(!format!("{prepared:?} {model:?}").contains(KEY));
    }
}

#[test]
fn pieces_of_any_size_give_the_same_answer() {
    for format in Format::ALL {
        let mut answers = Vec::new();
        for bytes in [0, 1, 3, 7, 1000] {
            let reply = REPLY.replace(
                "{\"thinking\"",
                &format!("{{\"pieces\":{{\"bytes\":{bytes}}},\"thinking\""),
            );
            let server = ModelServer::start(format, &reply);
            let events = run(asking::ask(
                &model(&server, LONG),
                &Conversation::saying("hi"),
            ));
            answers.push(events.unwrap());
        }
        for answer in &answers[1..] {
            assert_eq!(answer, &answers[0], "{format:?}");
        }
    }
}

#[test]
fn the_tee_gets_every_byte_before_it_is_parsed() {
    let server = ModelServer::start(Format::Ollama, REPLY);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let taking = Arc::clone(&seen);
    let model = model(&server, LONG);
    let events = run(async {
        let mut prepared = model
            .prepare(&Conversation::saying("hi").request())
            .unwrap();
        prepared.tee = Some(Tee(Arc::new(move |bytes: &[u8]| {
            taking.lock().unwrap().extend_from_slice(bytes);
        })));
        let events = model.send(prepared, CancellationToken::new()).await;
        collect(events.unwrap()).await.unwrap()
    });
    done(&events);
    let seen = String::from_utf8(seen.lock().unwrap().clone()).unwrap();
    let lines: Vec<serde_json::Value> = seen
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.last().unwrap()["done"], true);
}

#[test]
fn a_connection_is_used_again() {
    for format in Format::ALL {
        let server = ModelServer::start(format, &format!("{REPLY}\n{REPLY}\n{REPLY}"));
        let model = model(&server, LONG);
        run(async {
            for _ in 0..3 {
                let events = asking::ask(&model, &Conversation::saying("hi")).await;
                done(&events.unwrap());
            }
        });
        assert_eq!(server.requests().len(), 3);
        assert_eq!(server.connections(), 1, "{format:?}");
    }
}

#[test]
fn a_large_answer_is_taken_whole() {
    let text = "0123456789abcdef".repeat(256 * 1024);
    let server = ModelServer::start(Format::Anthropic, &json!({"text": text}).to_string());
    let events = run(asking::ask(
        &model(&server, LONG),
        &Conversation::saying("hi"),
    ))
    .unwrap();
    assert_eq!(done(&events).content.text(), text);
}

#[test]
fn a_request_tells_when_it_has_gone_out_and_keeps_its_length() {
    use std::io::{Read, Write as _};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = ModelEndpoint::new(format!("http://{}", listener.local_addr().unwrap()));
    let model = HttpModel::new(Api::AnthropicMessages, "acme", "test-model", endpoint).unwrap();
    let (answer, may_answer) = std::sync::mpsc::channel::<()>();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut part = [0; 4096];
        while !request.ends_with(b"}") {
            let read = stream.read(&mut part).unwrap();
            request.extend_from_slice(&part[..read]);
        }
        may_answer.recv().unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            .unwrap();
        String::from_utf8(request).unwrap()
    });
    let sent = run(async {
        let mut prepared = model
            .prepare(&Conversation::saying("hi").request())
            .unwrap();
        let gone_out = CancellationToken::new();
        prepared.gone_out = Some(gone_out.clone());
        let length = prepared.body.len();
        let sending = model.send(prepared, CancellationToken::new());
        let telling = async {
            // The server answers only after this was told.
            gone_out.cancelled().await;
            answer.send(()).unwrap();
        };
        let (answered, ()) = tokio::join!(sending, telling);
        assert!(answered.is_err());
        length
    });
    let request = server.join().unwrap().to_lowercase();
    assert!(
        request.contains(&format!("\r\ncontent-length: {sent}\r\n")),
        "{request}"
    );
}
