//! Memory: what the prompt says about it.

use crate::{Check, Outcome};
use chitin_context::Origin;
use chitin_context::sections::{Citations, Placed, PromptFacts, ToolFact, sections};
use serde_json::{Value, json};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    match check.case.op.as_str() {
        "memory.promptSection" => {
            let actual = prompt_section(check);
            if actual["present"] == false {
                // There is nothing that the other fields could describe.
                return Outcome::judge(&check.expected["present"], &actual["present"]);
            }
            Outcome::judge(check.expected, &actual)
        }
        _ => Outcome::NotYet,
    }
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
            Some("off") => Citations::Hidden,
            _ => Citations::Shown,
        },
        ..PromptFacts::default()
    };
    let section = sections(&check.contract.prompt, &facts)
        .into_iter()
        .find_map(|part| match part {
            Placed::Section(fragment)
                if fragment.origin
                    == (Origin::Section {
                        key: "memory-recall",
                    }) =>
            {
                Some(fragment.text())
            }
            Placed::Section(_) | Placed::Slot(_) => None,
        });
    let Some(section) = section else {
        return json!({ "present": false });
    };
    let lines: Vec<&str> = section.split('\n').chain([""]).collect();
    json!({
        "present": true,
        "heading": lines.first(),
        "lineCount": lines.len(),
        "lastLineBlank": lines.last().is_some_and(|line| line.is_empty()),
        "mentionsSourceFormat": section.contains("Source: <path#line>"),
        "mentionsSearch": section.contains("memory_search"),
        "mentionsGet": section.contains("memory_get"),
    })
}
