//! Limits of a turn: the contract's, what both configurations set, and what the user tries on the command line.

use super::ModelFigures;
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use chitin_config::ChitinSettings;
use chitin_config::settings::ContextSettings;
use chitin_context::Context;
use chitin_context::budget::{BudgetLimits, LimitUnit};
use chitin_context::degrade::{ShrinkPlan, ShrinkStep, Which};
use chitin_contract::{Contract, CutRule};
use chitin_protocol::config::{BudgetUnit, PlanSetting};
use chitin_protocol::nearest::nearest;

/// The least and the most that a limit can sensibly be.
const LEAST: u64 = 16;
const MOST: u64 = 50_000_000;
/// How much of the window the system prompt may take, in percent, when a plan does not say.
const DEFAULT_SHARE: u8 = 25;

/// Limits as the user types them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Budget {
    unit: Option<LimitUnit>,
    per_file: Option<usize>,
    total: Option<usize>,
    files: Vec<(String, usize)>,
}

impl Budget {
    /// Reads `file=8000,total=40000,AGENTS.md=2000,unit=tokens`.
    pub(super) fn parse(text: &str) -> Result<Self, RuntimeError> {
        let mut budget = Self::default();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let Some((key, value)) = part.split_once('=') else {
                return Err(
                    wrong(part, "is no limit").hint("write it as `file=8000` or `total=40000`")
                );
            };
            let (key, value) = (key.trim(), value.trim());
            match key {
                "unit" => {
                    budget.unit = Some(match value {
                        "characters" | "chars" => LimitUnit::Characters,
                        "tokens" => LimitUnit::Tokens,
                        _ => {
                            return Err(
                                wrong(value, "is no unit").hint("it is `characters` or `tokens`")
                            );
                        }
                    });
                }
                "file" => budget.per_file = Some(bound(value)?),
                "total" => budget.total = Some(bound(value)?),
                name if name.contains('.') => budget.files.push((name.to_owned(), bound(value)?)),
                name => {
                    let error = wrong(name, "is not something that can be limited");
                    return Err(match nearest(name, ["file", "total", "unit"]) {
                        Some(near) => error.hint(format!("did you mean `{near}`?")),
                        None => error.hint(
                            "`file` limits each file, `total` all files, `AGENTS.md` that file",
                        ),
                    });
                }
            }
        }
        Ok(budget)
    }
}

fn bound(text: &str) -> Result<usize, RuntimeError> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let number = digits
        .parse::<u64>()
        .ok()
        .filter(|n| (LEAST..=MOST).contains(n));
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| {
            wrong(text, "is not a valid limit")
                .hint(format!("give a whole number from {LEAST} to {MOST}"))
        })
}

fn wrong(text: &str, what: &str) -> RuntimeError {
    RuntimeError::new(
        ErrorKind::Usage,
        format!("`{}` {what}.", plain(text, '\u{fffd}')),
    )
}

/// Lays the limits over each other.
pub(super) fn limits(
    contract: &Contract,
    settings: &ContextSettings,
    own: &ChitinSettings,
    typed: Option<&str>,
) -> Result<BudgetLimits, RuntimeError> {
    let mut limits = BudgetLimits::of(contract).with_settings(settings);
    if contract.budgets.cut == CutRule::Never {
        // Still read, so that a slip of the finger does not wait for another contract.
        typed.map(Budget::parse).transpose()?;
        return Ok(limits);
    }
    if let Some(budget) = &own.budget {
        let size = |bound: u32| usize::try_from(bound).unwrap_or(usize::MAX);
        let files = budget
            .files
            .iter()
            .map(|(name, bound)| (name.clone(), size(*bound)));
        let budget = Budget {
            unit: budget.unit.map(|unit| match unit {
                BudgetUnit::Characters => LimitUnit::Characters,
                BudgetUnit::Tokens => LimitUnit::Tokens,
            }),
            per_file: budget.per_file.map(size),
            total: budget.total.map(size),
            files: files.collect(),
        };
        lay_over(&mut limits, budget);
    }
    if let Some(typed) = typed {
        lay_over(&mut limits, Budget::parse(typed)?);
    }
    Ok(limits)
}

