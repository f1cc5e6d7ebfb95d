//! From the value to the bytes of the page.

use super::{Cache, FileState, FileView, FragmentView, Page, RequestPart, View};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

/// The parts of the one script, in the order in which they are joined.
const SCRIPTS: [&str; 10] = [
    include_str!("script/model.js"),
    include_str!("script/treemap.js"),
    include_str!("script/diff.js"),
    include_str!("script/viewer.js"),
    include_str!("script/search.js"),
    include_str!("script/header.js"),
    include_str!("script/map.js"),
    include_str!("script/panel.js"),
    include_str!("script/compare.js"),
    include_str!("script/page.js"),
];

/// Returns the whole document.
pub(super) fn document(page: &Page) -> String {
    // A browser hashes what it parsed, and parsing turns CR LF into LF.
    let style = STYLE.replace('\r', "");
    let script = SCRIPTS.join("\n").replace('\r', "");
    let data = script_safe(&embedded(page));
    let policy = policy(&style, &script);
    fill(TEMPLATE, |slot| match slot {
        "policy" => policy.clone(),
        "title" => escape(&page.title),
        "generator" => escape(&page.generator),
        "style" => style.clone(),
        "tables" => page.views.iter().map(table).collect(),
        "data" => data.clone(),
        "script" => script.clone(),
        _ => String::new(),
    })
}

/// Fills each `{{slot}}` of the template, in one pass, so that no value is taken for a slot.
fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((slot, behind)) = after.split_once("}}") else {
            break;
        };
        out.push_str(before);
        out.push_str(&value(slot));
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Says what the page may do: run this script and use this style, and nothing else.
fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        source_hash(script),
        source_hash(style)
    )
}

/// Returns the hash by which a content security policy names an inline text.
pub(super) fn source_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4 {
            if position <= chunk.len() {
                let index = (group >> (18 - 6 * position)) & 0x3f;
                out.push(char::from(ALPHABET[index as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// Returns the page as JSON with every distinct text stored once: contracts differ little in what they send.
fn embedded(page: &Page) -> String {
    let mut texts = Texts::default();
    let mut value = serde_json::to_value(page).unwrap_or_default();
    texts.take_from(&mut value);
    json!({ "strings": texts.list, "page": value }).to_string()
}

#[derive(Default)]
struct Texts {
    list: Vec<Value>,
    places: HashMap<String, usize>,
}

impl Texts {
    /// Replaces every `text` member by its place in the list.
    fn take_from(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.take_from(item)),
            Value::Object(members) => self.take_from_members(members),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn take_from_members(&mut self, members: &mut Map<String, Value>) {
        for (name, member) in members {
            match member {
                Value::String(text) if name == "text" => {
                    let place = self.place(std::mem::take(text));
                    *member = Value::from(place);
                }
                _ => self.take_from(member),
            }
        }
    }

    fn place(&mut self, text: String) -> usize {
        if let Some(&place) = self.places.get(&text) {
            return place;
        }
        let place = self.list.len();
        self.list.push(Value::from(text.clone()));
        self.places.insert(text, place);
        place
    }
}

/// Writes JSON so that nothing in it can end the script element that it stands in.
///
/// These characters occur in JSON only inside strings, where an escape means the same.
fn script_safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(character),
        }
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
    out
}

/// The table of one view, for a browser that runs no script.
fn table(view: &View) -> String {
    let parts = view.fragments.iter().map(part_row);
    let absent = view.files.iter().filter(|file| file.fragment.is_none());
    let beside = view.request.parts.iter().map(beside_row);
    let rows: String = parts.chain(beside).chain(absent.map(absent_row)).collect();
    format!(
        "<table><caption>{} · {} tokens ({})</caption><thead><tr><th scope=\"col\">Part</th><th scope=\"col\">Cache</th>\
         <th scope=\"col\">On disk</th><th scope=\"col\">Sent</th><th scope=\"col\">What happened</th></tr></thead>\
         <tbody>{rows}</tbody></table>\n",
        escape(&view.label),
        view.request.size.tokens,
        escape(&view.tokens_basis),
    )
}

fn beside_row(part: &RequestPart) -> String {
    let tokens = part
        .tokens
        .map_or_else(|| "unknown".to_owned(), |tokens| tokens.to_string());
    format!(
        "<tr><th scope=\"row\">{}</th><td></td><td></td><td>{tokens}</td><td>{}</td></tr>",
        escape(&part.name),
        escape(&part.note),
    )
}

fn part_row(fragment: &FragmentView) -> String {
    let cache = match fragment.cache {
        Cache::Stable => "stable",
        Cache::Session => "session",
        Cache::Dynamic => "dynamic",
    };
    let sizes = (fragment.raw.tokens, fragment.injected.tokens);
    row(
        &fragment.title,
        cache,
        sizes,
        &fragment.decision,
        &fragment.reason,
    )
}

fn absent_row(file: &FileView) -> String {
    let state = match file.state {
        FileState::Whole => "whole",
        FileState::Cut => "cut",
        FileState::Missing => "missing",
        FileState::Refused => "refused",
        FileState::LeftOut => "left out",
    };
    row(&file.name, "", (file.raw.tokens, 0), state, &file.reason)
}

fn row(name: &str, cache: &str, (raw, sent): (usize, usize), fate: &str, reason: &str) -> String {
    let colon = if reason.is_empty() { "" } else { ": " };
    format!(
        "<tr><th scope=\"row\">{}</th><td>{cache}</td><td>{raw}</td><td>{sent}</td><td>{}{colon}{}</td></tr>",
        escape(name),
        escape(fate),
        escape(reason),
    )
}
