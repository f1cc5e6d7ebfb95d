//! Counting and telling.

use crate::{Case, Outcome};
use std::collections::BTreeMap;
use std::fmt;

/// What one family came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases of which every check holds.
    pub passed: usize,
    /// Cases of which some check does not: label and difference.
    pub failed: Vec<(String, String)>,
    /// How many cases failed.
    pub failed_cases: usize,
    /// Failing cases that are listed with a reason.
    pub excepted: Vec<(String, String)>,
    /// Listed exceptions that pass after all.
    pub stale: Vec<String>,
    /// Operation → number of cases that wait for a later part.
    pub not_yet: BTreeMap<String, usize>,
}

/// What a run came to, by family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The families, by name.
    pub families: BTreeMap<String, Tally>,
}

impl Report {
    pub(crate) fn add(
        &mut self,
        case: &Case,
        worst: &Outcome,
        failures: Vec<(String, String)>,
        exceptions: &BTreeMap<String, String>,
    ) {
        let tally = self.families.entry(case.family.clone()).or_default();
        let key = format!("{}/{}", case.family, case.id);
        match (failures.is_empty(), worst, exceptions.get(&key)) {
            (true, Outcome::NotYet, _) => *tally.not_yet.entry(case.op.clone()).or_default() += 1,
            (true, _, None) => tally.passed += 1,
            (true, _, Some(_)) => {
                tally.passed += 1;
                tally.stale.push(key);
            }
            (false, _, Some(reason)) => tally.excepted.push((case.id.clone(), reason.clone())),
            (false, _, None) => {
                tally.failed_cases += 1;
                tally.failed.extend(failures);
            }
        }
    }

    /// Tells whether any case failed that is not listed.
    pub fn has_failures(&self) -> bool {
        self.families.values().any(|tally| tally.failed_cases > 0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (family, tally) in &self.families {
            for (label, difference) in &tally.failed {
                writeln!(f, "--- {family} {label}\n{difference}")?;
            }
        }
        for (family, tally) in &self.families {
            for (id, reason) in &tally.excepted {
                writeln!(f, "{family}: excepted {id} ({reason})")?;
            }
            for key in &tally.stale {
                writeln!(f, "{family}: {key} is listed as an exception and passes")?;
            }
            if !tally.not_yet.is_empty() {
                let total: usize = tally.not_yet.values().sum();
                let names: Vec<_> = tally
                    .not_yet
                    .iter()
                    .map(|(op, count)| format!("{op} {count}"))
                    .collect();
                writeln!(f, "{family}: not yet {total} ({})", names.join(", "))?;
            }
        }
        for (family, tally) in &self.families {
            let failing: Vec<_> = tally
                .failed
                .iter()
                .map(|(label, _)| label.as_str())
                .collect();
            if !failing.is_empty() {
                writeln!(f, "{family}: failing {}", failing.join(", "))?;
            }
        }
        for (family, tally) in &self.families {
            writeln!(
                f,
                "{family}: {} passed, {} failed, {} excepted",
                tally.passed,
                tally.failed_cases,
                tally.excepted.len()
            )?;
        }
        Ok(())
    }
}
