//! The table of rules. One table feeds text, JSON, SARIF, `--explain` and the reference page.

mod content;
mod extensions;
mod files;
mod skills;

use super::finding::Severity;
pub(crate) use content::*;
pub(crate) use extensions::*;
pub(crate) use files::*;
use serde::Serialize;
pub(crate) use skills::*;
use std::fmt::Write;

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CheckRule {
    /// The stable code.
    pub code: &'static str,
    /// How bad a finding is, unless the place says otherwise.
    pub severity: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// Why it matters and what exactly is looked for.
    pub explanation: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// Whether `--fix` can do it.
    pub fixable: bool,
}

impl CheckRule {
    const fn error(code: &'static str, title: &'static str) -> Self {
        Self::new(code, Severity::Error, title)
    }

    const fn warning(code: &'static str, title: &'static str) -> Self {
        Self::new(code, Severity::Warning, title)
    }

    const fn info(code: &'static str, title: &'static str) -> Self {
        Self::new(code, Severity::Info, title)
    }

    const fn new(code: &'static str, severity: Severity, title: &'static str) -> Self {
        Self {
            code,
            severity,
            title,
            explanation: "",
            remedy: "",
            fixable: false,
        }
    }

    const fn why(mut self, explanation: &'static str) -> Self {
        self.explanation = explanation;
        self
    }

    const fn todo(mut self, remedy: &'static str) -> Self {
        self.remedy = remedy;
        self
    }

    const fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }
}

/// The groups of rules by the first digit of their codes.
const GROUPS: &[(&str, &str)] = &[
    ("CH0", "The check itself"),
    ("CH1", "Files and directories"),
    ("CH2", "Form of the text"),
    ("CH3", "Budgets"),
    ("CH4", "Links and unfinished text"),
    ("CH5", "Skills and commands"),
    ("CH6", "Secrets"),
    ("CH7", "Hidden and injected instructions"),
    ("CH8", "Extension files"),
];

/// Every rule, in the order of their codes.
pub static RULES: &[&CheckRule] = &[
    &BOUND_REACHED,
    &MORE_FINDINGS,
    &UNKNOWN_ALLOW,
    &REFUSED,
    &OVERSIZE,
    &UNREADABLE,
    &MISSING,
    &NO_DIRECTORY,
    &NO_AGENTS,
    &TWO_MEMORIES,
    &CASE_VARIANT,
    &MISPLACED,
    &OTHERS_WRITE,
    &GROUP_WRITES,
    &NOT_LOADED,
    &OTHER_ADAPTER,
    &INVALID_UTF8,
    &BYTE_ORDER_MARK,
    &NUL_BYTES,
    &CARRIAGE_RETURNS,
    &UNCLOSED_FRONT_MATTER,
    &ODD_FRONT_MATTER,
    &OVER_BUDGET,
    &NEAR_BUDGET,
    &OVER_TOTAL,
    &NEAR_TOTAL,
    &SHORTENED,
    &BROKEN_LINK,
    &LEAVING_LINK,
    &UNEDITED_TEMPLATE,
    &PLACEHOLDER,
    &SKILL_PROBLEM,
    &SKILL_SHADOWED,
    &SKILL_WITHOUT_DESCRIPTION,
    &DOWNLOAD_AND_RUN,
    &PASTE_INTO_TERMINAL,
    &LOCKED_ARCHIVE,
    &PROTECTION_OFF,
    &DECODED_AND_RUN,
    &SENDS_DATA,
    &REMOTE_SHELL,
    &PERSISTS,
    &AGENT_FILES,
    &APPROVALS_OFF,
    &REMOTE_INSTRUCTIONS,
    &PREREQUISITE,
    &ESCAPE,
    &MINES,
    &WATCHES,
    &PACKAGES,
    &ERASES,
    &ADDRESS,
    &PROVIDER_KEY,
    &PRIVATE_KEY,
    &JSON_WEB_TOKEN,
    &SECRET_ASSIGNMENT,
    &WEBHOOK,
    &TAG_CHARACTERS,
    &ZERO_WIDTH,
    &BIDI_CONTROLS,
    &VARIATION_SELECTORS,
    &COMMENT_COMMANDS,
    &INJECTION_PHRASE,
    &ENCODED_TEXT,
    &AUTO_READ,
    &EXFILTRATION_IMAGE,
    &TERMINAL_CONTROLS,
    &HIDDEN_ELEMENT,
    &BROKEN_PERMISSION,
    &UNKNOWN_KEY,
    &CONTRADICTING_PERMISSIONS,
    &REPEATED_KEY,
    &NO_PERMISSIONS,
    &UNKNOWN_ROLE,
    &RUNTIME_SECRET,
    &RUNTIME_MODEL,
    &RUNTIME_VALUE,
    &UNKNOWN_CHANNEL,
    &BAD_SERVER,
    &ABSENT_SKILL,
    &LOOKS_LIKE_A_RULE,
];

/// Returns the rule of that code, in any case of letters.
pub fn rule(code: &str) -> Option<&'static CheckRule> {
    RULES
        .iter()
        .copied()
        .find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// Returns the reference page of all rules as Markdown.
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Findings of `chitin check`\n\nGenerated from the table of rules. Codes are stable: a code is never reused for another rule.\n\n\
         Suppress a finding with `<!-- chitin: allow CODE reason -->` on its line or the line before, or with `--ignore CODE` for the whole run.\n",
    );
    for (prefix, title) in GROUPS {
        let _ = write!(page, "\n## {title}\n");
        for rule in RULES.iter().filter(|rule| rule.code.starts_with(prefix)) {
            let fixable = if rule.fixable {
                ", fixed by `--fix`"
            } else {
                ""
            };
            let _ = write!(
                page,
                "\n### {}: {}\n\n*{}{fixable}*\n\n{}\n\n**Remedy.** {}\n",
                rule.code,
                rule.title,
                rule.severity.as_str(),
                rule.explanation,
                rule.remedy
            );
        }
    }
    page
}
