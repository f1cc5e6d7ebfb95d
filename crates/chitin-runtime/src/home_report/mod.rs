//! What becomes of an OpenClaw home here, line by line: works, works differently, or is not supported, as Chitin is today.

mod access;
mod credentials;
mod talks;
mod work;

use chitin_contract::Contract;
use chitin_openclaw::{HomeContents, HomeProblem};
use serde::Serialize;
use std::path::PathBuf;

/// What becomes of a part of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HomeVerdict {
    /// It works as it is.
    Works,
    /// It works in another way.
    Differs,
    /// It has no effect.
    Unsupported,
}

/// One part of a home and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeLine {
    /// What it is.
    pub name: String,
    /// Where it is kept, as a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What becomes of it.
    pub verdict: HomeVerdict,
    /// How it differs, or what to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl HomeLine {
    fn works(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            place: None,
            verdict: HomeVerdict::Works,
            note: None,
        }
    }

    fn differs(name: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            verdict: HomeVerdict::Differs,
            note: Some(how.into()),
            ..Self::works(name)
        }
    }

    fn unsupported(name: impl Into<String>, instead: impl Into<String>) -> Self {
        Self {
            verdict: HomeVerdict::Unsupported,
            note: Some(instead.into()),
            ..Self::works(name)
        }
    }

    fn kept(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// The lines about one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeSection {
    /// The subject, such as `sessions`.
    pub subject: &'static str,
    /// How many lines work.
    pub works: usize,
    /// How many differ.
    pub differs: usize,
    /// How many have no effect.
    pub unsupported: usize,
    /// The lines.
    pub lines: Vec<HomeLine>,
}

impl HomeSection {
    fn of(subject: &'static str, lines: Vec<HomeLine>) -> Self {
        let count = |verdict| lines.iter().filter(|line| line.verdict == verdict).count();
        Self {
            subject,
            works: count(HomeVerdict::Works),
            differs: count(HomeVerdict::Differs),
            unsupported: count(HomeVerdict::Unsupported),
            lines,
        }
    }
}

/// A report on a home.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeReport {
    /// The state directory.
    pub home: PathBuf,
    /// Whether anything was brought over: a report changes nothing.
    pub applied: bool,
    /// The subjects that the home has something of.
    pub sections: Vec<HomeSection>,
    /// What could not be read.
    pub problems: Vec<HomeProblem>,
    /// All that was found.
    pub contents: HomeContents,
}

impl HomeReport {
    /// Judges a home through the contract that is used where nothing else is asked for.
    pub fn of(home: PathBuf, mut contents: HomeContents, contract: &Contract) -> Self {
        let of = HomeSection::of;
        let mut sections = vec![
            of("agents", talks::agents(&contents, contract)),
            of("workspaces", talks::workspaces(&contents)),
            of("sessions", talks::sessions(&contents)),
            of("transcripts", talks::transcripts(&contents)),
            of("credentials", credentials::credentials(&contents)),
            of("environment", credentials::environment(&contents)),
            of("channels", access::channels(&contents)),
            of("routes", access::routes(&contents)),
            of("allowlists", access::allowlists(&contents)),
            of("pairings", access::pairings(&contents)),
            of("owners", access::owners(&contents)),
            of("schedules", work::schedules(&contents)),
            of("heartbeats", work::heartbeats(&contents)),
            of("approvals", work::approvals(&contents)),
            of("skills", work::skills(&contents)),
            of("hooks", work::hooks(&contents)),
            of("memory", work::memory(&contents)),
        ];
        sections.retain(|section| !section.lines.is_empty());
        Self {
            home,
            applied: false,
            sections,
            problems: std::mem::take(&mut contents.problems),
            contents,
        }
    }
}

/// Tells whether Chitin speaks to a chat network.
fn is_spoken(channel: &str) -> bool {
    matches!(channel, "discord" | "slack")
}

/// What people do without a network.
const OTHER_CHANNELS: &str =
    "Chitin has no such channel; Discord, Slack, the web page and HTTP work";
