//! What a model is asked before its conversation is shortened. The sentences are ours; path, token and time are what others
//! look for.

use super::flush::Hours;
use crate::compat::NO_REPLY;
use chitin_contract::FlushClock;
use jiff::Zoned;
use jiff::civil::Date;

/// Stands for the day in a prompt of the user's.
const PLACEHOLDER: &str = "YYYY-MM-DD";
/// Begins the line that tells the time.
const CURRENT_TIME: &str = "Current time:";
/// Begins the line that tells the time in UTC, where it has one of its own.
const REFERENCE_TIME: &str = "Reference UTC:";

/// Says where the model stands.
const SITUATION: &str = "This exchange is between you and your notes: the user does not see it. The conversation is about to \
                         be put into a summary, and what the summary leaves out is lost unless you write it down now.";
/// Asks it to write.
const REQUEST: &str = "Before this conversation is shortened, keep what must outlive it: decisions, preferences, facts, \
                       names, open work. Leave out what is in your notes already and what is of no use tomorrow.";

/// Where the model may write.
pub(super) struct FlushTarget {
    day: String,
    pub(super) path: String,
}

impl FlushTarget {
    pub(super) fn of(day: Date) -> Self {
        let path = chitin_workspace::state::daily_note(day);
        Self {
            day: day.to_string(),
            path: path.to_string_lossy().into_owned(),
        }
    }
}

/// Puts the request into words.
pub(super) struct FlushWords<'a> {
    pub(super) place: FlushTarget,
    pub(super) now: &'a Zoned,
    pub(super) hours: Hours,
    pub(super) clock: FlushClock,
}

impl FlushWords<'_> {
    /// Returns what the model is asked. A prompt of the user's stands first; what it does not say is added.
    pub(super) fn prompt(&self, own: Option<&str>) -> String {
        let mut prompt = self.with_rules(self.dated(own.unwrap_or(REQUEST)));
        if !prompt.contains(CURRENT_TIME) {
            prompt.push('\n');
            prompt.push_str(&self.time());
        }
        prompt
    }

    /// Returns what the model is told before that.
    pub(super) fn system_prompt(&self, own: Option<&str>) -> String {
        self.with_rules(self.situation(own))
    }

    /// Returns the same without the rules.
    pub(super) fn situation(&self, own: Option<&str>) -> String {
        self.dated(own.unwrap_or(SITUATION))
    }

    fn dated(&self, text: &str) -> String {
        text.replace(PLACEHOLDER, &self.place.day)
    }

    fn with_rules(&self, begin: String) -> String {
        let path = &self.place.path;
        let mut parts = vec![
            begin,
            format!(
                "Write to `{path}` and to no other file. Each call of the write tool appends to what the file holds, so \
                 send only new lines. All other files are read-only for now, those that shape you included."
            ),
        ];
        if !parts[0].contains(NO_REPLY) {
            parts.push(format!(
                "When you have written, or if there is nothing to keep, answer {NO_REPLY}."
            ));
        }
        parts.join("\n\n")
    }

    fn time(&self) -> String {
        let now = self.now;
        let day = now.day();
        let ending = match (day % 10, day / 10) {
            (_, 1) => "th",
            (1, _) => "st",
            (2, _) => "nd",
            (3, _) => "rd",
            _ => "th",
        };
        let hour = match self.hours {
            Hours::Twelve => now.strftime("%-I:%M %p"),
            Hours::TwentyFour => now.strftime("%H:%M"),
        };
        let zone = now.time_zone().iana_name().unwrap_or("UTC");
        let date = now.strftime("%A, %B");
        let year = now.strftime("%Y");
        let utc = now.timestamp().strftime("%Y-%m-%d %H:%M UTC");
        let local = format!("{CURRENT_TIME} {date} {day}{ending}, {year} - {hour} ({zone})");
        match self.clock {
            FlushClock::OneLine => format!("{local} / {utc}"),
            FlushClock::TwoLines => format!("{local}\n{REFERENCE_TIME} {utc}"),
        }
    }
}
