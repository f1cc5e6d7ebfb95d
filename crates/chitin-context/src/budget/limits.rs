//! The bounds that hold for a turn: the contract's, what configuration sets, what the user tries.

use crate::body::Body;
use crate::tokens;
use chitin_config::settings::ContextSettings;
use chitin_contract::{Contract, CutRule};
use chitin_workspace::snapshot::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// The file that one contract holds to a bound of its own.
const USER: &str = "USER.md";

/// Tells whether a file is the one with a bound of its own. Letter case does not matter here, as W30 was recorded.
pub(crate) fn is_user(name: &str) -> bool {
    name.eq_ignore_ascii_case(USER)
}

/// What each file, and all of them, may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetLimits {
    /// What the bounds are counted in.
    pub unit: LimitUnit,
    /// The bound of one file.
    pub per_file: usize,
    /// The bound of all files together.
    pub total: Option<usize>,
    /// A lower bound for the user file.
    pub user: Option<usize>,
    /// Bounds of single files, by name; the last of a name holds.
    pub files: Vec<(String, usize)>,
    /// Files that a plan for small windows shortens, by path, with the bound it sets.
    pub planned: Vec<(String, usize)>,
}

/// What bounds are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitUnit {
    /// UTF-16 units, as OpenClaw counts.
    Characters,
    /// Tokens, as we estimate them.
    Tokens,
}

impl BudgetLimits {
    /// Returns the contract's own bounds.
    pub fn of(contract: &Contract) -> Self {
        let size = |units: u32| usize::try_from(units).unwrap_or(usize::MAX);
        Self {
            unit: LimitUnit::Characters,
            per_file: match contract.budgets.cut {
                CutRule::Never => usize::MAX,
                CutRule::Fitted | CutRule::FixedShares => size(contract.budgets.max_chars),
            },
            total: contract.budgets.total_max_chars.map(size),
            user: contract.budgets.user_max_chars.map(size),
            files: Vec::new(),
            planned: Vec::new(),
        }
    }

    /// Puts the bounds that configuration sets in place of the defaults; where nothing is cut there are none to set.
    #[must_use]
    pub fn with_settings(self, settings: &ContextSettings) -> Self {
        if self.per_file == usize::MAX {
            return self;
        }
        let size = |units: u64| usize::try_from(units).unwrap_or(usize::MAX);
        Self {
            per_file: size(settings.max_chars),
            total: settings.total_max_chars.map(size),
            ..self
        }
    }

    /// Returns the bound of files of that name, before any plan and before what is left of the total.
    pub fn of_file(&self, name: &str) -> usize {
        let own = self
            .files
            .iter()
            .rev()
            .find(|(file, _)| file == name)
            .map(|(_, bound)| *bound);
        own.unwrap_or_else(|| match self.user {
            Some(user) if is_user(name) => user.min(self.per_file),
            Some(_) | None => self.per_file,
        })
    }

    /// Returns the bound of a record: that of its name, or what a plan sets for this very file.
    pub fn of_record(&self, record: &Record) -> usize {
        let bound = self.of_file(&record.name);
        self.plan_for(&record.path.to_string_lossy())
            .map_or(bound, |planned| bound.min(planned))
    }

    /// Returns the bound that a plan sets for the file at this path, if it sets one.
    pub fn plan_for(&self, path: &str) -> Option<usize> {
        self.planned
            .iter()
            .filter(|(file, _)| file == path)
            .map(|(_, bound)| *bound)
            .min()
    }

    /// Measures a text in the unit of the bounds.
    pub fn measure(&self, body: &Body) -> usize {
        match self.unit {
            LimitUnit::Characters => body.units,
            LimitUnit::Tokens => body
                .pieces
                .iter()
                .map(|piece| tokens::estimate(piece.text.as_str()))
                .sum(),
        }
    }

    /// The rest of the total below which no further file is begun (W26).
    pub(super) const fn least_rest(&self) -> usize {
        match self.unit {
            LimitUnit::Characters => 64,
            LimitUnit::Tokens => 16,
        }
    }
}
