//! What is the same in every built-in contract: numbers and names that belong to a set of rules, as constants of its type.
//!
//! Each set declares its own beside its fields, so that a reader finds both in one place. Listings of a contract show them with the fields: to people
//! it does not matter which of the rules have differed so far. A rule becomes a field again when a release differs in it.

use super::describe::Row;
use serde_json::Value;

/// Declares the constants of a set of rules, and their rows for [`describe`](super::describe()).
macro_rules! constants {
    ($rules:ty, $path:literal: $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $value:expr;)+) => {
        impl $rules {
            $($(#[doc = $doc])+ pub const $name: $type = $value;)+

            pub(crate) fn constants() -> (&'static str, Vec<$crate::Row>) {
                let rows = vec![$($crate::constants::row(
                    $path,
                    stringify!($name),
                    serde_json::json!(Self::$name),
                    &[$($doc),+],
                )),+];
                ($path, rows)
            }
        }
    };
}
pub(crate) use constants;

/// Puts the constants behind the fields that stand under the same path.
pub(super) fn insert(rows: &mut Vec<Row>) {
    use crate as rules;
    let all = [
        rules::SkillRules::constants(),
        rules::CatalogueRules::constants(),
        rules::CompactionRules::constants(),
        rules::SummaryRules::constants(),
        rules::PruningRules::constants(),
        rules::RepairRules::constants(),
        rules::ImageRules::constants(),
        rules::ToolResultRules::constants(),
        rules::ResetRules::constants(),
        rules::Previews::constants(),
        rules::QueueRules::constants(),
        rules::LaneRules::constants(),
        rules::HeartbeatRules::constants(),
        rules::SpawnLimitRules::constants(),
        rules::RetryRules::constants(),
        rules::MemoryFileRules::constants(),
        rules::ChunkRules::constants(),
        rules::LexicalFlow::constants(),
        rules::CandidateRules::constants(),
        rules::BarRules::constants(),
        rules::MemoryReadRules::constants(),
        rules::MemoryFlushRules::constants(),
        rules::ArchiveRules::constants(),
    ];
    for (path, constants) in all {
        let below = |row: &Row| {
            row.path
                .strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let behind = rows
            .iter()
            .rposition(below)
            .map_or(rows.len(), |last| last + 1);
        rows.splice(behind..behind, constants);
    }
}

pub(crate) fn row(path: &str, constant: &str, value: Value, doc: &[&str]) -> Row {
    let meaning: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    Row {
        path: format!("{path}.{}", camel_case(constant)),
        value,
        meaning: meaning.join(" "),
    }
}

/// `MAX_CHARS` as `maxChars`, the way fields are called in JSON.
fn camel_case(constant: &str) -> String {
    let mut name = String::new();
    for (index, word) in constant.to_lowercase().split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if index > 0 => name.extend(first.to_uppercase()),
            Some(first) => name.push(first),
            None => {}
        }
        name.push_str(letters.as_str());
    }
    name
}

#[cfg(test)]
mod tests {
    use crate::{ALL, describe};

    /// Fields that stay fields although no release has differed in them: tests give them small values.
    const KEPT: [&str; 3] = [
        "runtime.trace.cacheTraceMessages",
        "runtime.trace.trajectoryBytes",
        "runtime.trace.trajectoryEventBytes",
    ];

    #[test]
    fn a_field_is_what_differs_between_contracts_and_all_else_is_a_constant() {
        let constants: Vec<String> = {
            let mut rows = Vec::new();
            super::insert(&mut rows);
            rows.into_iter().map(|row| row.path).collect()
        };
        let contracts = ALL.map(describe);
        let same: Vec<&str> = (0..contracts[0].len())
            .filter(|at| {
                contracts
                    .iter()
                    .all(|rows| rows[*at].value == contracts[0][*at].value)
            })
            .map(|at| contracts[0][at].path.as_str())
            .filter(|path| !constants.iter().any(|constant| constant == path))
            .collect();
        assert_eq!(same, KEPT);
    }

    #[test]
    fn constants_stand_with_the_fields_of_their_rules() {
        let rows = describe(ALL[0]);
        let at = |path: &str| rows.iter().position(|row| row.path == path);
        let (field, constant) = (
            at("runtime.history.summary.fileListEnd"),
            at("runtime.history.summary.maxChars"),
        );
        assert!(
            field < constant && field.is_some(),
            "{field:?} {constant:?}"
        );
        let row = constant.map(|at| &rows[at]);
        assert_eq!(
            row.map(|row| (row.value.to_string(), row.meaning.as_str())),
            Some(("16000".to_owned(), "The longest summary."))
        );
    }
}
