//! The list of skills in the prompt: which are listed, how much is said of each, and what was left out (S50–S59).
//!
//! In: skills that are eligible, limits, the spellings of home. Out: a [`Catalogue`] with the text in pieces and every
//! skill that is not in it, with the reason. The heading above it belongs to the section that it stands in.
//!
//! Lengths are worked out first, by adding up; text is made once, for what is printed.

mod compat;
mod description;
mod entry;
mod escape;
mod fit;
mod limits;
mod prose;

pub use limits::{CatalogueLimits, limits};
pub use prose::{CatalogueNotice, counted_guidance, counted_notice, guidance};

use crate::fragment::FragmentPiece;
use chitin_contract::SkillRules;
use chitin_protocol::text::{trim_js, utf16_len};
use chitin_workspace::skills::{Names, Skill};
use entry::{Entry, Homes};
use fit::{Choice, Lengths};
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;

/// What the list says of a skill.
#[derive(Debug, Clone)]
pub struct CatalogueSkill<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// The path of its file.
    pub location: Cow<'a, str>,
    /// How that file is reached, when reading it is not enough.
    pub location_note: Option<&'a str>,
    /// Whether the model may know of it.
    pub visible: bool,
}

impl<'a> From<&'a Skill> for CatalogueSkill<'a> {
    fn from(skill: &'a Skill) -> Self {
        Self {
            name: &skill.name,
            description: &skill.description,
            location: skill.file.to_string_lossy(),
            location_note: None,
            visible: !skill.invocation.disable_model_invocation,
        }
    }
}

/// The list of skills, and what is not in it.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// The text. Empty when not even a notice fits; then only `left_out` tells.
    pub pieces: Vec<FragmentPiece>,
    /// How many skills are listed.
    pub included: usize,
    /// How many there are that the model may know of.
    pub total: usize,
    /// How much is said of each.
    pub form: Form,
    /// The length to which descriptions were cut, in UTF-16 units, because the model's window is small.
    pub window_cut: Option<usize>,
    /// The notice that is printed.
    pub notice: Option<CatalogueNotice>,
    /// What became of the note about remote nodes.
    pub remote_note: RemoteNote,
    /// Skills that are not listed, and why.
    pub left_out: Vec<OmittedSkill>,
    /// The length as the contract's limits count it, in UTF-16 units.
    pub counted_units: usize,
}

impl Catalogue {
    /// Returns the text.
    pub fn text(&self) -> String {
        let texts = || self.pieces.iter().map(|piece| piece.text.as_str());
        let mut out = String::with_capacity(texts().map(str::len).sum());
        texts().for_each(|text| out.push_str(text));
        out
    }
}

/// How much is said of each skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Name, description and location.
    Full,
    /// The same, with descriptions cut to so many UTF-16 units.
    Shortened(usize),
    /// Name and location.
    Compact,
}

/// What became of the note about remote nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemoteNote {
    /// There was none.
    None,
    /// It stands above the list.
    Printed,
    /// There was no room for it.
    LeftOut,
}

/// A skill that is not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OmittedSkill {
    /// Its name.
    pub name: Box<str>,
    /// Why it is not listed.
    pub reason: LeftOutReason,
}

/// Why a skill is not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// It says that the model may not start it.
    HiddenFromModel,
    /// More skills come before it than may be listed.
    TooMany,
    /// The list would be too long.
    TooLong,
}

/// Lists skills for the prompt. Returns nothing when there are neither skills nor a note.
///
/// The skills are taken to be eligible and allowed; their order does not matter. `homes` are the spellings of the home
/// directory, its real path among them. `context_tokens` is the model's window, where a contract asks for it.
pub fn catalogue(
    skills: &[CatalogueSkill<'_>],
    limits: CatalogueLimits,
    homes: &[&Path],
    remote_note: Option<&str>,
    rules: &SkillRules,
    context_tokens: Option<usize>,
) -> Option<Catalogue> {
    let remote_note = remote_note.map(trim_js).filter(|note| !note.is_empty());
    if skills.is_empty() && remote_note.is_none() {
        return None;
    }
    let mut listed: Vec<&CatalogueSkill<'_>> =
        skills.iter().filter(|skill| skill.visible).collect();
    Names::new(rules.name_order).sort(&mut listed, |skill| skill.name);

    let homes = Homes::new(homes);
    let entries: Vec<Entry<'_>> = listed
        .iter()
        .take(limits.max_skills)
        .map(|skill| Entry::new(skill, &homes, &rules.catalogue))
        .collect();
    let lengths = Lengths::new(
        &entries,
        listed.len(),
        remote_note.map(utf16_len),
        &rules.catalogue,
    );
    let choice = lengths.choose(limits.max_chars, context_tokens);

    let notice = CatalogueNotice::needed(choice.included, listed.len(), choice.form)
        .filter(|_| choice.notice);
    Some(Catalogue {
        pieces: write(&entries, &choice, remote_note, notice),
        included: choice.included,
        total: listed.len(),
        form: choice.form,
        window_cut: choice.window_cut,
        notice,
        remote_note: match (remote_note, choice.remote) {
            (None, _) => RemoteNote::None,
            (Some(_), true) => RemoteNote::Printed,
            (Some(_), false) => RemoteNote::LeftOut,
        },
        left_out: left_out(skills, &listed, choice.included, entries.len()),
        counted_units: choice.counted,
    })
}

/// Writes what was chosen: one piece for each skill, and fixed ones around them.
fn write(
    entries: &[Entry<'_>],
    choice: &Choice,
    remote_note: Option<&str>,
    notice: Option<CatalogueNotice>,
) -> Vec<FragmentPiece> {
    let mut pieces = Vec::with_capacity(choice.included + 7);
    if let Some(note) = remote_note.filter(|_| choice.remote) {
        pieces.push(FragmentPiece::given(note));
    }
    if let Some(notice) = notice {
        if !pieces.is_empty() {
            pieces.push(FragmentPiece::ours("\n"));
        }
        pieces.push(FragmentPiece::made(notice.to_string()));
    }
    if choice.included == 0 {
        return pieces;
    }
    if !pieces.is_empty() {
        pieces.push(FragmentPiece::ours("\n"));
    }
    pieces.push(FragmentPiece::ours(compat::LEAD));
    pieces.push(FragmentPiece::ours(guidance(choice.form)));
    pieces.push(FragmentPiece::ours(compat::LIST_START));
    let described = choice.described();
    let mut skill = String::new();
    for entry in &entries[..choice.included] {
        skill.clear();
        entry.write(&mut skill, described);
        pieces.push(FragmentPiece::given(skill.as_str()));
    }
    pieces.push(FragmentPiece::ours(compat::LIST_END));
    pieces
}

fn left_out(
    skills: &[CatalogueSkill<'_>],
    listed: &[&CatalogueSkill<'_>],
    included: usize,
    counted: usize,
) -> Vec<OmittedSkill> {
    let leave = |skill: &CatalogueSkill<'_>, reason| OmittedSkill {
        name: skill.name.into(),
        reason,
    };
    let hidden = skills
        .iter()
        .filter(|skill| !skill.visible)
        .map(|skill| leave(skill, LeftOutReason::HiddenFromModel));
    let too_long = listed[included..counted]
        .iter()
        .map(|skill| leave(skill, LeftOutReason::TooLong));
    let too_many = listed[counted..]
        .iter()
        .map(|skill| leave(skill, LeftOutReason::TooMany));
    hidden.chain(too_long).chain(too_many).collect()
}
