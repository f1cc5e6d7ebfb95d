//! The report for a terminal: one screen, or every line.

use super::{ONLY_A_REPORT, described, file_name, locked};
use crate::printer::{Paint, plain};
use chitin_runtime::home_report::{HomeLine, HomeReport, HomeSection, HomeVerdict};
use std::collections::BTreeMap;
use std::fmt;

/// How long a note may be in a row of the table.
const MAX_NOTE: usize = 76;

pub(super) fn print(
    report: &HomeReport,
    all: bool,
    out: &mut dyn fmt::Write,
    paint: Paint,
) -> fmt::Result {
    writeln!(
        out,
        "OpenClaw home {}",
        paint.bold(&safe(&file_name(&report.home)))
    )?;
    writeln!(out, "{}", safe(&described(&report.contents)))?;
    if let Some(locked) = locked(&report.contents) {
        writeln!(out, "{}", paint.warn(&safe(&locked)))?;
    }
    writeln!(out)?;
    if all {
        for section in &report.sections {
            lines(section, out, paint)?;
        }
    } else {
        table(&report.sections, out, paint)?;
    }
    problems(report, all, out, paint)?;
    writeln!(out, "{ONLY_A_REPORT}")?;
    if !all {
        writeln!(
            out,
            "Every line: `--all`; for programs: `--json`; for a browser: `--html FILE`."
        )?;
    }
    Ok(())
}

fn table(sections: &[HomeSection], out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let heading = format!(
        "{:<14}{:>6}{:>9}{:>11}",
        "", "works", "differs", "no effect"
    );
    writeln!(out, "{}", paint.dim(&heading))?;
    for section in sections {
        let number = |count: usize, width: usize| match count {
            0 => format!("{:>width$}", "-"),
            count => format!("{count:>width$}"),
        };
        write!(
            out,
            "{:<14}{}{}{}",
            section.subject,
            paint.good(&number(section.works, 6)),
            paint.warn(&number(section.differs, 9)),
            paint.bad(&number(section.unsupported, 11)),
        )?;
        match usual_note(section) {
            Some(note) => writeln!(out, "  {}", paint.dim(&note))?,
            None => writeln!(out)?,
        }
    }
    writeln!(out)
}

/// Returns what most lines of a section say that do not simply work.
fn usual_note(section: &HomeSection) -> Option<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let said = section.lines.iter().enumerate();
    let said = said.filter(|(_, line)| line.verdict != HomeVerdict::Works);
    for (at, line) in said {
        if let Some(note) = &line.note {
            let entry = counts.entry(note).or_insert((0, usize::MAX - at));
            entry.0 += 1;
        }
    }
    let (note, _) = counts.into_iter().max_by_key(|(_, rank)| *rank)?;
    let note = safe(note);
    if note.chars().count() <= MAX_NOTE {
        return Some(note);
    }
    let kept: String = note.chars().take(MAX_NOTE - 1).collect();
    Some(format!("{}…", kept.trim_end()))
}

fn lines(section: &HomeSection, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    writeln!(out, "{}", paint.bold(section.subject))?;
    for line in &section.lines {
        write!(out, "  {} {}", verdict(line, paint), safe(&line.name))?;
        if let Some(place) = line.place.as_ref().filter(|place| !place.is_empty()) {
            write!(out, "  {}", paint.dim(&format!("({})", safe(place))))?;
        }
        writeln!(out)?;
        if let Some(note) = &line.note {
            writeln!(out, "            {}", safe(note))?;
        }
    }
    writeln!(out)
}

fn verdict(line: &HomeLine, paint: Paint) -> String {
    match line.verdict {
        HomeVerdict::Works => paint.good("works    "),
        HomeVerdict::Differs => paint.warn("differs  "),
        HomeVerdict::Unsupported => paint.bad("no effect"),
    }
}

fn problems(report: &HomeReport, all: bool, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    const SHOWN: usize = 5;
    if report.problems.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", paint.bold("not readable"))?;
    let most = if all { usize::MAX } else { SHOWN };
    for problem in report.problems.iter().take(most) {
        writeln!(
            out,
            "  {}  {}",
            safe(&problem.place),
            safe(&problem.message)
        )?;
        if let Some(hint) = &problem.hint {
            writeln!(out, "            {}", safe(hint))?;
        }
    }
    let more = report.problems.len().saturating_sub(most);
    if more > 0 {
        writeln!(out, "  and {more} more")?;
    }
    writeln!(out)
}

/// What stands in a home may be anything.
fn safe(text: &str) -> String {
    plain(&text.replace(['\n', '\r', '\t'], " "), '\u{fffd}')
}
