//! What the tools say to the model.

use crate::notes::{asked, indexed};
use chitin_contract::MemoryRules;
use chitin_memory::answer::{
    SearchNotes, get_json, get_schema, search_json, search_schema, unavailable_json,
};
use chitin_memory::cite::Citations;
use chitin_memory::read::{Window, window};
use serde_json::json;

const OWN: MemoryRules = MemoryRules::CANONICAL;

fn told(session_key: &str) -> SearchNotes<'_> {
    SearchNotes {
        citations: Citations::Auto,
        session_key,
        provider: None,
        model: None,
    }
}

#[test]
fn a_search_by_words_says_what_it_found_where_and_how() {
    let notes = [("memory/tea.md", "Tea is in the left cupboard.\n")];
    let index = indexed(&notes, &OWN);
    let answer = asked(&index, "tea cupboard", &OWN);
    let json = search_json(&answer, &told("agent:main:main"), &OWN);
    let hit = &json["results"][0];
    assert_eq!(hit["path"], "memory/tea.md");
    assert_eq!(hit["citation"], "memory/tea.md#L1-L2");
    assert_eq!(
        hit["snippet"],
        "Tea is in the left cupboard.\n\nSource: memory/tea.md#L1-L2"
    );
    assert_eq!(json["mode"], "lexical");
    assert!(
        json["note"]
            .as_str()
            .unwrap()
            .starts_with("Searched by words only")
    );
    assert_eq!(json["debug"], json!({ "backend": "builtin", "hits": 1 }));
    let shared = search_json(&answer, &told("agent:main:x:group:1"), &OWN);
    assert_eq!(shared["results"][0].get("citation"), None);
}

#[test]
fn what_cannot_be_searched_says_so_and_what_to_do() {
    let json = unavailable_json("The provider is away.");
    assert_eq!(json["results"], json!([]));
    assert_eq!(json["error"], "The provider is away.");
    assert!(json["action"].as_str().is_some());
}

#[test]
fn a_window_and_a_refusal_have_the_shape_of_their_release() {
    for (rules, has_status) in [
        (MemoryRules::OPENCLAW_2026_4, false),
        (MemoryRules::OPENCLAW_2026_9, true),
        (OWN, true),
    ] {
        let shown = window("one\ntwo\n", "MEMORY.md", Window::default(), &rules.reading);
        let json = get_json("MEMORY.md", Ok(&shown), &rules);
        assert_eq!(json.get("status").is_some(), has_status);
        let refused = chitin_memory::read::MemoryReadError::NotMemory("AGENTS.md".to_owned());
        let json = get_json("AGENTS.md", Err(&refused), &rules);
        assert_eq!(json["text"], "");
        assert_eq!(json.get("code").is_some(), has_status);
        assert_eq!(json.get("disabled").is_some(), !has_status);
    }
}

#[test]
fn the_tools_ask_for_what_models_already_give_them() {
    let names = |schema: &serde_json::Value| -> Vec<String> {
        schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(
        names(&search_schema(&OWN)),
        ["query", "maxResults", "minScore", "corpus"]
    );
    assert_eq!(
        names(&get_schema(&OWN)),
        ["path", "from", "lines", "corpus"]
    );
}
