//! The body of each section.

use super::facts::{PromptFacts, PromptMode, Reactions, ReplyCitations};
use super::lines::{Lines, one_line};
use super::{compat, texts};
use crate::compat::TRUNCATION_WARNING;
use chitin_contract::{
    BootstrapNotice, PromptRules, RecallGuidance, RuntimeLineRule, SectionKey, SectionRule,
    SectionWhen,
};
use chitin_workspace::seed::BootstrapMode;
use std::sync::Arc;

/// How many entries of a list are shown.
const MAX_ENTRIES: usize = 256;

/// Writes what stands below the heading.
pub(super) fn write(
    rules: &PromptRules,
    rule: &SectionRule,
    facts: &PromptFacts,
    lines: &mut Lines,
) {
    let fixed = match rule.key {
        SectionKey::Intro => texts::INTRO,
        SectionKey::ToolCallStyle => texts::TOOL_CALL_STYLE,
        SectionKey::ExecutionBias => texts::EXECUTION_BIAS,
        SectionKey::PromisedWork => texts::PROMISED_WORK,
        SectionKey::Safety => texts::SAFETY,
        SectionKey::RuntimeContext => texts::RUNTIME_CONTEXT,
        SectionKey::Control => texts::CONTROL,
        SectionKey::SkillWorkshop => texts::SKILL_WORKSHOP,
        SectionKey::SelfUpdate => texts::SELF_UPDATE,
        SectionKey::Sandbox => texts::SANDBOX,
        SectionKey::WorkspaceFiles => texts::WORKSPACE_FILES,
        SectionKey::Delegation => texts::DELEGATION,
        SectionKey::ReplyTags => texts::REPLY_TAGS,
        SectionKey::UiPresentation => texts::UI_PRESENTATION,
        SectionKey::ControlUiEmbed => texts::CONTROL_UI_EMBED,
        SectionKey::ControlUiSideChat => texts::CONTROL_UI_SIDE_CHAT,
        SectionKey::ReasoningFormat => texts::REASONING_FORMAT,
        SectionKey::SilentReplies => texts::SILENT_REPLIES,
        SectionKey::Heartbeats => texts::HEARTBEATS,
        SectionKey::Tooling => return tooling(facts, lines),
        // The catalogue says itself how to use it.
        SectionKey::Skills => return given(facts.skills.as_ref(), lines),
        SectionKey::MemoryRecall => return recall(rules.recall, facts, lines),
        SectionKey::ModelAliases => return aliases(facts, lines),
        SectionKey::Workspace => return workspace(rules, facts, lines),
        SectionKey::Documentation => return documentation(facts, lines),
        SectionKey::Owners => return owners(facts, lines),
        SectionKey::Time => return time(rule, facts, lines),
        SectionKey::Bootstrap => match bootstrap(facts.bootstrap) {
            Some(words) => words,
            None => return,
        },
        SectionKey::FilesCut => {
            lines.line().ours(TRUNCATION_WARNING);
            texts::FILES_CUT
        }
        SectionKey::OutputDirectives => {
            lines.line().ours(texts::MEDIA);
            texts::REPLY_TAGS
        }
        SectionKey::Messaging => return messaging(facts, lines),
        SectionKey::Voice => return given(facts.voice.as_ref(), lines),
        SectionKey::ExtraContext => return given(facts.extra.as_ref(), lines),
        SectionKey::Reactions => match facts.reactions {
            Some(Reactions::Sparing) => texts::REACTIONS_SPARING,
            Some(Reactions::Free) => texts::REACTIONS_FREE,
            None => return,
        },
        SectionKey::Model => return model(facts, lines),
        SectionKey::Runtime => {
            return match rules.runtime_line {
                RuntimeLineRule::Plain => runtime_line(rules, None, facts, lines),
                RuntimeLineRule::Dated => runtime_line(rules, facts.date.as_ref(), facts, lines),
                RuntimeLineRule::Apart => model(facts, lines),
            };
        }
        SectionKey::RuntimeLine => return runtime_line(rules, None, facts, lines),
    };
    lines.line().ours(fixed);
}

/// Returns what a run is told about a pending set-up.
pub(super) const fn bootstrap(mode: BootstrapMode) -> Option<&'static str> {
    match mode {
        BootstrapMode::None => None,
        BootstrapMode::Limited => Some(texts::BOOTSTRAP_LIMITED),
        BootstrapMode::Full => Some(texts::BOOTSTRAP_FULL),
    }
}

fn given(text: Option<&Arc<str>>, lines: &mut Lines) {
    if let Some(text) = text {
        lines.line().text(text);
    }
}

fn tooling(facts: &PromptFacts, lines: &mut Lines) {
    let mut tools = facts
        .tools
        .iter()
        .filter(|tool| !tool.name.trim().is_empty())
        .peekable();
    if tools.peek().is_none() {
        lines.line().ours(texts::NO_TOOLS);
    } else {
        lines.line().ours(texts::TOOLING);
    }
    for tool in tools.take(MAX_ENTRIES) {
        lines.line().ours("- ").value(&tool.name);
        if !tool.summary.trim().is_empty() {
            lines.ours(": ").value(&tool.summary);
        }
    }
    if let Some(directory) = &facts.deferred_tools {
        lines.line().ours(compat::DEFERRED_TOOLS);
        lines.line().text(directory);
    }
    if facts.has_tool("sessions_spawn") {
        lines.line().ours(texts::SPAWN);
    }
}

