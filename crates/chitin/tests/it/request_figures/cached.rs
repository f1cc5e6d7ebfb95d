//! Where recalled memory goes, and what that costs: a recorded conversation by the cache rules of providers.

use super::{number, report};
use crate::run::{Talk, text};
use chitin_context::tokens::estimate;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What people ask, one topic after the other; a note fits each.
const TOPICS: [(&str, &str); 10] = [
    (
        "boiler",
        "Ada Quill fixed the boiler in the cellar and left the spare valve on the shelf",
    ),
    (
        "crane",
        "the crane is inspected every May by Tobias, who brings his own harness",
    ),
    (
        "larch",
        "the larch planks came from Orkney and must dry until the second frost",
    ),
    (
        "varnish",
        "the varnish is kept in the blue locker since the spill near the stairs",
    ),
    (
        "harmonium",
        "Gudrun tunes the harmonium and wants the window shut while she does",
    ),
    (
        "ledger",
        "the ledger of 2019 lies in the harbour office under the name of Ines",
    ),
    (
        "anchor",
        "the anchor chain was measured at forty fathoms, two of them rusty",
    ),
    (
        "telescope",
        "the telescope belongs to the school and goes back in September",
    ),
    (
        "beehive",
        "the beehive stands behind the sawmill and is visited only at dusk",
    ),
    (
        "compass",
        "the compass reads three degrees east of the truth near the winch",
    ),
];

/// The reply to each: long enough that a history grows as it does in a real conversation.
fn replies() -> Vec<Value> {
    let reply = "Here is what I know of it, and what I would do next, one thing after the other. ";
    let replies = TOPICS
        .iter()
        .map(|(topic, _)| json!({"text": format!("About the {topic}. {}", reply.repeat(24))}));
    replies.collect()
}

/// Talks about all topics; returns the requests, in order.
fn conversation(format: Format, place: &str) -> (Talk, Vec<Value>) {
    let talk = Talk::new(format, &replies());
    for (at, (_, note)) in TOPICS.iter().enumerate() {
        let note = format!("# Day {at}\n\n- {note}.\n");
        let file = format!("workspace/memory/2026-01-{:02}.md", at + 1);
        talk.env.file(&file, note);
    }
    talk.configure(json!({"memory": {
        "sources": ["memory"],
        "recall": {"place": place, "results": 1, "minScore": 0.05},
    }}));
    for (topic, _) in TOPICS {
        talk.answer(&format!("What do we know about the {topic}?"));
    }
    let requests = talk.server.requests();
    let bodies = requests
        .iter()
        .map(|request| serde_json::from_slice(&request.body).unwrap());
    let bodies: Vec<Value> = bodies.collect();
    assert_eq!(bodies.len(), TOPICS.len());
    (talk, bodies)
}

/// A part of a request in the order in which providers read them: tools, system prompt, conversation.
struct Part {
    text: String,
    /// Whether the request asks to cache up to here.
    breakpoint: bool,
}

fn parts(body: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut add = |value: &Value, role: &str| {
        let mut value = value.clone();
        let mark = value
            .as_object_mut()
            .and_then(|fields| fields.shift_remove("cache_control"));
        parts.push(Part {
            text: format!("{role}{value}"),
            breakpoint: mark.is_some(),
        });
    };
    for list in ["tools", "system"] {
        for block in body[list].as_array().into_iter().flatten() {
            add(block, "");
        }
    }
    for message in body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().for_each(|block| add(block, role)),
            // A text alone and a block of it are the same to the provider.
            text => add(&json!({"type": "text", "text": text}), role),
        }
    }
    parts
}

/// How a provider finds what it has read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheRule {
    /// Anthropic: up to a breakpoint of an earlier request, found at most 20 blocks before one of this request; from 1,024 tokens on.
    Breakpoints,
    /// OpenAI: the longest common beginning with an earlier request, from 1,024 tokens on, in steps of 128.
    Steps,
    /// Google, Gemini 3: the longest common beginning with an earlier request, from 4,096 tokens on.
    Long,
    /// Ollama and llama.cpp: the longest common beginning with the last request.
    Last,
}

