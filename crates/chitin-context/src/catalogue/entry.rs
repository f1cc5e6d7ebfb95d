//! One skill of the list, measured before it is written.

use super::CatalogueSkill;
use super::compat::{
    DESCRIPTION_END, DESCRIPTION_START, HOME, LOCATION_END, LOCATION_NOTE_END, LOCATION_NOTE_START,
    LOCATION_START, NAME_END, SKILL_END, SKILL_START,
};
use super::description::{is_blank, push_cut};
use super::escape::{escaped_units, push_escaped};
use chitin_contract::{CatalogueRules, LocationNotes};
use std::borrow::Cow;
use std::path::Path;

/// What a description's line has around it.
pub(super) const DESCRIPTION_LINE: usize = DESCRIPTION_START.len() + DESCRIPTION_END.len();

/// A skill and the length of what will be written of it, in UTF-16 units.
pub(super) struct Entry<'a> {
    skill: &'a CatalogueSkill<'a>,
    /// What stands before the rest of the path: `~/`, or nothing.
    home: &'static str,
    path: &'a str,
    note: Option<&'a str>,
    /// The length without the description's line.
    pub(super) compact: usize,
    /// The length of the whole description, without its line.
    pub(super) description: usize,
}

/// What is written of a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Described {
    /// All of it, as it is.
    Whole,
    /// Collapsed and cut to so many units.
    Cut(usize),
    /// Collapsed and cut; without a line if nothing is left.
    CutOrGone(usize),
    /// Nothing.
    Gone,
}

impl<'a> Entry<'a> {
    pub(super) fn new(
        skill: &'a CatalogueSkill<'a>,
        homes: &Homes<'_>,
        rules: &CatalogueRules,
    ) -> Self {
        let (home, path) = match homes.below(&skill.location) {
            Some(rest) => (HOME, rest),
            None => ("", &*skill.location),
        };
        let note = match rules.location_notes {
            LocationNotes::Unknown => None,
            LocationNotes::Printed => skill.location_note.filter(|note| !note.is_empty()),
        };
        let note_units = note.map_or(0, |note| {
            LOCATION_NOTE_START.len() + escaped_units(note) + LOCATION_NOTE_END.len()
        });
        let compact = SKILL_START.len()
            + escaped_units(skill.name)
            + NAME_END.len()
            + LOCATION_START.len()
            + home.len()
            + escaped_units(path)
            + LOCATION_END.len()
            + note_units
            + SKILL_END.len();
        Self {
            skill,
            home,
            path,
            note,
            compact,
            description: escaped_units(skill.description),
        }
    }

    /// Returns the description.
    pub(super) fn text(&self) -> &'a str {
        self.skill.description
    }

    /// Appends the skill to a buffer.
    pub(super) fn write(&self, out: &mut String, described: Described) {
        out.push_str(SKILL_START);
        push_escaped(out, self.skill.name);
        out.push_str(NAME_END);
        let text = self.text();
        let gone = match described {
            Described::Whole | Described::Cut(_) => false,
            Described::CutOrGone(_) => is_blank(text),
            Described::Gone => true,
        };
        if !gone {
            out.push_str(DESCRIPTION_START);
            match described {
                Described::Whole => push_escaped(out, text),
                Described::Cut(limit) | Described::CutOrGone(limit) => push_cut(out, text, limit),
                Described::Gone => {}
            }
            out.push_str(DESCRIPTION_END);
        }
        out.push_str(LOCATION_START);
        out.push_str(self.home);
        push_escaped(out, self.path);
        out.push_str(LOCATION_END);
        if let Some(note) = self.note {
            out.push_str(LOCATION_NOTE_START);
            push_escaped(out, note);
            out.push_str(LOCATION_NOTE_END);
        }
        out.push_str(SKILL_END);
    }
}

/// The spellings of the home directory, the longest first (S53).
pub(super) struct Homes<'a>(Vec<Cow<'a, str>>);

impl<'a> Homes<'a> {
    pub(super) fn new(homes: &[&'a Path]) -> Self {
        let mut homes: Vec<Cow<'a, str>> = homes
            .iter()
            .map(|home| home.to_string_lossy())
            .filter(|home| !home.is_empty())
            .collect();
        homes.sort_by_key(|home| std::cmp::Reverse(home.len()));
        Self(homes)
    }

    /// Returns the rest of a path that lies below a home directory.
    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        self.0.iter().find_map(|home| {
            path.strip_prefix(home.trim_end_matches('/'))?
                .strip_prefix('/')
        })
    }
}
