//! Tasks in HEARTBEAT.md, each with an interval of its own: only those that are due are asked for (R93).

use chitin_config::heartbeat::parse_duration;
use chitin_protocol::text::trim_js;
use std::fmt::Write;

/// The line that the tasks stand under.
const HEADING: &str = "tasks:";
/// How many tasks are read.
const MOST: usize = 100;
/// A bare number is in minutes.
const MINUTE_MS: f64 = 60_000.0;

/// A task with an interval of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What it is called.
    pub name: String,
    /// How often, in milliseconds.
    pub every_ms: i64,
    /// What is to be done.
    pub prompt: String,
}

impl Task {
    /// Tells whether it is due; one that was never done is.
    pub const fn is_due(&self, last_ms: Option<i64>, now_ms: i64) -> bool {
        match last_ms {
            Some(last) => now_ms.saturating_sub(last) >= self.every_ms,
            None => true,
        }
    }

    fn line(&self) -> String {
        format!("\n- {}: {}\n", self.name, self.prompt)
    }

    /// Tells whether a model was told of it in these words.
    pub fn is_in(&self, words: &str) -> bool {
        words.contains(&self.line())
    }
}

/// Returns the tasks of a file and what else is in it; nothing when it has none. A task needs a name, an interval and words.
pub fn tasks(content: &str) -> Option<(Vec<Task>, String)> {
    let mut rest = String::new();
    let mut blocks: Vec<Vec<(&str, &str)>> = Vec::new();
    let mut inside = false;
    for line in content.lines() {
        let text = trim_js(line);
        if !inside {
            inside = text == HEADING && blocks.is_empty();
            if !inside {
                let _ = writeln!(rest, "{line}");
            }
            continue;
        }
        let field = text.strip_prefix("- ").unwrap_or(text);
        let part = field
            .split_once(':')
            .map(|(name, value)| (name.trim(), value));
        let belongs = text.starts_with("- ") || line.starts_with([' ', '\t']);
        match part {
            Some(part) if belongs => {
                if text.starts_with("- ") {
                    blocks.push(Vec::new());
                }
                if let Some(block) = blocks.last_mut() {
                    block.push(part);
                }
            }
            _ if text.is_empty() => {}
            _ => {
                inside = false;
                let _ = writeln!(rest, "{line}");
            }
        }
    }
    let tasks: Vec<Task> = blocks
        .iter()
        .filter_map(|block| task(block))
        .take(MOST)
        .collect();
    (!tasks.is_empty()).then(|| (tasks, trim_js(&rest).to_owned()))
}

fn task(fields: &[(&str, &str)]) -> Option<Task> {
    let field = |wanted: &str| {
        let (_, value) = fields.iter().find(|(name, _)| *name == wanted)?;
        let value = unquoted(trim_js(value));
        (!value.is_empty()).then_some(value)
    };
    Some(Task {
        name: field("name")?.to_owned(),
        every_ms: milliseconds(field("interval")?)?,
        prompt: field("prompt")?.to_owned(),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and nothing negative is left"
)]
fn milliseconds(text: &str) -> Option<i64> {
    let milliseconds = parse_duration(text, MINUTE_MS)?;
    (milliseconds > 0.0).then_some(milliseconds as i64)
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

/// Returns what the model is asked: the tasks that are due, then what else the file says.
pub fn task_prompt(due: &[&Task], rest: &str) -> String {
    let mut words = "This is a heartbeat: nobody wrote to you. These tasks of HEARTBEAT.md are due now; see to \
        them and to nothing else.\n"
        .to_owned();
    for task in due {
        words.push_str(&task.line());
    }
    if !rest.is_empty() {
        let _ = write!(words, "\nWhat else HEARTBEAT.md says:\n\n{rest}\n");
    }
    words.push_str("\nIf nothing needs attention after that, reply with exactly HEARTBEAT_OK.");
    words
}
