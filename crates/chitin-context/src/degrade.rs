//! Degrading on purpose: when a prompt is too large for the window, files shrink by a stated plan, step by step.
//!
//! The plan says which files shrink first and to what. Steps are taken in order until the prompt fits; what each did is
//! in the result, in the report and in the prompt itself. Nothing is ever left out in silence.

use crate::assemble::{Context, TurnInputs, assemble_with};
use crate::body::Body;
use crate::budget::{BudgetLimits, embedded};
use crate::cached_parts::CachedParts;
use crate::file_texts::left_out;
use crate::fragment::FragmentPiece;
use crate::tokens;
use chitin_workspace::snapshot::Record;
use serde::Serialize;

/// What shrinks, in which order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShrinkPlan {
    /// The name that configuration knows it by.
    pub name: String,
    /// The steps, the least painful first.
    pub steps: Vec<ShrinkStep>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShrinkStep {
    /// Which files.
    pub files: Vec<Which>,
    /// How much of each stays, in percent of its full length; 0 leaves only a line that says so.
    pub keep: u8,
}

/// Which files a step is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The file of that name.
    Named(String),
    /// Files from below the root.
    Extras,
    /// All files.
    All,
}

impl Which {
    /// Reads `MEMORY.md`, `extras` or `*`.
    pub fn parse(text: &str) -> Self {
        match text {
            "*" => Self::All,
            "extras" => Self::Extras,
            name => Self::Named(name.to_owned()),
        }
    }

    fn is(&self, record: &Record) -> bool {
        match self {
            Self::All => true,
            Self::Extras => record.extra,
            Self::Named(name) => *record.name == **name,
        }
    }
}

impl ShrinkPlan {
    /// The names of the built-in plans.
    pub const NAMES: [&str; 2] = ["memory-first", "even"];

    /// Returns a built-in plan.
    pub fn built_in(name: &str) -> Option<Self> {
        let step = |files: &[&str], keep| ShrinkStep {
            files: files.iter().map(|file| Which::parse(file)).collect(),
            keep,
        };
        let steps = match name {
            // What can be looked up goes first; who the agent is and what it must do go last.
            "memory-first" => vec![
                step(&["MEMORY.md", "memory.md"], 50),
                step(&["extras"], 50),
                step(&["MEMORY.md", "memory.md"], 20),
                step(&["TOOLS.md", "USER.md", "HEARTBEAT.md"], 50),
                step(&["extras"], 0),
                step(&["MEMORY.md", "memory.md"], 0),
                step(&["AGENTS.md", "BOOTSTRAP.md"], 60),
                step(&["SOUL.md", "IDENTITY.md"], 60),
                step(&["*"], 25),
            ],
            "even" => vec![step(&["*"], 75), step(&["*"], 50), step(&["*"], 25)],
            _ => return None,
        };
        Some(Self {
            name: name.to_owned(),
            steps,
        })
    }
}

/// What a plan did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Degraded {
    /// The plan.
    pub plan: ShrinkPlan,
    /// How many of its steps were taken.
    pub taken: usize,
    /// How many tokens the system prompt may have.
    pub allowed: usize,
    /// How many it would have had.
    pub before: usize,
    /// How many it has now.
    pub after: usize,
}

impl Degraded {
    /// Tells whether the prompt fits now.
    pub const fn fits(&self) -> bool {
        self.after <= self.allowed
    }
}

/// Puts a context together that has at most `allowed` tokens, by our estimate, as far as the plan reaches.
pub fn assemble_within(
    turn: &TurnInputs<'_>,
    plan: &ShrinkPlan,
    allowed: usize,
) -> (Context, Degraded) {
    let mut made = CachedParts::default();
    let whole = assemble_with(&mut made, turn);
    let before = size_of(&whole);
    let mut result = (
        whole,
        Degraded {
            plan: plan.clone(),
            taken: 0,
            allowed,
            before,
            after: before,
        },
    );
    while !result.1.fits() && result.1.taken < plan.steps.len() {
        let taken = result.1.taken + 1;
        let limits = planned(turn, &plan.steps[..taken]);
        let context = assemble_with(
            &mut made,
            &TurnInputs {
                limits: &limits,
                ..*turn
            },
        );
        result.1.taken = taken;
        result.1.after = size_of(&context);
        result.0 = context;
    }
    result
}

/// Estimates the tokens of what the workspace gives: the system prompt, and what stands in the conversation.
fn size_of(context: &Context) -> usize {
    let conversation = context.conversation_files();
    let conversation = conversation.map_or(0, |files| tokens::estimate(&files.text()));
    tokens::estimate(&context.system()) + conversation
}

/// The bounds after so many steps.
fn planned(turn: &TurnInputs<'_>, steps: &[ShrinkStep]) -> BudgetLimits {
    let contract = turn.workspace.contract();
    let mut limits = turn.limits.clone();
    for record in turn.workspace.records().iter().chain(turn.extras) {
        let Some(body) = embedded(record, contract) else {
            continue;
        };
        let full = turn
            .limits
            .measure(&body)
            .min(turn.limits.of_record(record));
        let applies = |step: &&ShrinkStep| step.files.iter().any(|which| which.is(record));
        let Some(step) = steps.iter().filter(applies).min_by_key(|step| step.keep) else {
            continue;
        };
        let path = record.path.to_string_lossy().into_owned();
        // To say that a file is not there takes room as well: nothing is gained below that.
        let least = turn
            .limits
            .measure(&Body::of(FragmentPiece::made(left_out(&path))));
        let bound = match step.keep {
            0 if full > least => 0,
            keep => (full * usize::from(keep) / 100).max(least),
        };
        if bound < full {
            limits.planned.push((path, bound));
        }
    }
    limits
}
