//! Finding, ordering, citing, and what the tools answer.
#![expect(
    clippy::disallowed_methods,
    reason = "the runner reads the corpus of its cases"
)]

use crate::families::context::shortened;
use crate::{Check, Outcome, tree};
use anyhow::{Context, Result};
use chitin_contract::{MemoryRules, RankingSwitch, WithoutVectors};
use chitin_guard::Root;
use chitin_memory::answer::{self, SearchNotes};
use chitin_memory::chunk::{self, ChunkOptions};
use chitin_memory::cite::Citations;
use chitin_memory::index::{Index, IndexedFile, NewPiece, Shape};
use chitin_memory::rank::{self, Hit, RankCandidate, ScorePart};
use chitin_memory::read::{self, Window};
use chitin_memory::search::{
    self, ChunkSource, FoundChunk, MemoryChunk, SearchRequest, SearchResults,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use tempfile::TempDir;

/// Stands for words that are the program's own.
const ANY_MESSAGE: &str = "{MESSAGE}";

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let rules = &check.contract.runtime.memory;
    let (actual, tolerance) = match check.case.op.as_str() {
        "memory.hybrid" => (hybrid(check.input, rules), 1e-6),
        "memory.mmr" => (mmr(check.input, rules), 1e-6),
        "memory.citations" => (citations(check.input, rules), 1e-6),
        "memory.search" => (found(check, rules), 1e-3),
        "memory.tool" => (tool(check, rules), 1e-3),
        _ => return Outcome::NotYet,
    };
    match actual {
        Ok(mut actual) => {
            alike(&mut actual, check.expected, tolerance);
            Outcome::judge(check.expected, &actual)
        }
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

/// Replaces scores by the recorded ones where they are as near as they have to be, and messages of ours by their placeholder.
fn alike(actual: &mut Value, expected: &Value, tolerance: f64) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (key, value) in actual {
                let Some(other) = expected.get(key) else {
                    continue;
                };
                match (value.as_f64(), other.as_f64()) {
                    (Some(a), Some(b)) if key.to_lowercase().ends_with("score") => {
                        if (a - b).abs() <= tolerance {
                            *value = other.clone();
                        }
                    }
                    _ if other == ANY_MESSAGE && value.is_string() => *value = other.clone(),
                    _ => alike(value, other, tolerance),
                }
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            for (value, other) in actual.iter_mut().zip(expected) {
                alike(value, other, tolerance);
            }
        }
        _ => {}
    }
}

fn text(value: &Value, key: &str) -> String {
    tree::text(&value[key]).unwrap_or_default()
}

fn line(value: &Value, key: &str) -> u32 {
    value[key]
        .as_u64()
        .and_then(|line| u32::try_from(line).ok())
        .unwrap_or_default()
}

fn time_ms(value: &Value) -> Result<i64> {
    let text = value.as_str().context("no time")?;
    Ok(text.parse::<jiff::Timestamp>()?.as_millisecond())
}

