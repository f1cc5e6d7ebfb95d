//! The workspace checker: findings about a snapshot, each with a stable code, a severity, a place and a remedy.
//!
//! In: a snapshot, the other texts of its directory, what discovery says of its skills. Out: a [`CheckReport`]. Every rule is a
//! small function that looks at one thing; the table [`RULES`] says what each means. Nothing here changes a file except
//! [`apply`], runs what it reads or opens a connection, and no finding ever shows a secret.
//!
//! ```
//! use chitin_check::{CheckInput, check};
//! use chitin_contract::CANONICAL;
//! use chitin_workspace::load::{LoadOptions, load};
//!
//! # let directory = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbor"));
//! let workspace = load(directory, &CANONICAL, &LoadOptions::default())?;
//! let report = check(&CheckInput::new(&workspace));
//! assert!(report.findings.is_empty());
//! # Ok::<(), chitin_workspace::load::LoadError>(())
//! ```

mod allow;
mod base64;
mod budget;
mod commands;
mod danger;
mod encoding;
mod extensions;
mod finding;
mod fix;
mod front_matter;
mod gather;
mod injection;
mod lines;
mod links;
mod names;
mod permissions;
mod phrases;
mod records;
mod rules;
mod sarif;
mod secrets;
mod skills;
mod skills_file;
mod subject;
mod surroundings;
mod templates;

pub use budget::TextLimits;
pub use finding::{Finding, Fix, Location, MAX_FINDINGS_PER_FILE, Severity, Suppressed};
pub use fix::{FixError, PlannedFix, apply, planned};
pub use gather::{Bounds, Gathered, TextFile, gather};
pub use rules::{CheckRule, RULES, reference_markdown, rule};
pub use sarif::sarif;
pub use secrets::redact_secrets;
pub use skills::{SkillFile, SkillFinding, skill_files};
pub use subject::FileRole;

use chitin_contract::{Contract, ReadErrorRule};
use chitin_guard::{ReadPolicy, Root};
use chitin_workspace::snapshot::Workspace;
use finding::{Draft, Findings};
use serde::Serialize;
use std::path::Path;
use subject::Subject;

/// What is checked.
#[derive(Debug, Clone, Copy)]
pub struct CheckInput<'a> {
    /// The snapshot.
    pub workspace: &'a Workspace,
    /// The directory, to look links up in; without it links are not checked.
    pub root: Option<&'a Root>,
    /// The texts of the directory that the snapshot does not have.
    pub files: &'a [TextFile],
    /// Names at the top of the directory, and known names below.
    pub names: &'a [String],
    /// Which bounds were reached while collecting.
    pub notes: &'a [String],
    /// Extension files that a turn cannot use, each with the reason as the rest of a sentence.
    pub unusable: &'a [(String, String)],
    /// The skills, as discovery found them.
    pub skills: &'a [SkillFile],
    /// The texts that seeding writes, by file name.
    pub templates: &'a [(&'a str, &'a str)],
    /// The budgets in force.
    pub limits: TextLimits,
    /// Files that are not in the prompt whole by the user's own settings, with the reason as a sentence.
    pub shortened: &'a [(String, String)],
    /// Permission bits of the directory.
    pub directory_mode: Option<u32>,
    /// The providers of models that are known; without any, what `RUNTIME.md` says of them is not judged.
    pub providers: &'a [String],
    /// The adapter that reads the directory, where it is not OpenClaw's.
    pub claimed: Option<ClaimedBy<'a>>,
    /// Codes that nobody wants to hear of.
    pub ignore: &'a [String],
}

/// An adapter that reads a directory which is not an OpenClaw workspace.
#[derive(Debug, Clone, Copy)]
pub struct ClaimedBy<'a> {
    /// The adapter's name.
    pub adapter: &'a str,
    /// What it has to say about the directory: sentences.
    pub notes: &'a [String],
}

impl<'a> CheckInput<'a> {
    /// Starts from a snapshot alone, with the budgets of its contract.
    pub fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            root: None,
            files: &[],
            names: &[],
            notes: &[],
            unusable: &[],
            skills: &[],
            templates: &[],
            limits: TextLimits::of(workspace.contract()),
            shortened: &[],
            directory_mode: None,
            providers: &[],
            claimed: None,
            ignore: &[],
        }
    }
}

/// What the check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The directory.
    pub path: String,
    /// The contract that it was checked under.
    pub contract: &'static str,
    /// The findings, by file and place; those about the directory first.
    pub findings: Vec<Finding>,
    /// What comments in the files let pass.
    pub suppressed: Vec<Suppressed>,
    /// The counts.
    pub summary: Summary,
}

/// How much was found, in how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings to know of.
    pub infos: usize,
    /// Findings that comments let pass.
    pub suppressed: usize,
    /// Texts that were looked at.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// Says what it means that the names in a directory may not be read.
fn unlisted(contract: &Contract) -> Draft {
    let (severity, effect) = match contract.loading.read_errors {
        ReadErrorRule::Fail => (Severity::Error, "so no turn is run in it"),
        ReadErrorRule::Refusal => (Severity::Warning, "so files may be overlooked"),
    };
    let message = format!("The directory cannot be listed, {effect}.");
    Draft::new(&rules::UNREADABLE, message)
        .severity(severity)
        .remedy("Give the user who runs the agent the right to list it: `chmod u+r`, or `o+r` if it belongs to another user.")
}

