//! `chitin skills list`.

use super::{ListArgs, count, fit, one_line, survey};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_contract::SkillSource;
use chitin_runtime::Host;
use chitin_workspace::skills::{Ineligible, Skill};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

const DEFAULT_WIDTH: usize = 100;
const MAX_NAME_WIDTH: usize = 32;
const SOURCE_WIDTH: usize = 22;
const STATE_WIDTH: usize = 9;

/// The table.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Table {
    contract: &'static str,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    workspace: PathBuf,
    skills: Vec<Row>,
    /// How many skills are not ready, listed or not.
    not_ready: usize,
    shadowed: usize,
    problems: usize,
    #[serde(skip)]
    all: bool,
    #[serde(skip)]
    width: usize,
}

/// One line of the table.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: String,
    source: SkillSource,
    eligible: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<Ineligible>,
    #[serde(
        serialize_with = "chitin_workspace::json_path::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    shadowed_by: Option<PathBuf>,
    model_invocable: bool,
    user_invocable: bool,
    description: String,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    file: PathBuf,
}

impl Row {
    fn new(skill: &Skill, reasons: Vec<Ineligible>, shadowed_by: Option<PathBuf>) -> Self {
        Self {
            name: skill.name.clone(),
            source: skill.source,
            eligible: reasons.is_empty() && shadowed_by.is_none(),
            reasons,
            shadowed_by,
            model_invocable: !skill.invocation.disable_model_invocation,
            user_invocable: skill.invocation.user_invocable,
            description: skill.description.clone(),
            file: skill.file.clone(),
        }
    }
}

pub(super) fn run(args: &ListArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let survey = survey(host, &args.target, printer)?;
    let eligibility = survey.eligibility(host);
    let mut rows: Vec<Row> = survey
        .set
        .skills
        .iter()
        .map(|skill| Row::new(skill, survey.reasons(&eligibility, skill), None))
        .collect();
    let not_ready = rows.iter().filter(|row| !row.eligible).count();
    if args.all {
        let shadowed = survey.set.shadowed.iter();
        rows.extend(
            shadowed.map(|lost| Row::new(&lost.skill, Vec::new(), Some(lost.by_file.clone()))),
        );
        rows.sort_by(|a, b| a.name.cmp(&b.name));
    } else {
        rows.retain(|row| row.eligible);
    }
    printer.result(&Table {
        contract: survey.contract.name,
        skills: rows,
        not_ready,
        shadowed: survey.set.shadowed.len(),
        problems: survey.set.problems.len(),
        all: args.all,
        width: width(host),
        workspace: survey.workspace,
    })
}

fn width(host: &Host) -> usize {
    host.env
        .get("COLUMNS")
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns >= 40)
        .unwrap_or(DEFAULT_WIDTH)
}

impl Render for Table {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let names: Vec<String> = self
            .skills
            .iter()
            .map(|row| fit(&one_line(&row.name), MAX_NAME_WIDTH))
            .collect();
        let name_width = names.iter().map(|name| name.chars().count()).max();
        let name_width = name_width.unwrap_or(0).max("NAME".len());
        let rest = self
            .width
            .saturating_sub(name_width + SOURCE_WIDTH + STATE_WIDTH + 6);
        if !self.skills.is_empty() {
            let head = format!(
                "{:name_width$}  {:SOURCE_WIDTH$}  {:STATE_WIDTH$}  DESCRIPTION",
                "NAME", "SOURCE", "READY"
            );
            writeln!(out, "{}", paint.dim(&head))?;
        }
        for (row, name) in self.skills.iter().zip(&names) {
            let state = match (row.eligible, &row.shadowed_by) {
                (true, _) => paint.good(&format!("{:STATE_WIDTH$}", "yes")),
                (false, Some(_)) => paint.dim(&format!("{:STATE_WIDTH$}", "shadowed")),
                (false, None) => paint.warn(&format!("{:STATE_WIDTH$}", "no")),
            };
            let said = match row.reasons.first() {
                Some(reason) => reason.to_string(),
                None => one_line(&row.description),
            };
            writeln!(
                out,
                "{}  {:SOURCE_WIDTH$}  {state}  {}",
                paint.bold(&format!("{name:name_width$}")),
                row.source,
                fit(&one_line(&said), rest)
            )?;
        }
        self.footer(out, paint)
    }
}

impl Table {
    fn footer(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let ready = self.skills.iter().filter(|row| row.eligible).count();
        if !self.skills.is_empty() {
            writeln!(out)?;
        }
        write!(
            out,
            "{} ready under `{}`.",
            count(ready, "skill"),
            self.contract
        )?;
        let hidden = self.not_ready + self.shadowed;
        if hidden > 0 && !self.all {
            write!(
                out,
                " {hidden} more: `--all` lists those that are not ready or shadowed."
            )?;
        }
        writeln!(out)?;
        if self.problems > 0 {
            let text = format!(
                "{}: `chitin skills check` lists them.",
                count(self.problems, "problem")
            );
            writeln!(out, "{}", paint.warn(&text))?;
        }
        Ok(())
    }
}
