//! A conversation of years: a turn holds what it may send of it, however long the transcript is.
#![expect(clippy::print_stdout, reason = "figures for whoever runs it by hand")]

use super::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long the long transcript is, in megabytes. `CHITIN_TEST_TRANSCRIPT_MB=200` looks longer.
fn megabytes() -> usize {
    let given = std::env::var("CHITIN_TEST_TRANSCRIPT_MB").ok();
    given.map_or(20, |megabytes| megabytes.parse().unwrap())
}

/// Makes the session's transcript so long, with turns that were never put into a summary.
fn lengthen(talk: &Talk, megabytes: usize) {
    let path = talk.transcript_file();
    let before = std::fs::read_to_string(&path).unwrap();
    let header = before.lines().next().unwrap();
    let mut file = BufWriter::new(std::fs::File::create(&path).unwrap());
    writeln!(file, "{header}").unwrap();
    let mut parent: Option<String> = None;
    let (mut written, mut number) = (0, 0);
    while written < megabytes * 1_000_000 {
        let mut lines = String::new();
        let plank = format!("plank {number} ");
        let call = format!("call-{number}");
        let mut add = |message: Value| {
            number += 1;
            let id = format!("{number:08x}");
            let record = json!({
                "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T09:00:00.000Z", "message": message,
            });
            writeln!(lines, "{record}").unwrap();
            parent = Some(id);
        };
        add(
            json!({"role": "user", "content": format!("Count {}", plank.repeat(40)), "timestamp": 1}),
        );
        add(json!({
            "role": "assistant", "stopReason": "toolUse", "timestamp": 2,
            "content": [{"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "board.md"}}],
        }));
        let said = json!([{"type": "text", "text": "oak\n".repeat(400)}]);
        add(
            json!({"role": "toolResult", "toolCallId": call, "toolName": "read", "content": said, "isError": false, "timestamp": 3}),
        );
        add(json!({
            "role": "assistant", "stopReason": "stop", "timestamp": 4,
            "content": [{"type": "text", "text": plank.repeat(60)}],
        }));
        file.write_all(lines.as_bytes()).unwrap();
        written += lines.len();
    }
    file.flush().unwrap();
}

/// Runs a command to its end, and returns how long it took and the most memory that it had, in KiB.
fn measured(mut command: Command) -> (Duration, usize) {
    let began = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let words = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        most = most.max(words.unwrap_or(0));
        if let Some(ended) = child.try_wait().unwrap() {
            let mut said = Vec::new();
            std::io::Read::read_to_end(&mut child.stderr.take().unwrap(), &mut said).unwrap();
            assert!(ended.success(), "{}", text(&said));
            return (began.elapsed(), most);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn long_talk(megabytes: usize) -> Talk {
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"text": "Counted.", "times": 0})],
    );
    talk.answer("Hello");
    lengthen(&talk, megabytes);
    talk
}

#[test]
fn the_first_turn_on_a_long_transcript_holds_no_more_than_it_may_send() {
    let (short, long) = (long_talk(8), long_talk(megabytes()));
    let fresh = Talk::new(
        Format::Anthropic,
        &[json!({"text": "Counted.", "times": 0})],
    );
    let (_, of_new) = measured(fresh.command(&["-m", "Hello"]));
    let (_, little) = measured(short.command(&["-m", "And now?"]));
    let (took, much) = measured(long.command(&["-m", "And now?"]));
    println!(
        "{} MB: {took:?}, {much} KiB; 8 MB: {little} KiB; new: {of_new} KiB",
        megabytes()
    );
    // The program itself is larger while it is being developed.
    assert!(
        much <= of_new + 80 * 1024,
        "{much} KiB, {of_new} for a new one"
    );
    // However long it is.
    assert!(much <= little + little / 4, "{much} KiB, not {little}");

    let requests = long.server.requests();
    let last = text(&requests.last().unwrap().body);
    assert!(last.contains("And now?"), "{last}");
    assert!(last.len() < 1_000_000, "{}", last.len());
    // The newest turn stays word by word, and its answer is the last record.
    let messages = long.messages();
    let newest = &messages[messages.len() - 3]["content"][0]["text"];
    assert!(last.contains(&newest.as_str().unwrap()[..40]), "{newest}");
    let records = long.transcript();
    let summaries = records
        .iter()
        .filter(|record| record["type"] == "compaction");
    assert_eq!(summaries.count(), 1);

    // From then on there is a summary.
    long.answer("And then?");
    let last = text(&long.server.requests().last().unwrap().body);
    assert!(last.contains("<summary>"), "{last}");
    assert!(last.contains("And now?"), "{last}");
}

/// The turn of an earlier message is found, however long ago it was.
#[test]
fn what_a_short_and_a_long_transcript_send_is_the_same() {
    let sent: Vec<Value> = [6, megabytes()]
        .into_iter()
        .map(|megabytes| {
            let talk = long_talk(megabytes);
            talk.configure(json!({"history": {"turns": 3}}));
            talk.answer("And now?");
            let request = talk.server.requests().into_iter().next_back().unwrap();
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            body["messages"].as_array().unwrap().len().into()
        })
        .collect();
    assert_eq!(sent[0], sent[1]);
}
