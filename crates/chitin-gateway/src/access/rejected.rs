//! Who was turned away, so that an owner who wonders why nobody answers finds out.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// How many different cases are remembered.
pub const MOST_TURNED_AWAY: usize = 200;

/// Messages of one sender at one place that were not heard, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnedAway {
    /// The place.
    pub place: String,
    /// The room's name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// Who wrote.
    pub sender: String,
    /// How they are called. They chose the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    /// Why it was not heard.
    pub reason: String,
    /// How many messages that were.
    pub count: u64,
    /// When the last one came, in milliseconds since 1970.
    pub last_at: i64,
}

/// Who was turned away lately.
#[derive(Debug, Default)]
pub(super) struct Away {
    cases: HashMap<(String, String, String), (u64, TurnedAway)>,
    total: u64,
}

impl Away {
    /// Counts a message; of many cases the oldest go.
    pub(super) fn note(&mut self, case: TurnedAway) {
        self.total = self.total.saturating_add(1);
        let order = self.total;
        let key = (case.place.clone(), case.sender.clone(), case.reason.clone());
        let known = self.cases.entry(key).or_insert_with(|| {
            (
                order,
                TurnedAway {
                    count: 0,
                    ..case.clone()
                },
            )
        });
        let count = known.1.count.saturating_add(1);
        *known = (order, TurnedAway { count, ..case });
        if self.cases.len() > MOST_TURNED_AWAY {
            let oldest = self.cases.iter().min_by_key(|(_, (order, _))| *order);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.cases.remove(&oldest);
            }
        }
    }

    /// Returns the cases, the latest first.
    pub(super) fn list(&self) -> Vec<TurnedAway> {
        let mut cases: Vec<&(u64, TurnedAway)> = self.cases.values().collect();
        cases.sort_by_key(|(order, _)| std::cmp::Reverse(*order));
        cases.into_iter().map(|(_, case)| case.clone()).collect()
    }

    /// Returns how many messages there were.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }
}
