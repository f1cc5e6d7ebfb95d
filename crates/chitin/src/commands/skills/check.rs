//! `chitin skills check`.

use super::{CheckArgs, count, one_line, survey};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::Host;
use chitin_workspace::skills::{ProblemSeverity, SkillProblem};
use serde::Serialize;
use std::fmt;

/// What is wrong.
#[derive(Debug, Serialize)]
struct Findings {
    contract: &'static str,
    skills: usize,
    problems: Vec<SkillProblem>,
}

pub(super) fn run(args: &CheckArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let survey = survey(host, &args.target, printer)?;
    printer.result(&Findings {
        contract: survey.contract.name,
        skills: survey.set.skills.len(),
        problems: survey.set.problems,
    })
}

impl Findings {
    fn count(&self, severity: ProblemSeverity) -> usize {
        self.problems
            .iter()
            .filter(|problem| problem.severity == severity)
            .count()
    }
}

impl Render for Findings {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for problem in &self.problems {
            let severity = match problem.severity {
                ProblemSeverity::Error => paint.bad("error"),
                ProblemSeverity::Warning => paint.warn("warning"),
            };
            let mut place = problem.path.display().to_string();
            for number in [problem.line, problem.column].into_iter().flatten() {
                place.push(':');
                place.push_str(&number.to_string());
            }
            writeln!(
                out,
                "{}: {severity}: {} {}",
                paint.bold(&one_line(&place)),
                one_line(&problem.message),
                paint.dim(&format!("[{}]", problem.code))
            )?;
        }
        let (errors, warnings) = (
            self.count(ProblemSeverity::Error),
            self.count(ProblemSeverity::Warning),
        );
        writeln!(
            out,
            "{} read under `{}`: {}, {}.",
            count(self.skills, "skill"),
            self.contract,
            count(errors, "error"),
            count(warnings, "warning")
        )
    }

    fn exit(&self) -> Exit {
        if self.count(ProblemSeverity::Error) > 0 {
            Exit::Findings
        } else {
            Exit::Success
        }
    }
}
