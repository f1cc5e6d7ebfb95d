//! Prompt templates: names of persona values in double braces, and nothing more (rule P45).

use crate::canonical;
use serde_json::Value;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";
const ROOT: &str = "persona.";

/// Puts persona values in place of `{{ persona.… }}`. What is missing gives nothing; `\{{` gives a literal `{{`. One pass:
/// braces in a value stay as they are.
pub fn render(template: &str, persona: Option<&Value>) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find(OPEN) {
        let (before, braces) = rest.split_at(at);
        if let Some(escaped) = before.strip_suffix('\\') {
            text.push_str(escaped);
            text.push_str(OPEN);
            rest = &braces[OPEN.len()..];
            continue;
        }
        text.push_str(before);
        let inner = &braces[OPEN.len()..];
        let end = inner.find('}').unwrap_or(inner.len());
        if inner[end..].starts_with(CLOSE) {
            put(inner[..end].trim(), persona, &mut text);
            rest = &inner[end + CLOSE.len()..];
        } else {
            // Not a place after all; the next brace may begin one.
            text.push('{');
            rest = &braces[1..];
        }
    }
    text.push_str(rest);
    text
}

fn put(path: &str, persona: Option<&Value>, text: &mut String) {
    let Some((mut value, path)) = persona.zip(path.strip_prefix(ROOT)) else {
        return;
    };
    for name in path.split('.') {
        let next = match value {
            Value::Object(members) => members.get(name),
            Value::Array(items) => name.parse().ok().and_then(|at: usize| items.get(at)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        match next {
            Some(found) => value = found,
            None => return,
        }
    }
    show(value, text);
}

fn show(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => text.push_str(string),
        Value::Bool(_) | Value::Number(_) => text.push_str(&canonical::to_string(value)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                show(item, text);
            }
        }
        // A group of values has no text of its own.
        Value::Null | Value::Object(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn values_stand_where_their_names_stood() {
        let persona = json!({
            "name": "mira",
            "list": ["a", 1, true, ["b"], { "x": 1 }],
            "group": { "deep": 2.0 },
            "braces": "{{persona.name}}",
        });
        let shown = |template| render(template, Some(&persona));
        assert_eq!(
            shown("{{persona.name}}{{ persona.list }}"),
            "miraa, 1, true, b, "
        );
        assert_eq!(
            shown("{{persona.group.deep}}|{{persona.group}}|{{persona.list.0}}"),
            "2||a"
        );
        assert_eq!(
            shown("{{persona.braces}} \\{{persona.name}}"),
            "{{persona.name}} {{persona.name}}"
        );
        assert_eq!(
            shown("{{}} {{persona}} {{ persona.name } }} {{persona.name"),
            "  {{ persona.name } }} {{persona.name"
        );
        assert_eq!(render("{{persona.name}}!", None), "!");
    }

    proptest! {
        #[test]
        fn text_without_braces_is_never_touched(text in "[^{]*") {
            prop_assert_eq!(render(&text, None), text);
        }

        #[test]
        fn no_template_fails(text in "[{}\\\\ pers.on a]{0,80}") {
            let _ = render(&text, Some(&json!({ "on": 1 })));
        }
    }
}