impl CacheRule {
    /// Returns how many tokens of a request come from the cache.
    fn cached(self, now: &[Part], earlier: &[Vec<Part>]) -> usize {
        match self {
            Self::Breakpoints => {
                let reach =
                    |at: usize| (at..now.len().min(at + 20)).any(|near| now[near].breakpoint);
                let known = |at: usize| {
                    earlier.iter().any(|one| {
                        one.get(at).is_some_and(|part| part.breakpoint)
                            && one[..=at]
                                .iter()
                                .zip(&now[..=at])
                                .all(|(one, other)| one.text == other.text)
                    })
                };
                let found = (0..now.len()).rev().find(|at| reach(*at) && known(*at));
                let tokens = found.map_or(0, |at| tokens(&now[..=at]));
                if tokens < 1024 { 0 } else { tokens }
            }
            Self::Steps => {
                let most = earlier.iter().map(|one| common(one, now)).max();
                let tokens = most.unwrap_or_default();
                if tokens < 1024 { 0 } else { tokens / 128 * 128 }
            }
            Self::Long => {
                let most = earlier.iter().map(|one| common(one, now)).max();
                most.filter(|tokens| *tokens >= 4096).unwrap_or_default()
            }
            Self::Last => earlier.last().map_or(0, |one| common(one, now)),
        }
    }
}

fn joined(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

fn tokens(parts: &[Part]) -> usize {
    estimate(&joined(parts))
}

/// The tokens of what two requests begin with.
fn common(one: &[Part], other: &[Part]) -> usize {
    let (one, other) = (joined(one), joined(other));
    let mut pairs = one.char_indices().zip(other.chars());
    let end = pairs.find(|((_, one), other)| one != other);
    let end = end.map_or(one.len().min(other.len()), |((at, _), _)| at);
    estimate(one.get(..end).unwrap_or_default())
}

/// The text of a message in a transcript.
fn said_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap().to_owned(),
    }
}

/// How many tokens of each request are not from the cache.
fn read_again(rule: CacheRule, bodies: &[Value]) -> Vec<usize> {
    let requests: Vec<Vec<Part>> = bodies.iter().map(parts).collect();
    let each = requests.iter().enumerate();
    each.map(|(at, now)| tokens(now) - rule.cached(now, &requests[..at]))
        .collect()
}