/// Says which files are named by a limit or by a step of a plan and do not exist for this context.
pub(super) fn unmatched(
    typed: Option<&str>,
    own: &ChitinSettings,
    context: &Context,
) -> Vec<String> {
    let typed = typed.and_then(|typed| Budget::parse(typed).ok());
    let typed = typed.into_iter().flat_map(|budget| budget.files);
    let set = own.budget.iter().flat_map(|budget| budget.files.keys());
    let steps = own
        .small_window
        .iter()
        .flat_map(|setting| match &setting.plan {
            PlanSetting::Named(_) => &[],
            PlanSetting::Steps(steps) => steps.as_slice(),
        });
    let steps = steps.flat_map(|step| &step.files);
    let steps = steps.filter(|file| matches!(Which::parse(file), Which::Named(_)));
    let mut wanted: Vec<String> = typed.map(|(name, _)| name).collect();
    wanted.extend(set.chain(steps).cloned());
    let names: Vec<&str> = context
        .files
        .records
        .iter()
        .map(|record| &*record.name)
        .collect();
    wanted
        .into_iter()
        .filter(|name| !names.contains(&name.as_str()))
        .map(|name| {
            let near = nearest(&name, names.iter().copied());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let name = plain(&name, '\u{fffd}');
            format!("a limit or a plan names `{name}`, which is not a file of this context{hint}")
        })
        .collect()
}

fn lay_over(limits: &mut BudgetLimits, budget: Budget) {
    if let Some(unit) = budget.unit.filter(|unit| *unit != limits.unit) {
        limits.per_file = converted(limits.per_file, unit);
        limits.total = limits.total.map(|total| converted(total, unit));
        limits.user = limits.user.map(|user| converted(user, unit));
        limits.unit = unit;
    }
    if let Some(bound) = budget.per_file {
        limits.per_file = bound;
    }
    if let Some(bound) = budget.total {
        limits.total = Some(bound);
    }
    limits.files.extend(budget.files);
}

/// Limits in the other unit say nothing in this one: four characters are about one token.
const fn converted(bound: usize, unit: LimitUnit) -> usize {
    match unit {
        LimitUnit::Tokens => bound / 4,
        LimitUnit::Characters => bound.saturating_mul(4),
    }
}

/// Returns the plan for small windows and how many tokens it allows.
pub(super) fn plan(
    own: &ChitinSettings,
    model: &ModelFigures,
) -> Result<Option<(ShrinkPlan, usize)>, RuntimeError> {
    let Some(setting) = &own.small_window else {
        return Ok(None);
    };
    let plan = match &setting.plan {
        PlanSetting::Named(name) if name == "off" => return Ok(None),
        PlanSetting::Named(name) => ShrinkPlan::built_in(name).ok_or_else(|| {
            let error = RuntimeError::new(
                ErrorKind::Config,
                format!("There is no plan called `{name}`."),
            );
            match nearest(name, ShrinkPlan::NAMES) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!(
                    "there are `off`, `{}`, and steps of your own",
                    ShrinkPlan::NAMES.join("`, `")
                )),
            }
        })?,
        PlanSetting::Steps(steps) => ShrinkPlan {
            name: "own".to_owned(),
            steps: steps
                .iter()
                .map(|step| ShrinkStep {
                    files: step.files.iter().map(|file| Which::parse(file)).collect(),
                    keep: step.keep.min(100),
                })
                .collect(),
        },
    };
    let tokens = setting
        .tokens
        .and_then(|tokens| usize::try_from(tokens).ok());
    let share = setting.share.unwrap_or(DEFAULT_SHARE);
    let allowed = tokens.or_else(|| model.share_of_window(share));
    Ok(allowed.map(|allowed| (plan, allowed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_typed() {
        let budget = Budget::parse("file=8_000, total=40000,AGENTS.md=2000,unit=tokens").unwrap();
        assert_eq!(budget.per_file, Some(8000));
        assert_eq!(budget.total, Some(40000));
        assert_eq!(budget.files, [("AGENTS.md".to_owned(), 2000)]);
        assert_eq!(budget.unit, Some(LimitUnit::Tokens));
    }

    #[test]
    fn absurd_limits_are_refused() {
        for text in [
            "file=0",
            "total=1",
            "file=-5",
            "total=99999999999999999999",
            "file=51000000",
            "file=x",
            "file",
            "fiel=80",
            "unit=bytes",
        ] {
            assert!(Budget::parse(text).is_err(), "{text}");
        }
    }
}
