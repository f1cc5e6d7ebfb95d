//! `chitin contracts`: what each built-in contract says, and how two of them differ.

use crate::error::CliError;
use crate::printer::{Paint, Render};
use chitin_contract::{ContractDifference, KnownDifference, Row};
use chitin_runtime::contracts::find;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// List the built-in contracts, explain one, or compare two.
///
/// A contract says which files a runtime loads, in which order, with which limits, filters and markers. For the contract of a release, the explanation ends with the intended differences from that release, and the reasons.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin contracts
  chitin contracts openclaw-2026.4
  chitin contracts canonical --diff openclaw-2026.9
  chitin contracts --json")]
pub(crate) struct Args {
    /// The contract to explain.
    name: Option<String>,

    /// Show only what differs from this contract.
    #[arg(long, value_name = "OTHER", requires = "name")]
    diff: Option<String>,
}

/// What the command found.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Report {
    List {
        contracts: Vec<Listed>,
    },
    One {
        contract: &'static str,
        summary: &'static str,
        fields: Vec<Row>,
        #[serde(rename = "knownDifferences")]
        known: Vec<&'static KnownDifference>,
    },
    Two {
        left: &'static str,
        right: &'static str,
        differences: Vec<ContractDifference>,
    },
}

/// One line of the list.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    name: &'static str,
    summary: &'static str,
    default: bool,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report, CliError> {
        match (&self.name, &self.diff) {
            (None, _) => Ok(Report::List {
                contracts: chitin_contract::ALL
                    .into_iter()
                    .enumerate()
                    .map(|(at, c)| Listed {
                        name: c.name,
                        summary: c.summary,
                        default: at == 0,
                    })
                    .collect(),
            }),
            (Some(name), None) => {
                let contract = find(name)?;
                Ok(Report::One {
                    contract: contract.name,
                    summary: contract.summary,
                    fields: chitin_contract::describe(contract),
                    known: chitin_contract::known_differences(contract),
                })
            }
            (Some(left), Some(right)) => {
                let (left, right) = (find(left)?, find(right)?);
                Ok(Report::Two {
                    left: left.name,
                    right: right.name,
                    differences: chitin_contract::differences(left, right),
                })
            }
        }
    }
}

impl Render for Report {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        match self {
            Self::List { contracts } => {
                for listed in contracts {
                    let mark = if listed.default { " (default)" } else { "" };
                    writeln!(
                        out,
                        "{}{mark}\n    {}",
                        paint.bold(listed.name),
                        listed.summary
                    )?;
                }
                Ok(())
            }
            Self::One {
                contract,
                summary,
                fields,
                known,
            } => {
                writeln!(out, "{}: {summary}\n", paint.bold(contract))?;
                for row in fields
                    .iter()
                    .filter(|row| row.path != "name" && row.path != "summary")
                {
                    writeln!(out, "{} = {}", paint.bold(&row.path), show(&row.value))?;
                    writeln!(out, "    {}", paint.dim(&row.meaning))?;
                }
                show_known(known, out, paint)
            }
            Self::Two {
                left,
                right,
                differences,
            } => {
                if differences.is_empty() {
                    return writeln!(out, "{left} and {right} are the same.");
                }
                for difference in differences {
                    writeln!(
                        out,
                        "{}  {}",
                        paint.bold(&difference.path),
                        paint.dim(&difference.meaning)
                    )?;
                    writeln!(
                        out,
                        "  {}",
                        paint.bad(&format!("- {left}: {}", show(&difference.left)))
                    )?;
                    writeln!(
                        out,
                        "  {}",
                        paint.good(&format!("+ {right}: {}", show(&difference.right)))
                    )?;
                }
                Ok(())
            }
        }
    }
}

/// Lists what is meant to differ from the release.
fn show_known(known: &[&KnownDifference], out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    if !known.is_empty() {
        writeln!(
            out,
            "\n{}",
            paint.bold("Known differences from the release")
        )?;
    }
    for one in known {
        writeln!(out, "{}", paint.bold(one.key))?;
        writeln!(out, "    the release: {}", one.release)?;
        writeln!(out, "    ours: {}", one.ours)?;
        writeln!(out, "    {}", paint.dim(&format!("why: {}", one.reason)))?;
    }
    Ok(())
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "nothing".to_owned(),
        Value::Array(items) => items.iter().map(show).collect::<Vec<_>>().join(", "),
        Value::Object(fields) if !fields.contains_key("name") => {
            let named = fields.iter().map(|(name, value)| match value {
                Value::Object(_) => format!("{name} ({})", show(value)),
                value => format!("{name} {}", show(value)),
            });
            named.collect::<Vec<_>>().join(", ")
        }
        Value::Object(fields) => {
            let name = fields.get("name").map(show).unwrap_or_default();
            let absent = fields.get("absent").map(show).unwrap_or_default();
            if absent == "record" {
                name
            } else {
                format!("{name} ({absent})")
            }
        }
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
    }
}