/// The numbers of docs/memory.md. They depend a little on the length of the test's own path.
#[test]
fn recalled_memory_in_the_message_leaves_the_cached_conversation_alone() {
    let mut table = String::new();
    for (format, rule) in [
        (Format::Anthropic, CacheRule::Breakpoints),
        (Format::Completions, CacheRule::Steps),
        (Format::Completions, CacheRule::Long),
        (Format::Ollama, CacheRule::Last),
    ] {
        let (_, system) = conversation(format, "system");
        let (talk, message) = conversation(format, "message");
        let (in_system, in_message) = (read_again(rule, &system), read_again(rule, &message));
        let _ = writeln!(
            table,
            "{rule:?}\n  system  {in_system:?}\n  message {in_message:?}"
        );
        let later = |turns: &[usize]| turns[1..].iter().sum::<usize>();
        let (much, little) = (later(&in_system), later(&in_message));
        let sent: usize = message.iter().map(|body| tokens(&parts(body))).sum();
        let _ = writeln!(table, "  of {sent}: system {much}, message {little}");
        assert!(little * 3 < much, "{table}");
        // In the system prompt every turn reads more than the one before; in the message none depends on the history.
        assert!(
            in_system[2..].windows(2).all(|pair| pair[0] < pair[1]),
            "{table}"
        );
        assert!(
            in_message[1..].iter().all(|tokens| *tokens < 900),
            "{table}"
        );

        // What was sent is what later requests repeat: the transcript holds it.
        for pair in message.windows(2) {
            let (before, after) = (joined(&parts(&pair[0])), joined(&parts(&pair[1])));
            assert!(after.starts_with(&before), "the beginning stays the same");
        }
        let users = talk
            .messages()
            .into_iter()
            .filter(|one| one["role"] == "user");
        for ((topic, note), said) in TOPICS.iter().zip(users) {
            let said = said_text(&said["content"]);
            assert!(
                said.starts_with(&format!(
                    "What do we know about the {topic}?\n\n<<<BEGIN_OPENCLAW"
                )),
                "{said}"
            );
            assert!(
                said.contains("## Memory Search Results") && said.contains(note),
                "{said}"
            );
            assert!(
                said.ends_with("\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
                "{said}"
            );
        }
    }
    let written = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("recalled-memory.txt");
    std::fs::write(written, table).unwrap();
}

#[test]
fn context_says_what_each_place_for_recalled_memory_costs() {
    let (talk, _) = conversation(Format::Anthropic, "system");
    let ask = ["-m", "Who tunes the harmonium?"];
    let json = report(&talk.env, &ask);
    let recall = &json["recall"];
    assert_eq!(recall["place"], "system");
    let (tokens, history) = (
        number(&recall["tokens"]),
        number(&json["history"]["tokens"]),
    );
    assert_eq!(number(&recall["system"]["readAgain"]), tokens + history);
    assert_eq!(number(&recall["message"]["readAgain"]), tokens);
    let cost = |place: &str| number(&recall[place]["cost"]["nanodollars"]);
    assert!(cost("system") > 10 * cost("message"), "{recall}");

    let table = crate::process::chitin(&talk.env, &[&["context", "workspace"], &ask[..]].concat());
    let table = text(&table.stdout);
    assert!(table.contains("recalled memory: "), "{table}");
    assert!(
        table.contains("`memory.recall.place: \"message\"`"),
        "{table}"
    );

    talk.configure(json!({"memory": {"recall": {"place": "message", "minScore": 0.05}}}));
    let moved = report(&talk.env, &ask);
    assert_eq!(moved["recall"]["place"], "message");
    let cached = |json: &Value| number(&json["model"]["costCached"]["nanodollars"]);
    assert!(
        cached(&moved) < cached(&json),
        "the history comes from the cache"
    );
    let prompt = crate::process::chitin(
        &talk.env,
        &[&["context", "workspace", "--text"], &ask[..]].concat(),
    );
    assert!(!text(&prompt.stdout).contains("Memory Search Results"));
}

/// What was recalled for a message is no part of what was said, and is not found again as if it were.
#[test]
fn what_was_recalled_is_not_remembered_as_part_of_the_conversation() {
    let script = [json!({"text": "Noted."}), json!({"text": "Well."})];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.env.file(
        "workspace/memory/2026-01-01.md",
        "- Gudrun tunes the harmonium.\n",
    );
    talk.configure(json!({"memory": {"recall": {"place": "message", "minScore": 0.05}}}));
    talk.answer("Is the harmonium in tune?");
    let stored = talk.messages()[0]["content"].to_string();
    assert!(stored.contains("Gudrun"), "{stored}");
    let arguments = ["run", "workspace", "--new", "-m", "something else entirely"];
    assert!(
        crate::process::chitin(&talk.env, &arguments)
            .status
            .success()
    );
    let found = crate::process::chitin(
        &talk.env,
        &["--json", "memory", "search", "harmonium", "workspace"],
    );
    let found = text(&found.stdout);
    assert!(
        found.contains("Gudrun"),
        "the note itself is found: {found}"
    );
    let json: Value = serde_json::from_str(&found).unwrap();
    let results = json["results"].as_array().unwrap().iter();
    for result in results.filter(|result| result["source"] == "sessions") {
        assert!(!result.to_string().contains("Gudrun"), "{result}");
    }
}