fn hybrid(input: &Value, rules: &MemoryRules) -> Result<Value> {
    let mut ids = HashMap::new();
    let mut piece = |value: &Value| {
        let next = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        MemoryChunk {
            id: *ids.entry(text(value, "id")).or_insert(next),
            source: ChunkSource::Memory,
            path: text(value, "path"),
            start_line: line(value, "startLine"),
            end_line: line(value, "endLine"),
            text: text(value, "snippet"),
            modified_ms: 0,
        }
    };
    let list = |key: &str| input[key].as_array().cloned().unwrap_or_default();
    let near = list("vector")
        .iter()
        .map(|value| FoundChunk {
            piece: piece(value),
            strength: value["vectorScore"].as_f64().unwrap_or_default(),
        })
        .collect();
    let words = list("keyword")
        .iter()
        .map(|value| {
            let score = value["textScore"].as_f64().unwrap_or_default();
            let mut hit = Hit::new(piece(value));
            hit.text_score = Some(score);
            hit.add(ScorePart::Text, score);
            hit
        })
        .collect();
    let fusion = chitin_contract::Fusion::WeightedSum {
        vector: input["vectorWeight"].as_f64().unwrap_or_default(),
        text: input["textWeight"].as_f64().unwrap_or_default(),
    };
    let ranking = &rules.ranking;
    let mut hits = rank::merge(near, words, fusion, ranking.cosine);
    if input["temporalDecay"]["enabled"] == true {
        let half_life = input["temporalDecay"]["halfLifeDays"]
            .as_f64()
            .unwrap_or(ranking.decay.half_life_days);
        let now = time_ms(&input["nowIso"])?;
        rank::decay(&mut hits, now, half_life, &ranking.decay);
    }
    rank::sort(&mut hits, ranking.ties);
    if input["mmr"]["enabled"] == true {
        let lambda = input["mmr"]["lambda"]
            .as_f64()
            .unwrap_or(ranking.diversity.lambda);
        let texts: Vec<RankCandidate<'_>> = hits
            .iter()
            .map(|hit| RankCandidate {
                score: hit.score,
                text: &hit.piece.text,
            })
            .collect();
        let order = rank::diverse(&texts, lambda, &ranking.diversity, usize::MAX, |_| true);
        hits = order.iter().map(|at| hits[*at].clone()).collect();
    }
    let results: Vec<Value> = hits
        .iter()
        .map(|hit| {
            json!({
                "path": hit.piece.path,
                "startLine": hit.piece.start_line,
                "endLine": hit.piece.end_line,
                "score": hit.score,
                "snippet": hit.piece.text,
            })
        })
        .collect();
    Ok(json!({ "results": results }))
}

fn mmr(input: &Value, rules: &MemoryRules) -> Result<Value> {
    let items = input["items"].as_array().context("no items")?;
    let texts: Vec<String> = items.iter().map(|item| text(item, "content")).collect();
    let candidates: Vec<RankCandidate<'_>> = items
        .iter()
        .zip(&texts)
        .map(|(item, text)| RankCandidate {
            score: item["score"].as_f64().unwrap_or_default(),
            text,
        })
        .collect();
    let diversity = &rules.ranking.diversity;
    let is_on = input["config"]["enabled"]
        .as_bool()
        .unwrap_or(diversity.default == RankingSwitch::On);
    let order = if is_on {
        let lambda = input["config"]["lambda"]
            .as_f64()
            .unwrap_or(diversity.lambda);
        rank::diverse(&candidates, lambda, diversity, usize::MAX, |_| true)
    } else {
        (0..items.len()).collect()
    };
    let order: Vec<&Value> = order.iter().map(|at| &items[*at]["id"]).collect();
    Ok(json!({ "order": order }))
}

fn told(input: &Value) -> SearchNotes<'_> {
    SearchNotes {
        citations: Citations::of_name(input["mode"].as_str().unwrap_or_default()),
        session_key: input["sessionKey"].as_str().unwrap_or_default(),
        provider: None,
        model: None,
    }
}

fn citations(input: &Value, rules: &MemoryRules) -> Result<Value> {
    let told = told(input);
    let results: Vec<Value> = input["results"]
        .as_array()
        .context("no results")?
        .iter()
        .map(|result| answer::cited_json(result.clone(), &told, rules))
        .collect();
    Ok(json!({
        "include": told.citations.are_shown(told.session_key),
        "results": results,
    }))
}

