//! The system prompt's own sections: which of them a run gets, in which order, and what they say.
//!
//! Which and in which order is data of the contract ([`PromptRules`]); what they say is ours (`words`). In: the rules and
//! [`PromptFacts`]. Out: finished sections, and places for files and results, in the order of the prompt.

mod body;
mod compat;
mod facts;
mod lines;
mod texts;

pub use chitin_contract::PromptPlace as Slot;
pub use facts::{
    Confinement, Delegation, HostFacts, ModelAlias, PromptFacts, PromptMode, Reactions, Reasoning,
    ReplyCitations, ToolFact,
};

use crate::fragment::{CacheClass, Fragment, FragmentRole};
use chitin_contract::{
    BootstrapNotice, PromptPart, PromptRules, SectionKey, SectionModes, SectionRule, SectionWhen,
};
use chitin_workspace::seed::BootstrapMode;
use lines::Lines;
use std::sync::Arc;

/// One part of a prompt, in its place.
#[derive(Debug, Clone)]
pub enum Placed {
    /// A finished section.
    Section(Fragment),
    /// Where files, results or the boundary stand, if there are any.
    Slot(Slot),
}

/// Returns the sections of a prompt in order, with the places of what is not ours.
///
/// A section's text neither begins nor ends with a line break: whoever joins the parts puts one LF between them. In the
/// barest prompt there are no places.
pub fn sections(rules: &PromptRules, facts: &PromptFacts) -> Vec<Placed> {
    let mut placed = Vec::with_capacity(rules.parts.len());
    for part in rules.parts {
        match part {
            PromptPart::Section(rule) => {
                placed.extend(section(rules, rule, facts).map(Placed::Section));
            }
            PromptPart::Place(place) => {
                if facts.mode != PromptMode::None {
                    placed.push(Placed::Slot(*place));
                }
            }
        }
    }
    placed
}

/// Returns the keys by which sections of these rules can be switched off, each once, in the order of the prompt.
pub fn section_keys(rules: &PromptRules) -> impl Iterator<Item = &'static str> {
    let key = |part: &PromptPart| match part {
        PromptPart::Section(rule) => Some(rule.key),
        PromptPart::Place(_) => None,
    };
    let parts = rules.parts;
    parts.iter().enumerate().filter_map(move |(index, part)| {
        let this = key(part)?;
        let earlier = parts.get(..index).unwrap_or_default();
        (!earlier.iter().any(|part| key(part) == Some(this))).then(|| this.name())
    })
}

/// Returns the notice that goes before the user's prompt while set-up is pending, if these rules have one.
///
/// A blank line separates it from the prompt; it is not part of the notice.
pub fn bootstrap_notice(rules: &PromptRules, mode: BootstrapMode) -> Option<Fragment> {
    match rules.bootstrap {
        BootstrapNotice::Silent | BootstrapNotice::CommitReminder | BootstrapNotice::Section => {
            return None;
        }
        BootstrapNotice::BeforeUser => {}
    }
    let words = body::bootstrap(mode)?;
    let mut lines = Lines::default();
    lines.line().ours(compat::BOOTSTRAP_PENDING);
    lines.line().ours(words);
    let key = SectionKey::Bootstrap.name();
    lines.into_fragment(key, FragmentRole::BeforeUser, CacheClass::Dynamic)
}

fn section(rules: &PromptRules, rule: &SectionRule, facts: &PromptFacts) -> Option<Fragment> {
    let key = rule.key.name();
    let switched_off = || facts.switched_off.iter().any(|off| off == key);
    if !applies(rule.modes, facts.mode) || !holds(rule.when, facts) || switched_off() {
        return None;
    }
    let mut lines = Lines::default();
    if let Some(heading) = rule.heading {
        lines.line().ours(heading);
    }
    body::write(rules, rule, facts, &mut lines);
    lines.into_fragment(key, FragmentRole::System, cache_class(rule))
}

