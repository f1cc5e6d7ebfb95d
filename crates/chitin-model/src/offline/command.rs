//! The few lines that the offline model understands.

use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value};

/// How many tools one message may call.
const MOST_CALLS: usize = 8;

/// What the user wants.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Help,
    Say(String),
    Call(Vec<Wanted>),
    /// It looks like a command and is none.
    Unclear(String),
    None,
}

/// A call that the user wants.
#[derive(Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// Reads what the user wants.
pub(super) fn read(said: &str, tools: &[ToolSpec]) -> Command {
    let mut wanted = Vec::new();
    for line in said.lines().map(without_stamp) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let call = match word {
            "help" | "/help" if rest.is_empty() => return Command::Help,
            "say" if !rest.is_empty() => return Command::Say(rest.to_owned()),
            "call" => call_with_object(rest, tools),
            "use" => call_with_text(rest, tools),
            _ => continue,
        };
        match call {
            Some(Ok(call)) => wanted.push(call),
            Some(Err(complaint)) => return Command::Unclear(complaint),
            // `call me back` and the like.
            None => {}
        }
        if wanted.len() == MOST_CALLS {
            break;
        }
    }
    if wanted.is_empty() {
        Command::None
    } else {
        Command::Call(wanted)
    }
}

/// Takes the time off that some contracts put before a message, in brackets.
fn without_stamp(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
        .map_or(line, |(_, rest)| rest.trim_start())
}

fn call_with_object(rest: &str, tools: &[ToolSpec]) -> Option<Result<Wanted, String>> {
    let (name, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
    let arguments = arguments.trim();
    if !arguments.is_empty() && !arguments.starts_with('{') {
        return None;
    }
    if let Err(complaint) = known(name, tools)? {
        return Some(Err(complaint));
    }
    let read = if arguments.is_empty() {
        Ok(Value::Object(Map::new()))
    } else {
        serde_json::from_str(arguments)
    };
    Some(match read {
        Ok(arguments) => Ok(Wanted {
            name: name.to_owned(),
            arguments,
        }),
        Err(error) => Err(format!(
            "The arguments of `{name}` are not a JSON object: {error}."
        )),
    })
}

fn call_with_text(rest: &str, tools: &[ToolSpec]) -> Option<Result<Wanted, String>> {
    let (name, text) = rest.split_once(':')?;
    let tool = match known(name, tools)? {
        Ok(tool) => tool,
        Err(complaint) => return Some(Err(complaint)),
    };
    let Some(key) = first_text_key(&tool.parameters) else {
        return Some(Err(format!(
            "`{name}` takes no text; use `call {name} {{…}}`."
        )));
    };
    let mut arguments = Map::new();
    arguments.insert(key, text.trim().into());
    Some(Ok(Wanted {
        name: name.to_owned(),
        arguments: Value::Object(arguments),
    }))
}

/// Finds a tool; nothing when the word is not even a name of a tool.
fn known<'a>(name: &str, tools: &'a [ToolSpec]) -> Option<Result<&'a ToolSpec, String>> {
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if !is_name {
        return None;
    }
    let tool = tools.iter().find(|tool| tool.name == name);
    Some(tool.ok_or_else(|| {
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let there = if names.is_empty() {
            "none at all".to_owned()
        } else {
            super::words::list(&names)
        };
        format!("There is no tool `{name}` in this turn. There is: {there}.")
    }))
}

/// Returns the first argument that takes text: a required one if there is any.
fn first_text_key(schema: &Value) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    let takes_text = |name: &str| {
        let kind = properties
            .get(name)
            .and_then(|property| property.get("type"));
        match kind {
            Some(Value::String(kind)) => kind == "string",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            _ => false,
        }
    };
    let required = schema.get("required").and_then(Value::as_array);
    required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .chain(properties.keys().map(String::as_str))
        .find(|name| takes_text(name))
        .map(str::to_owned)
}
