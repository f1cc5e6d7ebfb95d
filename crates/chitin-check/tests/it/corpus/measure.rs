//! Loads the corpus and measures the rules with it. Used by the test and by the example of the same name.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the corpus is a directory of this repository"
)]

use chitin_check::{Finding, Severity, text_findings};
use std::fmt::Write as _;
use std::path::Path;

/// What a skill of the corpus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Should raise an alarm.
    Malicious,
    /// Should raise none.
    Honest,
}

/// Which half a technique belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// Rules are tuned with it.
    Tuning,
    /// Nobody looks at its misses.
    HeldOut,
}

/// The skills of one technique.
#[derive(Debug)]
pub(crate) struct Technique {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) half: Half,
    pub(crate) skills: Vec<Skill>,
}

/// One skill: its files by path.
#[derive(Debug)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) files: Vec<(String, String)>,
}

impl Skill {
    /// Returns what the checker says of all files.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let files = self.files.iter();
        files
            .flat_map(|(path, text)| text_findings(&format!("skills/{}/{path}", self.name), text))
            .collect()
    }

    pub(crate) fn has_alarm(&self) -> bool {
        self.findings().iter().any(is_alarm)
    }
}

/// An alarm is an error or a warning about maliciousness: dangerous commands (CH504 and up) and hidden or injected instructions (CH7).
pub(crate) fn is_alarm(finding: &Finding) -> bool {
    let concerns = finding.code.starts_with("CH7")
        || (finding.code.starts_with("CH5") && finding.code >= "CH504");
    concerns && matches!(finding.severity, Severity::Error | Severity::Warning)
}

fn half_of(technique: &str) -> Half {
    if blake3::hash(technique.as_bytes()).as_bytes()[0].is_multiple_of(2) {
        Half::Tuning
    } else {
        Half::HeldOut
    }
}

/// Loads all techniques, by kind and name.
pub(crate) fn load() -> Vec<Technique> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut techniques = Vec::new();
    for (kind, folder) in [(Kind::Malicious, "malicious"), (Kind::Honest, "honest")] {
        let mut files: Vec<_> = std::fs::read_dir(corpus.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            techniques.push(Technique {
                skills: skills(&std::fs::read_to_string(&file).unwrap()),
                half: half_of(&name),
                kind,
                name,
            });
        }
    }
    techniques
}

fn skills(stored: &str) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    for part in stored.split("@@ ").skip(1) {
        let (path, text) = part.split_once('\n').unwrap();
        let (name, path) = path.split_once('/').unwrap();
        let file = (path.to_owned(), plain(text));
        match skills.last_mut() {
            Some(skill) if skill.name == name => skill.files.push(file),
            _ => skills.push(Skill {
                name: name.to_owned(),
                files: vec![file],
            }),
        }
    }
    skills
}

/// Returns a text as it is meant: without the dots that make it harmless, with the characters that are written as numbers.
fn plain(stored: &str) -> String {
    let stored = stored.replace('\u{b7}', "");
    let mut parts = stored.split("\\u{");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (hex, rest) = part.split_once('}').unwrap();
        text.push(char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap());
        text.push_str(rest);
    }
    text
}

/// Skills with an alarm, of how many.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rate {
    pub(crate) alarms: usize,
    pub(crate) skills: usize,
}

impl Rate {
    pub(crate) fn of(techniques: &[Technique], kind: Kind, half: Half) -> Self {
        let mut rate = Self::default();
        let chosen = techniques.iter();
        for technique in chosen.filter(|t| t.kind == kind && t.half == half) {
            rate.add(technique);
        }
        rate
    }

    fn add(&mut self, technique: &Technique) {
        let skills = technique.skills.iter();
        self.alarms += skills.filter(|skill| skill.has_alarm()).count();
        self.skills += technique.skills.len();
    }

    /// Returns the rate in tenths of a percent, rounded.
    pub(crate) fn per_mille(self) -> usize {
        (self.alarms * 2_000 + self.skills) / (2 * self.skills.max(1))
    }

    fn shown(self) -> String {
        let tenths = self.per_mille();
        format!(
            "{} of {} ({}.{} %)",
            self.alarms,
            self.skills,
            tenths / 10,
            tenths % 10
        )
    }
}

/// Returns the rates of both halves as a table in Markdown.
pub(crate) fn summary(techniques: &[Technique]) -> String {
    let rate = |kind, half| Rate::of(techniques, kind, half).shown();
    let mut table = String::from("| half | caught | false alarms |\n| --- | --- | --- |\n");
    for (half, name) in [(Half::Tuning, "tuning"), (Half::HeldOut, "held out")] {
        let caught = rate(Kind::Malicious, half);
        let alarms = rate(Kind::Honest, half);
        let _ = writeln!(table, "| {name} | {caught} | {alarms} |");
    }
    table
}

/// Returns the alarms by technique as a table in Markdown. Of the held-out half it names the techniques only.
pub(crate) fn by_technique(techniques: &[Technique], kind: Kind) -> String {
    let mut table =
        String::from("| technique | half | skills | alarms |\n| --- | --- | --- | --- |\n");
    for technique in techniques.iter().filter(|t| t.kind == kind) {
        let skills = technique.skills.len();
        let (half, alarms) = match technique.half {
            Half::Tuning => {
                let mut rate = Rate::default();
                rate.add(technique);
                ("tuning", rate.alarms.to_string())
            }
            Half::HeldOut => ("held out", "not shown".to_owned()),
        };
        let _ = writeln!(
            table,
            "| {} | {half} | {skills} | {alarms} |",
            technique.name
        );
    }
    table
}