const fn applies(modes: SectionModes, mode: PromptMode) -> bool {
    match modes {
        SectionModes::Every => true,
        SectionModes::Both => matches!(mode, PromptMode::Full | PromptMode::Minimal),
        SectionModes::Full => matches!(mode, PromptMode::Full),
        SectionModes::Minimal => matches!(mode, PromptMode::Minimal),
        SectionModes::Bare => matches!(mode, PromptMode::None),
    }
}

fn holds(when: SectionWhen, facts: &PromptFacts) -> bool {
    let any_tool = |names: &[&str]| names.iter().any(|name| facts.has_tool(name));
    let given =
        |text: &Option<Arc<str>>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    match when {
        SectionWhen::Always => true,
        SectionWhen::Tools => facts.tools.iter().any(|tool| !tool.name.trim().is_empty()),
        SectionWhen::AnyTool(names) => any_tool(names),
        SectionWhen::Delegating(names) => {
            facts.delegation == Delegation::Preferred && any_tool(names)
        }
        SectionWhen::Skills => given(&facts.skills),
        SectionWhen::ReadableSkills => given(&facts.skills) && facts.has_tool("read"),
        SectionWhen::Model => given(&facts.host.model),
        SectionWhen::ModelAliases => !facts.model_aliases.is_empty(),
        SectionWhen::Documentation => given(&facts.documentation),
        SectionWhen::Sandbox => facts.confinement == Confinement::Sandboxed,
        SectionWhen::Owners => facts.owners.iter().any(|owner| !owner.trim().is_empty()),
        SectionWhen::TimeZone => given(&facts.time_zone),
        SectionWhen::Date => given(&facts.time_zone) && given(&facts.date),
        SectionWhen::Channel(name) => facts
            .channel
            .as_deref()
            .is_some_and(|channel| channel.trim().eq_ignore_ascii_case(name)),
        SectionWhen::Voice => given(&facts.voice),
        SectionWhen::ExtraPrompt => given(&facts.extra),
        SectionWhen::Reactions => facts.reactions.is_some(),
        SectionWhen::ReasoningTags => facts.reasoning == Reasoning::Tagged,
        SectionWhen::Heartbeats => facts.heartbeats,
        SectionWhen::BootstrapPending => facts.bootstrap != BootstrapMode::None,
        SectionWhen::FilesCut => facts.files_cut,
    }
}

/// Returns how long a section stays the same, by the facts that it shows.
const fn cache_class(rule: &SectionRule) -> CacheClass {
    match rule.key {
        SectionKey::Time if matches!(rule.when, SectionWhen::Date) => CacheClass::Dynamic,
        SectionKey::Intro
        | SectionKey::Tooling
        | SectionKey::ToolCallStyle
        | SectionKey::ExecutionBias
        | SectionKey::PromisedWork
        | SectionKey::Safety
        | SectionKey::RuntimeContext
        | SectionKey::Control
        | SectionKey::Skills
        | SectionKey::SkillWorkshop
        | SectionKey::MemoryRecall
        | SectionKey::SelfUpdate
        | SectionKey::ModelAliases
        | SectionKey::Workspace
        | SectionKey::Documentation
        | SectionKey::Sandbox
        | SectionKey::Time
        | SectionKey::WorkspaceFiles
        | SectionKey::Delegation
        | SectionKey::ReplyTags
        | SectionKey::OutputDirectives
        | SectionKey::UiPresentation
        | SectionKey::Messaging
        | SectionKey::SilentReplies
        | SectionKey::Heartbeats => CacheClass::Stable,
        SectionKey::Owners
        | SectionKey::Bootstrap
        | SectionKey::FilesCut
        | SectionKey::ControlUiEmbed
        | SectionKey::ControlUiSideChat
        | SectionKey::Voice
        | SectionKey::ExtraContext
        | SectionKey::Reactions
        | SectionKey::ReasoningFormat => CacheClass::Session,
        SectionKey::Model | SectionKey::Runtime | SectionKey::RuntimeLine => CacheClass::Dynamic,
    }
}
