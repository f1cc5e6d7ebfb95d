//! Budgets: what is cut before the model sees it, and what soon will be.

use super::finding::{Draft, Findings};
use super::front_matter::{FrontMatter, split};
use super::rules;
use chitin_config::settings::ContextSettings;
use chitin_contract::{Contract, CutRule};
use chitin_protocol::text::{trim_end_js, utf16_len};
use chitin_workspace::snapshot::Workspace;

/// How much text is let through, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextLimits {
    /// The bound of one file.
    pub per_file: usize,
    /// The bound of all files together.
    pub total: Option<usize>,
    /// A lower bound of the user file.
    pub user: Option<usize>,
}

impl TextLimits {
    /// Returns the defaults of a contract.
    pub fn of(contract: &Contract) -> Self {
        if contract.budgets.cut == CutRule::Never {
            return Self::unlimited();
        }
        let size = |units: u32| usize::try_from(units).unwrap_or(usize::MAX);
        Self {
            per_file: size(contract.budgets.max_chars),
            total: contract.budgets.total_max_chars.map(size),
            user: contract.budgets.user_max_chars.map(size),
        }
    }

    /// Returns no bounds at all, for callers that reckon by other ones.
    pub const fn unlimited() -> Self {
        Self {
            per_file: usize::MAX,
            total: None,
            user: None,
        }
    }

    /// Returns the bounds that configuration sets in place of the defaults.
    #[must_use]
    pub fn with_settings(self, settings: &ContextSettings) -> Self {
        if self == Self::unlimited() {
            return self;
        }
        let size = |units: u64| usize::try_from(units).unwrap_or(usize::MAX);
        Self {
            per_file: size(settings.max_chars),
            total: settings.total_max_chars.map(size),
            user: self.user,
        }
    }

    fn for_file(&self, name: &str) -> usize {
        match self.user {
            Some(user) if name == "USER.md" => user.min(self.per_file),
            Some(_) | None => self.per_file,
        }
    }
}

/// Returns the length of what is embedded of a text.
pub(crate) fn embedded_length(contract: &Contract, text: &str) -> usize {
    let body = match (contract.loading.front_matter, split(text)) {
        (chitin_contract::FrontMatterHandling::Stripped, FrontMatter::Closed { body, .. }) => {
            &text[body..]
        }
        (
            chitin_contract::FrontMatterHandling::Stripped,
            FrontMatter::Absent | FrontMatter::Unclosed,
        )
        | (chitin_contract::FrontMatterHandling::Kept, _) => text,
    };
    utf16_len(trim_end_js(body))
}

/// Reports files that are over or near their budgets.
pub(crate) fn check(workspace: &Workspace, limits: TextLimits, findings: &mut Findings) {
    let contract = workspace.contract();
    let mut used = 0_usize;
    let mut first_cut: Option<&str> = None;
    for record in workspace.records() {
        let Some(content) = record.content() else {
            continue;
        };
        let length = embedded_length(contract, &content.text);
        let limit = limits.for_file(&record.name).max(1);
        let path = super::relative(workspace, &record.path, &record.name);
        if length > limit {
            let message = format!(
                "`{}` has {length} units, {} more than the limit of {limit} for one file; its middle is truncated.",
                record.name,
                length - limit
            );
            findings.about(&path, Draft::new(&rules::OVER_BUDGET, message));
        } else if is_near(length, limit) {
            let message = format!(
                "`{}` has {length} of {limit} units ({} %).",
                record.name,
                length * 100 / limit
            );
            findings.about(&path, Draft::new(&rules::NEAR_BUDGET, message));
        }
        used = used.saturating_add(length.min(limit));
        if first_cut.is_none() && limits.total.is_some_and(|total| used > total) {
            first_cut = Some(&record.name);
        }
    }
    let Some(total) = limits.total else { return };
    if let Some(first) = first_cut {
        let message = format!(
            "All files have {used} units, {} more than the limit of {total} for all files; truncation starts in `{first}`.",
            used - total
        );
        findings.about(".", Draft::new(&rules::OVER_TOTAL, message));
    } else if is_near(used, total) {
        let message = format!(
            "All files have {used} of {total} units ({} %).",
            used * 100 / total.max(1)
        );
        findings.about(".", Draft::new(&rules::NEAR_TOTAL, message));
    }
}

/// Tells whether a length has reached 85 % of its limit.
const fn is_near(length: usize, limit: usize) -> bool {
    length.saturating_mul(100) >= limit.saturating_mul(85)
}