/// Checks a workspace.
pub fn check(input: &CheckInput<'_>) -> CheckReport {
    let workspace = input.workspace;
    let mut findings = Findings::new(input.ignore);
    let mut summary = Summary::default();
    for note in input.notes {
        findings.about(".", Draft::new(&rules::BOUND_REACHED, note.clone()));
    }
    if input
        .root
        .is_some_and(|root| root.check_listable().is_err())
    {
        findings.about(".", unlisted(workspace.contract()));
    }
    records::check(workspace, input.claimed, &mut findings);
    names::check(workspace.contract(), input.names, &mut findings);
    budget::check(workspace, input.limits, &mut findings);
    for (path, reason) in input.shortened {
        findings.about(path, Draft::new(&rules::SHORTENED, reason.clone()));
    }
    if let Some(mode) = input.directory_mode {
        permissions::check(".", mode, &mut findings);
    }
    for record in workspace.records() {
        let Some(content) = record.content() else {
            continue;
        };
        let path = relative(workspace, &record.path, &record.name);
        summary.count(&content.text);
        permissions::check(&path, content.mode, &mut findings);
        let invalid = content.invalid.as_deref();
        let subject = Subject::new(&path, FileRole::Bootstrap, &content.text, invalid);
        check_subject(&subject, input, &mut findings);
        findings.end_of(&subject);
    }
    for file in input.files {
        summary.count(&file.text);
        permissions::check(&file.path, file.mode, &mut findings);
        let role = FileRole::of(&file.path);
        let subject = Subject::new(&file.path, role, &file.text, file.invalid.as_deref());
        if let Some(skill) = input.skills.iter().find(|skill| skill.path == file.path) {
            skills::check(&subject, skill, &mut findings);
        }
        extensions::check(&subject, Some(input.skills), input.providers, &mut findings);
        check_subject(&subject, input, &mut findings);
        findings.end_of(&subject);
    }
    extensions::check_unread(input, &mut findings);
    // Skills from outside the workspace come with their text only.
    for skill in input.skills {
        if input.files.iter().any(|file| file.path == skill.path) {
            continue;
        }
        summary.count(&skill.text);
        let subject = Subject::new(&skill.path, FileRole::Skill, &skill.text, None);
        skills::check(&subject, skill, &mut findings);
        text_rules(&subject, &mut findings);
        findings.end_of(&subject);
    }
    let (findings, suppressed) = findings.finish();
    for finding in &findings {
        summary.add(finding.severity);
    }
    summary.suppressed = suppressed.len();
    CheckReport {
        path: workspace.path().to_string_lossy().into_owned(),
        contract: workspace.contract().name,
        findings,
        suppressed,
        summary,
    }
}

impl CheckReport {
    /// Adds what is found in the files that guard the agent in a workspace which is composed with this one. `shown` is the name of
    /// that directory in findings; none of them is fixed, because `--fix` changes one workspace only.
    pub fn add_composed(
        &mut self,
        shown: &str,
        root: &Root,
        policy: &ReadPolicy,
        ignore: &[String],
    ) {
        let mut findings = Findings::new(ignore);
        extensions::check_composed(root, policy, &mut findings);
        let (findings, _) = findings.finish();
        for finding in findings {
            self.summary.add(finding.severity);
            self.findings.push(Finding {
                path: format!("{shown}/{}", finding.path),
                fix: None,
                ..finding
            });
        }
    }
}

impl Summary {
    fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => self.infos += 1,
        }
    }

    fn count(&mut self, text: &str) {
        self.files += 1;
        self.bytes += text.len() as u64;
    }
}

/// Checks one text alone, as far as that goes: its form, secrets, commands, hidden instructions.
pub fn text_findings(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Findings::new(&[]);
    let subject = Subject::new(path, FileRole::of(path), text, None);
    extensions::check(&subject, None, &[], &mut findings);
    text_rules(&subject, &mut findings);
    templates::check(&subject, &[], &mut findings);
    findings.end_of(&subject);
    findings.finish().0
}

/// Looks for secrets in one text, and for nothing else.
pub fn secret_findings(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Findings::new(&[]);
    let subject = Subject::new(path, FileRole::of(path), text, None);
    secrets::check(&subject, &mut findings);
    findings.end_of(&subject);
    findings.finish().0
}

/// The rules that need nothing but the text. The gravest come first, in case there are more findings than are listed.
fn text_rules(subject: &Subject<'_>, findings: &mut Findings) {
    secrets::check(subject, findings);
    commands::check(subject, findings);
    danger::check(subject, findings);
    links::check_images(subject, findings);
    injection::check(subject, findings);
    allow::check(subject, findings);
    encoding::check(subject, findings);
    front_matter::check(subject, findings);
}

fn check_subject(subject: &Subject<'_>, input: &CheckInput<'_>, findings: &mut Findings) {
    text_rules(subject, findings);
    templates::check(subject, input.templates, findings);
    let follows_links = matches!(subject.role, FileRole::Bootstrap | FileRole::Skill);
    if let Some(root) = input.root
        && follows_links
        && subject.is_markdown()
    {
        links::check(subject, root, findings);
    }
}

/// Returns a path relative to the workspace, with `/` between names.
fn relative(workspace: &Workspace, path: &Path, name: &str) -> String {
    path.strip_prefix(workspace.path()).map_or_else(
        |_| name.to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}
