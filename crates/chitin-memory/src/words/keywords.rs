//! What is left of a question when everything that says nothing is gone (M21).

use super::korean;
use super::stop::{is_korean_stop_word, is_stop_word};
use chitin_contract::WordRules;
use chitin_protocol::text::is_js_whitespace;
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

/// How the index takes text apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tokenizer {
    /// At everything that is neither letter nor digit.
    #[default]
    Words,
    /// Into all runs of three characters, so that parts of words are found and pairs are not.
    Trigrams,
}

static PUNCTUATION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{P}").ok());

/// Nothing but punctuation and symbols.
static WORDLESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{P}\p{S}]+$").ok());

/// Returns the keywords of a question for an index of words.
pub fn keywords(query: &str, rules: &WordRules) -> Vec<String> {
    keywords_for(query, Tokenizer::Words, rules)
}

/// Returns the keywords of a question, in order, each once.
pub fn keywords_for(query: &str, tokenizer: Tokenizer, rules: &WordRules) -> Vec<String> {
    let query = query.to_lowercase();
    let mut tokens = Vec::new();
    for segment in query.split(is_separator).filter(|part| !part.is_empty()) {
        take_apart(segment, tokenizer, &mut tokens);
    }
    let mut seen = HashSet::new();
    tokens.retain(|token| {
        !is_stop_word(token, rules.stop_words) && is_keyword(token) && seen.insert(token.clone())
    });
    tokens
}

fn is_separator(c: char) -> bool {
    if c.is_ascii_alphanumeric() {
        return false;
    }
    is_js_whitespace(c)
        || PUNCTUATION
            .as_ref()
            .is_some_and(|class| class.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Tells whether a word that is no stop word says enough.
fn is_keyword(token: &str) -> bool {
    let is_short = token.len() < 3 && token.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = token.bytes().all(|byte| byte.is_ascii_digit());
    !is_short && !is_number && !WORDLESS.as_ref().is_some_and(|class| class.is_match(token))
}

/// Takes apart what stands between spaces, by the rules of the first script that it has: Japanese, Chinese, Korean.
fn take_apart(segment: &str, tokenizer: Tokenizer, tokens: &mut Vec<String>) {
    if segment.is_ascii() {
        tokens.push(segment.to_owned());
    } else if segment.chars().any(is_kana) {
        japanese(segment, tokenizer, tokens);
    } else if segment.chars().any(is_han) {
        chinese(segment, tokenizer, tokens);
    } else if segment.chars().any(korean::is_korean) {
        let stem = korean::stem(segment);
        if stem.is_some_and(is_korean_stop_word) {
            return;
        }
        tokens.push(segment.to_owned());
        tokens.extend(
            stem.filter(|stem| korean::is_telling(stem))
                .map(str::to_owned),
        );
    } else {
        tokens.push(segment.to_owned());
    }
}

const fn is_han(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}

const fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

fn chinese(segment: &str, tokenizer: Tokenizer, tokens: &mut Vec<String>) {
    let characters: Vec<char> = segment.chars().filter(|&c| is_han(c)).collect();
    match tokenizer {
        Tokenizer::Trigrams => tokens.push(characters.iter().collect()),
        Tokenizer::Words => {
            tokens.extend(characters.iter().map(char::to_string));
            tokens.extend(pairs(&characters));
        }
    }
}

/// The scripts that a Japanese word changes between.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Ascii,
    Katakana,
    Han,
    Hiragana,
    Other,
}

fn script(c: char) -> Script {
    match c {
        'a'..='z' | '0'..='9' | '_' => Script::Ascii,
        '\u{30a0}'..='\u{30ff}' => Script::Katakana,
        '\u{3040}'..='\u{309f}' => Script::Hiragana,
        c if is_han(c) => Script::Han,
        _ => Script::Other,
    }
}

fn japanese(segment: &str, tokenizer: Tokenizer, tokens: &mut Vec<String>) {
    let characters: Vec<char> = segment.chars().collect();
    for run in characters.chunk_by(|&a, &b| script(a) == script(b)) {
        let kind = script(run[0]);
        // One character of Hiragana is grammar.
        if kind == Script::Other || kind == Script::Hiragana && run.len() < 2 {
            continue;
        }
        tokens.push(run.iter().collect());
        if kind == Script::Han && tokenizer == Tokenizer::Words {
            tokens.extend(pairs(run));
        }
    }
}

fn pairs(characters: &[char]) -> impl Iterator<Item = String> {
    characters.windows(2).map(|pair| pair.iter().collect())
}
