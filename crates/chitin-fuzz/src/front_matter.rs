//! Front matter of skills by every contract, and what is left when it is taken off.

use crate::novelty;
use chitin_contract::SkillRules;
use chitin_workspace::front_matter::{is_unclosed, strip};
use chitin_workspace::skills::{
    CommandParts, Invocation, Metadata, commands_from_parts, find_invocation, parse_front_matter,
};
use std::collections::HashSet;

/// What front matter is made of.
pub const DICTIONARY: &[&str] = &[
    "---\n",
    "---",
    "\n---\n",
    "--- \r\n",
    "...\n",
    "\u{feff}",
    "name: ",
    "description: ",
    "metadata: ",
    "user-invocable: false\n",
    "command-dispatch: tool\n",
    "command-tool: x\n",
    "command-arg-mode: raw\n",
    "disable-model-invocation: true\n",
    "{\"openclaw\":{\"requires\":{\"bins\":[\"a\"],\"env\":[\"B\"]}}}",
    "{\"openclaw\":{\"install\":[{\"kind\":\"download\",\"url\":\"https://example.org/x.tar.gz\"}]}}",
    "os: [darwin]",
    ": ",
    " #",
    "- ",
    "? ",
    "|\n",
    ">-\n  ",
    "|2+\n",
    "&a ",
    "*a",
    "!!str ",
    "!<tag:x>",
    "%YAML 1.2\n",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\\u0041",
    "\\x",
    "\t",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\0",
    "~",
    "null",
    "0x1F",
    "0o17",
    "010",
    "1e309",
    ".nan",
    "-.inf",
    "12:30:45",
    "2026-01-01",
    "<<: *a",
    "__proto__: 1\n",
];

/// Reads the text as a whole SKILL.md, and as a block between fences.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check_strip(&text);
    let fenced = format!("---\n{text}\n---\nbody\n");
    check_strip(&fenced);
    for (at, contract) in chitin_contract::ALL.into_iter().enumerate() {
        // Contracts share sets of rules; each set is read once.
        let known = chitin_contract::ALL[..at]
            .iter()
            .any(|earlier| earlier.skills == contract.skills);
        if !known {
            check_reading(&text, &contract.skills);
            check_reading(&fenced, &contract.skills);
        }
    }
}

fn check_strip(text: &str) {
    let stripped = strip(text);
    assert!(text.ends_with(stripped), "something else than the end");
    assert!(!is_unclosed(text) || stripped == text, "an open block went");
    novelty::note((stripped.len() == text.len(), is_unclosed(text)));
}

fn check_reading(text: &str, rules: &SkillRules) {
    let parsed = match parse_front_matter(text, rules) {
        Ok(parsed) => parsed,
        Err(error) => {
            novelty::note(error.code);
            check_place(text, error.line, error.column);
            return;
        }
    };
    if let Some(error) = &parsed.tolerated {
        novelty::note(error.code);
        check_place(text, error.line, error.column);
    }
    let values = parsed.values;
    let mut keys = HashSet::new();
    for (key, value) in values.iter() {
        assert!(keys.insert(key), "the key {key:?} twice");
        assert_eq!(values.get(key), Some(value));
    }
    let metadata = Metadata::read(&values, rules);
    let shape = metadata.as_ref().map(|metadata| {
        metadata.as_ref().map(|metadata| {
            (
                metadata.install.as_ref().map(|i| i.len().min(3)),
                metadata.os.is_some(),
                metadata.requires.is_some(),
            )
        })
    });
    novelty::note((values.iter().count().min(6), shape.ok()));
    let invocation = Invocation::from_front_matter(&values);
    novelty::note((
        invocation.user_invocable,
        invocation.disable_model_invocation,
    ));
    let name = values.get("name").unwrap_or("x");
    let parts = || CommandParts {
        name,
        description: values.get("description").unwrap_or_default(),
        front_matter: &values,
    };
    // `/skill` itself is the word that asks for a skill by its name.
    let reserved = ["help", "skill"];
    let commands = commands_from_parts([parts(), parts(), parts()], &reserved, rules);
    let names: HashSet<_> = commands.iter().map(|command| &command.name).collect();
    assert_eq!(names.len(), commands.len(), "two commands of one name");
    let _ = find_invocation(text, &commands);
    for command in &commands {
        assert!(
            find_invocation(&format!("/{} a b", command.name), &commands).is_some(),
            "the command {:?} is not found by its name",
            command.name
        );
    }
}

fn check_place(text: &str, line: usize, column: usize) {
    // Every convention of what ends a line gives at most one line per character.
    let most = text.chars().count() + 2;
    assert!((1..=most).contains(&line), "line {line}");
    assert!((1..=most).contains(&column), "column {column}");
}
