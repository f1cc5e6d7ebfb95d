//! `chitin skills show NAME`.

use super::{ShowArgs, one_line, survey};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_contract::SkillSource;
use chitin_runtime::{Host, SkillSurvey};
use chitin_workspace::skills::{Ineligible, Skill, SkillCommand, skill_commands};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// One skill and everything that is known of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    #[serde(flatten)]
    skill: Skill,
    key: String,
    eligible: bool,
    reasons: Vec<Ineligible>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<SkillCommand>,
    shadows: Vec<Loser>,
}

/// A skill of the same name that lost.
#[derive(Debug, Serialize)]
struct Loser {
    source: SkillSource,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    file: PathBuf,
}

pub(super) fn run(args: &ShowArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let survey = survey(host, &args.target, printer)?;
    let Some(skill) = survey.set.get(&args.name).cloned() else {
        return Err(unknown(&args.name, &survey));
    };
    let eligibility = survey.eligibility(host);
    let reasons = survey.reasons(&eligibility, &skill);
    let usable = survey.set.skills.iter();
    let usable = usable.filter(|skill| survey.reasons(&eligibility, skill).is_empty());
    let command = skill_commands(usable, &["skill"], &survey.contract.skills)
        .into_iter()
        .find(|command| command.skill_name == skill.name);
    let shadows = survey
        .set
        .shadowed
        .iter()
        .filter(|lost| lost.skill.name == skill.name)
        .map(|lost| Loser {
            source: lost.skill.source,
            file: lost.skill.file.clone(),
        })
        .collect();
    printer.result(&Shown {
        key: skill.key().to_owned(),
        eligible: reasons.is_empty(),
        reasons,
        command,
        shadows,
        skill,
    })
}

fn unknown(name: &str, survey: &SkillSurvey) -> CliError {
    let error = CliError::new(
        FailureKind::User,
        format!("There is no skill called `{name}`."),
    );
    let similar: Vec<String> = survey
        .set
        .skills
        .iter()
        .filter(|skill| {
            let (known, asked) = (skill.name.to_lowercase(), name.to_lowercase());
            known.contains(&asked) || asked.contains(&known)
        })
        .take(5)
        .map(|skill| format!("`{}`", one_line(&skill.name)))
        .collect();
    let error = if similar.is_empty() {
        error
    } else {
        error.hint(format!("there is {}", similar.join(", ")))
    };
    if survey.set.has_errors() {
        return error.hint("`chitin skills check` lists skills that could not be read");
    }
    error
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let skill = &self.skill;
        let metadata = skill.metadata.as_ref();
        let emoji = metadata.and_then(|metadata| metadata.emoji.as_deref());
        let title = match emoji {
            Some(emoji) => format!("{} {}", one_line(emoji), one_line(&skill.name)),
            None => one_line(&skill.name),
        };
        writeln!(out, "{}", paint.bold(&title))?;
        writeln!(out, "{}\n", one_line(&skill.description))?;
        let mut field = |name: &str, value: &str| -> fmt::Result {
            writeln!(
                out,
                "{}  {}",
                paint.dim(&format!("{name:12}")),
                one_line(value)
            )
        };
        field("file", &skill.file.display().to_string())?;
        field("source", skill.source.tag())?;
        if self.key != skill.name {
            field("config key", &self.key)?;
        }
        for lost in &self.shadows {
            field(
                "shadows",
                &format!("{} ({})", lost.file.display(), lost.source),
            )?;
        }
        field(
            "model",
            if skill.invocation.disable_model_invocation {
                "is not told of it"
            } else {
                "may use it"
            },
        )?;
        match &self.command {
            Some(command) => field("command", &format!("/{}", command.name))?,
            None => field("command", "none")?,
        }
        if let Some(metadata) = metadata {
            let list = |items: &[String]| items.join(", ");
            if let Some(homepage) = &metadata.homepage {
                field("homepage", homepage)?;
            }
            if let Some(os) = &metadata.os {
                field("needs os", &list(os))?;
            }
            if let Some(requires) = &metadata.requires {
                for (name, items) in [
                    ("needs bins", &requires.bins),
                    ("needs one of", &requires.any_bins),
                    ("needs env", &requires.env),
                    ("needs config", &requires.config),
                ] {
                    if !items.is_empty() {
                        field(name, &list(items))?;
                    }
                }
            }
            for spec in metadata.install.iter().flatten() {
                let text = serde_json::to_string(spec).unwrap_or_default();
                field("install", &text)?;
            }
        }
        field("ready", if self.eligible { "yes" } else { "no" })?;
        for reason in &self.reasons {
            field("", &format!("because {reason}"))?;
        }
        writeln!(out, "\n{}", paint.dim("front matter"))?;
        for (key, value) in skill.front_matter.iter() {
            writeln!(out, "  {}: {}", one_line(key), one_line(value))?;
        }
        Ok(())
    }
}
