//! What the tools `memory_search` and `memory_get` answer, and what they ask for (M43, M50, M53).

use crate::cite::{self, Citations};
use crate::read::{MemoryReadError, ReadWindow};
use crate::search::{SearchMode, SearchResults, shown};
use crate::{chunk, compat, rank};
use chitin_contract::{
    AnswerCorpus, AnswerMode, AnswerOrder, CuratedFiles, MemoryRules, WindowAnswer,
};
use serde_json::{Map, Value, json};

/// What a search is told about besides its hits.
#[derive(Debug, Clone, Copy)]
pub struct SearchNotes<'a> {
    /// When places are cited.
    pub citations: Citations,
    /// Where the answer goes.
    pub session_key: &'a str,
    /// What texts are made vectors with; none if nothing is configured.
    pub provider: Option<&'a str>,
    /// The model of that provider.
    pub model: Option<&'a str>,
}

/// Returns one result as a tool tells it.
pub fn hit_json(
    hit: &rank::Hit,
    told: &SearchNotes<'_>,
    mode: SearchMode,
    rules: &MemoryRules,
) -> Value {
    let piece = &hit.piece;
    let text = shown(&piece.text);
    let text = match rules.chunks.curated {
        CuratedFiles::ByEntry if chunk::is_curated(&piece.path) => chunk::without_remarks(text),
        CuratedFiles::ByEntry | CuratedFiles::LikeOthers => text.into(),
    };
    let mut fields = Map::new();
    fields.insert("path".into(), piece.path.as_str().into());
    fields.insert("startLine".into(), piece.start_line.into());
    fields.insert("endLine".into(), piece.end_line.into());
    fields.insert("score".into(), hit.score.into());
    if let (SearchMode::Lexical, Some(text_score)) = (mode, hit.text_score) {
        fields.insert("textScore".into(), text_score.into());
    }
    fields.insert("snippet".into(), text.into_owned().into());
    fields.insert("source".into(), piece.source.name().into());
    let cited = cited_json(Value::Object(fields), told, rules);
    match (cited, rules.answers.corpus) {
        (Value::Object(mut fields), AnswerCorpus::ToolOnly) => {
            fields.insert("corpus".into(), piece.source.name().into());
            Value::Object(fields)
        }
        (cited, _) => cited,
    }
}

/// Adds to a result where it is from, and if that is shown, its citation.
pub fn cited_json(result: Value, told: &SearchNotes<'_>, rules: &MemoryRules) -> Value {
    let Value::Object(mut fields) = result else {
        return result;
    };
    match rules.answers.corpus {
        AnswerCorpus::Always => {
            let source = fields.get("source").cloned().unwrap_or_default();
            fields.insert("corpus".into(), source);
        }
        AnswerCorpus::ToolOnly => {}
    }
    if told.citations.are_shown(told.session_key) {
        let line = |name: &str| {
            let line = fields.get(name).and_then(Value::as_u64).unwrap_or(1);
            u32::try_from(line).unwrap_or(u32::MAX)
        };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let citation = cite::citation(text("path"), line("startLine"), line("endLine"));
        let snippet = cite::cited(text("snippet"), &citation);
        fields.insert("snippet".into(), snippet.into());
        fields.insert("citation".into(), citation.into());
    }
    Value::Object(fields)
}

/// Returns what `memory_search` answers.
pub fn search_json(answer: &SearchResults, told: &SearchNotes<'_>, rules: &MemoryRules) -> Value {
    let mut hits: Vec<&rank::Hit> = answer.hits.iter().collect();
    match rules.answers.order {
        AnswerOrder::Kept => {}
        AnswerOrder::ByScoreThenPath => hits.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.piece.path.cmp(&b.piece.path))
        }),
    }
    let results: Vec<Value> = hits
        .into_iter()
        .map(|hit| hit_json(hit, told, answer.mode, rules))
        .collect();
    let count = results.len();
    let mut fields = Map::new();
    fields.insert("results".into(), results.into());
    let provider = match answer.mode {
        SearchMode::Lexical => compat::NO_PROVIDER,
        SearchMode::Hybrid => told.provider.unwrap_or(compat::NO_PROVIDER),
    };
    fields.insert("provider".into(), provider.into());
    if let (SearchMode::Hybrid, Some(model)) = (answer.mode, told.model) {
        fields.insert("model".into(), model.into());
    }
    fields.insert("citations".into(), told.citations.name().into());
    if rules.answers.mode == AnswerMode::Said {
        fields.insert("mode".into(), answer.mode.name().into());
        let note = note(answer);
        if !note.is_empty() {
            fields.insert("note".into(), note.into());
        }
    }
    fields.insert(
        "debug".into(),
        json!({ "backend": compat::BACKEND, "hits": count }),
    );
    Value::Object(fields)
}

/// Says how it was searched, if that is worth a word.
fn note(answer: &SearchResults) -> String {
    if answer.notes.is_empty() && answer.mode == SearchMode::Lexical {
        return "Searched by words only: other words for the same thing may find more.".to_owned();
    }
    answer.notes.join(" ")
}

/// Returns what `memory_search` answers when it cannot search. `why` is a sentence.
pub fn unavailable_json(why: &str) -> Value {
    json!({
        "results": [],
        "disabled": true,
        "unavailable": true,
        "error": why,
        "warning": "Memory cannot be searched right now. Say so if the answer depends on it.",
        "action": compat::UNAVAILABLE_ACTION,
        "debug": {},
    })
}

/// Returns what `memory_get` answers. `path` is what was asked for.
pub fn get_json(
    path: &str,
    read: Result<&ReadWindow, &MemoryReadError>,
    rules: &MemoryRules,
) -> Value {
    let error = match read {
        Ok(window) => return serde_json::to_value(window).unwrap_or_default(),
        Err(error) => error,
    };
    let message = error.message(&rules.reading);
    match rules.answers.windows {
        WindowAnswer::Bare => json!({
            "path": path,
            "text": "",
            "disabled": true,
            "error": message,
        }),
        WindowAnswer::WithStatus => {
            let code = match error {
                MemoryReadError::NoPath
                | MemoryReadError::NotMemory(_)
                | MemoryReadError::NotAFile(_) => compat::PATH_NOT_ALLOWED,
                MemoryReadError::TooLarge(_) | MemoryReadError::Unreadable(_) => {
                    compat::READ_FAILED
                }
            };
            json!({
                "path": path,
                "text": "",
                "status": "error",
                "code": code,
                "error": message,
            })
        }
    }
}

/// Returns what `memory_search` asks for, as a JSON schema.
pub fn search_schema(rules: &MemoryRules) -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What to look for, in the words in which it may have been written down." },
            "maxResults": { "type": "integer", "minimum": 1, "description": "How many results at most." },
            "minScore": { "type": "number", "description": "The least score, from 0 to 1." },
            "corpus": { "type": "string", "enum": rules.answers.corpora, "description": "Where to look." },
        },
        "required": ["query"],
    })
}

/// Returns what `memory_get` asks for, as a JSON schema.
pub fn get_schema(rules: &MemoryRules) -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "The file, as a search gave it." },
            "from": { "type": "integer", "minimum": 1, "description": "The first line." },
            "lines": { "type": "integer", "minimum": 1, "description": "How many lines at most." },
            "corpus": { "type": "string", "enum": rules.answers.corpora, "description": "Where the file is from." },
        },
        "required": ["path"],
    })
}
