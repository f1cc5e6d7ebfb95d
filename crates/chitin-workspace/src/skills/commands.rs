//! Skills as slash commands (S60–S64).

use super::front_matter::SkillFrontMatter;
use super::metadata::Invocation;
use super::skill::Skill;
use chitin_contract::SkillRules;
use chitin_protocol::text::{is_js_whitespace, trim_js, utf16_len, utf16_prefix};
use serde::Serialize;
use std::collections::HashSet;

/// The longest name of a command.
const MAX_NAME: usize = 32;
/// The name of a command whose skill's name has no usable character.
const NAMELESS: &str = "skill";
/// The last number that is tried behind a taken name.
const LAST_SUFFIX: usize = 999;

/// A slash command that starts a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillCommand {
    /// The command's name, without the slash.
    pub name: String,
    /// The skill's name.
    pub skill_name: String,
    /// What menus say of it.
    pub description: String,
    /// Set when the command calls a tool instead of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<ToolDispatch>,
}

/// A tool that a command calls with the raw arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind", rename = "tool")]
pub struct ToolDispatch {
    /// The tool.
    pub tool_name: String,
    /// How arguments reach it; there is one way.
    pub arg_mode: ArgumentMode,
}

/// How the arguments of a command reach a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentMode {
    /// As typed.
    Raw,
}

/// What a message asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillInvocation<'a> {
    /// The command.
    pub command: &'a SkillCommand,
    /// What follows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
}

/// Gives each skill that a user may start a command of its own; reserved names are never taken.
pub fn skill_commands<'a>(
    skills: impl IntoIterator<Item = &'a Skill>,
    reserved: &[&str],
    rules: &SkillRules,
) -> Vec<SkillCommand> {
    let parts = skills.into_iter().map(|skill| CommandParts {
        name: &skill.name,
        description: &skill.description,
        front_matter: &skill.front_matter,
    });
    commands_from_parts(parts, reserved, rules)
}

/// What a command is made from.
#[derive(Debug, Clone, Copy)]
pub struct CommandParts<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// The skill's description.
    pub description: &'a str,
    /// The skill's front matter.
    pub front_matter: &'a SkillFrontMatter,
}

/// Gives each of the described skills a command of its own.
pub fn commands_from_parts<'a>(
    parts: impl IntoIterator<Item = CommandParts<'a>>,
    reserved: &[&str],
    rules: &SkillRules,
) -> Vec<SkillCommand> {
    let mut used: HashSet<String> = reserved.iter().map(|name| name.to_lowercase()).collect();
    parts
        .into_iter()
        .filter(|part| Invocation::from_front_matter(part.front_matter).user_invocable)
        .map(|part| {
            let name = unused_name(&command_name(part.name), &used);
            used.insert(name.clone());
            SkillCommand {
                name,
                skill_name: part.name.to_owned(),
                description: command_description(part, rules),
                dispatch: dispatch(part.front_matter),
            }
        })
        .collect()
}

/// Turns a skill's name into a command's: lower case, one `_` for whatever is neither letter, digit nor `_`.
fn command_name(name: &str) -> String {
    let mut out = String::new();
    for c in name.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let mut out = out.trim_matches('_').to_owned();
    out.truncate(MAX_NAME);
    if out.is_empty() {
        out.push_str(NAMELESS);
    }
    out
}

fn unused_name(base: &str, used: &HashSet<String>) -> String {
    if !used.contains(base) {
        return base.to_owned();
    }
    let with = |suffix: &str| {
        format!(
            "{}{suffix}",
            &base[..base.len().min(MAX_NAME - suffix.len())]
        )
    };
    (2..=LAST_SUFFIX)
        .map(|number| with(&format!("_{number}")))
        .find(|name| !used.contains(name))
        .unwrap_or_else(|| with("_x"))
}

fn command_description(part: CommandParts<'_>, rules: &SkillRules) -> String {
    let text = match trim_js(part.description) {
        "" => part.name,
        text => text,
    };
    match rules.max_command_description {
        Some(max) if utf16_len(text) > max => {
            format!("{}…", utf16_prefix(text, max.saturating_sub(1)))
        }
        Some(_) | None => text.to_owned(),
    }
}

fn dispatch(front_matter: &SkillFrontMatter) -> Option<ToolDispatch> {
    let either = |dashed: &str, underscored: &str| {
        let value = front_matter
            .get(dashed)
            .or_else(|| front_matter.get(underscored));
        trim_js(value.unwrap_or_default())
    };
    let tool_name = either("command-tool", "command_tool");
    let wanted = either("command-dispatch", "command_dispatch").to_lowercase() == "tool";
    (wanted && !tool_name.is_empty()).then(|| ToolDispatch {
        tool_name: tool_name.to_owned(),
        arg_mode: ArgumentMode::Raw,
    })
}

/// Finds the command that a message asks for: `/name args`, or `/skill name args`, which also knows skills by name.
pub fn find_invocation<'a>(
    body: &str,
    commands: &'a [SkillCommand],
) -> Option<SkillInvocation<'a>> {
    let (word, rest) = first_word(trim_js(body).strip_prefix('/')?)?;
    let word = word.to_lowercase();
    let (command, args) = if word == NAMELESS {
        let (name, args) = first_word(rest)?;
        let wanted = lookup_form(name);
        let command = commands.iter().find(|command| {
            lookup_form(&command.name) == wanted || lookup_form(&command.skill_name) == wanted
        })?;
        (command, args)
    } else {
        let command = commands
            .iter()
            .find(|command| trim_js(&command.name).to_lowercase() == word)?;
        (command, rest)
    };
    Some(SkillInvocation {
        command,
        args: Some(args.to_owned()).filter(|args| !args.is_empty()),
    })
}

/// Splits off the first word; what follows is trimmed.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_at(text.find(is_js_whitespace).unwrap_or(text.len()));
    (!word.is_empty()).then(|| (word, trim_js(rest)))
}

/// Lower case, with runs of blanks and `_` as one `-`.
fn lookup_form(name: &str) -> String {
    let mut out = String::new();
    let mut in_gap = false;
    for c in trim_js(name).to_lowercase().chars() {
        let gap = c == '_' || is_js_whitespace(c);
        if !gap {
            out.push(c);
        } else if !in_gap {
            out.push('-');
        }
        in_gap = gap;
    }
    out
}