/// Says when to look into the memory. Each statement is one line, because the recorded programs count them.
fn recall(guidance: RecallGuidance, facts: &PromptFacts, lines: &mut Lines) {
    let search = facts.has_tool("memory_search");
    lines
        .line()
        .ours(match (search, facts.has_tool("memory_get")) {
            (true, true) => texts::RECALL_SEARCH_AND_GET,
            (true, false) => texts::RECALL_SEARCH,
            (false, _) => texts::RECALL_GET,
        });
    match guidance {
        RecallGuidance::Short => {}
        RecallGuidance::WithSessions => {
            if search {
                let readable =
                    facts.has_tool("sessions_search") || facts.has_tool("sessions_history");
                lines.line().ours(if readable {
                    texts::RECALL_SESSIONS
                } else {
                    texts::RECALL_SNIPPETS
                });
                lines.line().ours(texts::RECALL_LINES);
            }
            lines.line().ours(texts::RECALL_OUTCOME);
        }
    }
    lines.line().ours(match facts.citations {
        ReplyCitations::Shown => texts::CITE,
        ReplyCitations::Hidden => texts::DO_NOT_CITE,
    });
}

fn aliases(facts: &PromptFacts, lines: &mut Lines) {
    lines.line().ours(texts::MODEL_ALIASES);
    for entry in facts.model_aliases.iter().take(MAX_ENTRIES) {
        lines.line().ours("- ").value(&entry.alias);
        lines.ours(": ").value(&entry.model);
    }
}

fn workspace(rules: &PromptRules, facts: &PromptFacts, lines: &mut Lines) {
    if !facts.workspace.is_empty() {
        lines.line().ours("Directory: ").value(&facts.workspace);
    }
    lines.line().ours(texts::WORKSPACE);
    match rules.bootstrap {
        BootstrapNotice::CommitReminder if facts.bootstrap_file => {
            lines.line().ours(texts::COMMIT);
        }
        BootstrapNotice::CommitReminder
        | BootstrapNotice::Silent
        | BootstrapNotice::BeforeUser
        | BootstrapNotice::Section => {}
    }
}

fn documentation(facts: &PromptFacts, lines: &mut Lines) {
    if let Some(path) = &facts.documentation {
        lines.line().ours("Documentation: ").value(path);
    }
    lines.line().ours(texts::DOCUMENTATION);
}

fn owners(facts: &PromptFacts, lines: &mut Lines) {
    let owners = facts.owners.iter().map(|owner| one_line(owner));
    let owners: Vec<_> = owners
        .filter(|owner| !owner.is_empty())
        .take(MAX_ENTRIES)
        .collect();
    let joined: Arc<str> = owners.join(", ").into();
    lines.line().ours(texts::OWNERS).value(&joined).ours(".");
    lines.ours(" ").ours(texts::OWNERS_NOTE);
}

/// Says the time zone, and the date only where the section stands below the boundary.
fn time(rule: &SectionRule, facts: &PromptFacts, lines: &mut Lines) {
    if let (SectionWhen::Date, Some(date)) = (rule.when, &facts.date) {
        lines.line().ours(texts::DATE).value(date);
    }
    if let Some(zone) = &facts.time_zone {
        lines.line().ours(texts::TIME_ZONE).value(zone);
    }
    if facts.has_tool("session_status") {
        lines.line().ours(texts::CLOCK);
    }
}

fn messaging(facts: &PromptFacts, lines: &mut Lines) {
    lines.line().ours(match facts.mode {
        PromptMode::Full | PromptMode::None => texts::MESSAGING,
        PromptMode::Minimal => texts::RESULT,
    });
    if facts.has_tool("sessions_send") {
        lines.line().ours(texts::SESSIONS_SEND);
    }
    lines.line().ours(texts::NO_SHELL_MESSAGES);
    if facts.mode == PromptMode::Full && facts.has_tool("message") {
        lines.line().ours(compat::MESSAGE_TOOL);
        lines.line().ours(texts::MESSAGE_TOOL);
    }
}

fn model(facts: &PromptFacts, lines: &mut Lines) {
    if let Some(model) = &facts.host.model {
        lines.line().ours(texts::MODEL).value(model).ours(".");
    }
}

/// Says which program, machine and model this is, on one line, and on request the date.
fn runtime_line(
    rules: &PromptRules,
    date: Option<&Arc<str>>,
    facts: &PromptFacts,
    lines: &mut Lines,
) {
    let host = &facts.host;
    let of_session =
        |fact: &'_ Option<Arc<str>>| fact.clone().filter(|_| rules.runtime_line_session);
    let (session, session_id) = (
        of_session(&facts.session_key),
        of_session(&facts.session_id),
    );
    let known = [
        (" ", host.program.as_ref()),
        (" name=", host.name.as_ref()),
        (" agent=", host.agent.as_ref()),
        (" session=", session.as_ref()),
        (" sessionId=", session_id.as_ref()),
        (" host=", host.machine.as_ref()),
        (" os=", host.os.as_ref()),
        (" arch=", host.arch.as_ref()),
        (" shell=", host.shell.as_ref()),
        (" model=", host.model.as_ref()),
        (" channel=", facts.channel.as_ref()),
        (" date=", date),
    ];
    lines.line().ours(texts::RUNTIME);
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    for (index, (name, value)) in known.enumerate() {
        if index > 0 {
            lines.ours(" |");
        }
        lines.ours(name).value(value);
    }
}