/// Reads the corpus that a case names.
fn corpus(check: &Check<'_>) -> Result<Value> {
    let name = text(check.input, "corpus");
    let cases = check.case.path.parent().context("no directory")?;
    let path = cases.join("../corpus").join(name).with_extension("json");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

fn files(corpus: &Value) -> impl Iterator<Item = (&str, &str)> {
    let files = corpus["files"].as_object().into_iter().flatten();
    files.filter_map(|(path, text)| Some((path.as_str(), text.as_str()?)))
}

fn searched(corpus: &Value, ask: &Value, rules: &MemoryRules) -> Result<SearchResults> {
    let mut rules = *rules;
    let decay = &mut rules.ranking.decay;
    match ask["temporalDecay"]["enabled"].as_bool() {
        Some(true) => decay.default = RankingSwitch::On,
        Some(false) => decay.default = RankingSwitch::Off,
        None => {}
    }
    if let Some(days) = ask["temporalDecay"]["halfLifeDays"].as_f64() {
        decay.half_life_days = days;
    }
    let rules = &rules;
    let mut index = Index::volatile_of(&Shape::new(rules.index))?;
    let options = ChunkOptions::configured(None, None, &rules.chunks);
    for (path, text) in files(corpus) {
        let chunks = chunk::of_file(path, text, options, &rules.chunks);
        let pieces: Vec<NewPiece<'_>> = chunks
            .iter()
            .map(|chunk| NewPiece {
                start_line: chunk.start_line,
                end_line: chunk.end_line,
                text: &chunk.text,
                heading: chunk.heading.as_deref(),
            })
            .collect();
        let file = IndexedFile {
            source: ChunkSource::Memory,
            path,
            modified_ms: 0,
        };
        index.put(&file, &pieces)?;
    }
    let query = text(ask, "query");
    let ask = SearchRequest {
        query: &query,
        max_results: ask["maxResults"]
            .as_u64()
            .and_then(|count| usize::try_from(count).ok()),
        min_score: ask["minScore"].as_f64(),
        now_ms: time_ms(&corpus["now"])?,
        ..SearchRequest::default()
    };
    Ok(search::search(&index, None, &ask, rules)?)
}

fn found(check: &Check<'_>, rules: &MemoryRules) -> Result<Value> {
    let answer = searched(&corpus(check)?, check.input, rules)?;
    let results: Vec<Value> = answer
        .hits
        .iter()
        .map(|hit| {
            json!({
                "path": hit.piece.path,
                "startLine": hit.piece.start_line,
                "endLine": hit.piece.end_line,
                "score": hit.score,
                "textScore": hit.text_score,
            })
        })
        .collect();
    Ok(json!({ "results": results }))
}

fn tool(check: &Check<'_>, rules: &MemoryRules) -> Result<Value> {
    let params = &check.input["params"];
    let corpus = corpus(check)?;
    let (name, schema, json) = if check.input["tool"] == "search" {
        let json = match rules.answers.without_vectors {
            // The recorded tool met a provider that failed.
            WithoutVectors::Unavailable => answer::unavailable_json("The provider failed."),
            WithoutVectors::Words => {
                let answer = searched(&corpus, params, rules)?;
                answer::search_json(&answer, &told(check.input), rules)
            }
        };
        (
            chitin_memory::compat::SEARCH_TOOL,
            answer::search_schema(rules),
            json,
        )
    } else {
        (
            chitin_memory::compat::GET_TOOL,
            answer::get_schema(rules),
            got(&corpus, params, rules)?,
        )
    };
    let keys = |value: &Value| -> Vec<String> {
        let fields = value.as_object();
        fields
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect()
    };
    Ok(json!({
        "schema": {
            "name": name,
            "properties": keys(&schema["properties"]),
            "required": schema["required"],
        },
        "resultKeys": keys(&json),
        "json": shortened(&json),
    }))
}

fn got(corpus: &Value, params: &Value, rules: &MemoryRules) -> Result<Value> {
    let home = TempDir::new()?;
    tree::write_map(home.path(), &corpus["files"])?;
    let root = Root::open(home.path())?;
    let count = |key: &str| {
        params[key]
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
    };
    let window = Window {
        from: count("from"),
        lines: count("lines"),
        max_chars: None,
    };
    let path = text(params, "path");
    let read = read::read(&root, &[], &path, window, &rules.reading);
    Ok(answer::get_json(&path, read.as_ref(), rules))
}
