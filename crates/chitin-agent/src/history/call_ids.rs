//! Ids of calls as they are sent: each for one call only, in letters that the wire format takes (C56).
//!
//! Some servers give every call the same id. Paired by such ids a result would be taken for that of another call and dropped, so ids
//! are made unique before calls and results are paired. It depends on the messages alone: the same records give the same ids.

use super::view::result_id;
use chitin_contract::{CallIds, RepairRules, RepeatedIds};
use chitin_model::Api;
use chitin_protocol::message::{Block, Content, Message};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The longest id that is made.
const MOST: usize = 40;
/// What stands for an id without a letter or digit.
const NO_LETTERS: &str = "sanitizedtoolid";

/// How ids are written for one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallIdForm {
    alphanumeric: bool,
    /// Whether a call of the running turn is compared with the ids that were sent, not with those that are recorded.
    by_sent_ids: bool,
    /// Whether ids that Anthropic gave stay as they are.
    keeps_anthropic: bool,
}

impl CallIdForm {
    /// Returns the form for a model of a provider.
    pub fn of(rules: &RepairRules, api: Api, provider: &str) -> Self {
        let alphanumeric = match (rules.call_ids, api) {
            (CallIds::AsGiven, _)
            | (CallIds::Alphanumeric, Api::Ollama | Api::Offline | Api::Scripted) => false,
            // OpenAI wants its own ids of Responses back.
            (CallIds::Alphanumeric, Api::OpenaiResponses) => provider != "openai",
            (CallIds::Alphanumeric, Api::AnthropicMessages | Api::OpenaiCompletions) => true,
        };
        Self {
            alphanumeric,
            by_sent_ids: rules.repeated_ids == RepeatedIds::SentIds,
            keeps_anthropic: provider == "anthropic",
        }
    }
}

/// Gives every call an id of its own, and every result that of its call. The first `earlier` messages are of earlier turns.
pub(super) fn make_unique(messages: &mut [Message], earlier: usize, form: CallIdForm) {
    if form.by_sent_ids {
        // Ids that are sent stay as they are when they are looked at once more.
        rewrite(&mut messages[..earlier], form);
    }
    rewrite(messages, form);
}

fn rewrite(messages: &mut [Message], form: CallIdForm) {
    let mut ids = Ids {
        form,
        used: HashSet::new(),
        calls: HashMap::new(),
        strays: HashMap::new(),
    };
    for (at, message) in messages.iter_mut().enumerate() {
        match message {
            Message::Assistant(answer) => {
                let Content::Blocks(blocks) = &mut answer.content else {
                    continue;
                };
                for block in blocks {
                    if let Block::ToolCall(call) = block
                        && !call.id.is_empty()
                    {
                        call.id = ids.of_call(&call.id, at);
                    }
                }
            }
            Message::ToolResult(result) => {
                if let Some(id) = result_id(result).map(str::to_owned) {
                    result.tool_call_id = ids.of_result(&id);
                }
            }
            Message::User(_) | Message::Other(_) => {}
        }
    }
}

/// The calls of one id.
#[derive(Default)]
struct Calls {
    count: usize,
    /// Those without a result: the answer that they are in, and their new id.
    open: Vec<(usize, String)>,
}

struct Ids {
    form: CallIdForm,
    used: HashSet<String>,
    calls: HashMap<String, Calls>,
    strays: HashMap<String, usize>,
}

impl Ids {
    fn of_call(&mut self, id: &str, answer: usize) -> String {
        let calls = self.calls.entry(id.to_owned()).or_default();
        calls.count += 1;
        let count = calls.count;
        let new = self.allot(id, count);
        if let Some(calls) = self.calls.get_mut(id) {
            calls.open.push((answer, new.clone()));
        }
        new
    }

    /// A result belongs to the newest answer that waits for one of its id; of several calls in it, to the first.
    fn of_result(&mut self, id: &str) -> String {
        let open = self.calls.get_mut(id).map(|calls| &mut calls.open);
        let newest = open.and_then(|open| {
            let (answer, _) = *open.last()?;
            let first = open.iter().position(|(other, _)| *other == answer)?;
            Some(open.remove(first).1)
        });
        if let Some(new) = newest {
            return new;
        }
        let strays = self.strays.entry(id.to_owned()).or_default();
        *strays += 1;
        let seed = format!("{id}:tool_result:{strays}");
        self.allot(&seed, 1)
    }

    fn allot(&mut self, id: &str, count: usize) -> String {
        let keeps = !self.form.alphanumeric || self.form.keeps_anthropic && is_anthropic(id);
        let new = if count == 1 && keeps && !self.used.contains(id) {
            id.to_owned()
        } else if self.form.alphanumeric {
            let seed = if count == 1 {
                id.to_owned()
            } else {
                format!("{id}:{count}")
            };
            self.alphanumeric(&seed)
        } else {
            self.numbered(id, count)
        };
        self.used.insert(new.clone());
        new
    }

    /// As the releases make them.
    fn alphanumeric(&self, seed: &str) -> String {
        let letters: String = if is_kimi(seed) {
            seed.to_owned()
        } else {
            seed.chars().filter(char::is_ascii_alphanumeric).collect()
        };
        let letters = if letters.is_empty() {
            NO_LETTERS
        } else {
            &letters
        };
        let base = head(letters, MOST);
        if !self.used.contains(base) {
            return base.to_owned();
        }
        let hash = short_hash(seed);
        let candidate = format!("{}{hash}", head(base, MOST - hash.len()));
        let numbered = (2..).map(|number| {
            let suffix = format!("x{number}");
            format!("{}{suffix}", head(&candidate, MOST - suffix.len()))
        });
        let mut candidates = std::iter::once(candidate.clone()).chain(numbered);
        candidates
            .find(|one| !self.used.contains(one))
            .unwrap_or_default()
    }

    /// An id with a number. Only the first half of an id of Responses is the call's.
    fn numbered(&self, id: &str, count: usize) -> String {
        let (call, item) = match id.split_once('|') {
            Some((call, item)) => (call, format!("|{item}")),
            None => (id, String::new()),
        };
        let mut candidates = (count.max(2)..).map(|number| {
            let suffix = format!("_{number}");
            format!("{}{suffix}{item}", head(call, MOST - suffix.len()))
        });
        candidates
            .find(|one| !self.used.contains(one))
            .unwrap_or_default()
    }
}

/// Returns the first bytes of a text, a whole number of characters.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev();
    let end = end.into_iter().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or_default()]
}

fn short_hash(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..4])
}

/// Tells whether Anthropic gave an id.
fn is_anthropic(id: &str) -> bool {
    id.strip_prefix("toolu_").is_some_and(|rest| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !rest.is_empty() && rest.bytes().all(fits)
    })
}

/// Tells whether an id is one of Kimi's, which wants them back: `functions.read:0`.
fn is_kimi(id: &str) -> bool {
    let parts = id
        .strip_prefix("functions.")
        .and_then(|rest| rest.rsplit_once(':'));
    parts.is_some_and(|(name, number)| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        !name.is_empty()
            && name.bytes().all(fits)
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
