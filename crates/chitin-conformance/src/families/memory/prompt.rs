//! Memory: what the prompt says about it.

use crate::{Check, Outcome};
use chitin_context::FragmentOrigin;
use chitin_context::sections::{Placed, PromptFacts, ReplyCitations, ToolFact, sections};
use serde_json::{Value, json};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = prompt_section(check);
    if actual["present"] == false {
        // There is nothing that the other fields could describe.
        return Outcome::judge(&check.expected["present"], &actual["present"]);
    }
    Outcome::judge(check.expected, &actual)
}

/// Describes the section on memory. The recorded programs end a section with an empty line of its own, which joining
/// leaves out again; here whoever joins sections separates them, so that line is added.
fn prompt_section(check: &Check<'_>) -> Value {
    let tools = check.input["availableTools"].as_array();
    let facts = PromptFacts {
        tools: tools
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|name| ToolFact {
                name: name.into(),
                summary: "".into(),
            })
            .collect(),
        citations: match check.input["citationsMode"].as_str() {
            Some("off") => ReplyCitations::Hidden,
            _ => ReplyCitations::Shown,
        },
        ..PromptFacts::default()
    };
    let section = sections(&check.contract.prompt, &facts)
        .into_iter()
        .find_map(|part| match part {
            Placed::Section(fragment)
                if fragment.origin
                    == (FragmentOrigin::Section {
                        key: "memory-recall",
                    }) =>
            {
                Some(fragment.text())
            }
            Placed::Section(_) | Placed::Slot(_) => None,
        });
    let lines: Vec<&str> = section
        .iter()
        .flat_map(|section| section.split('\n').chain([""]))
        .collect();
    let mentions = |words: &str| section.as_ref().is_some_and(|text| text.contains(words));
    let mut told = json!({
        "present": section.is_some(),
        "heading": lines.first(),
        "lineCount": lines.len(),
        "lastLineBlank": lines.last().is_some_and(|line| line.is_empty()),
        "mentionsSourceFormat": mentions("Source: <path#line>"),
        "mentionsSearch": mentions("memory_search"),
        "mentionsGet": mentions("memory_get"),
    });
    // Of a section that is not there, a case may say no more than that.
    if let (None, Some(fields)) = (&section, told.as_object_mut()) {
        fields.retain(|key, _| key == "present" || check.expected.get(key).is_some());
    }
    told
}
