//! What the beginning of a rule says of it: its id and its priority.

use chitin_workspace::skills::parse_front_matter;

/// The facts that merging and ordering need.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleFacts {
    /// The id, where the front matter has one.
    pub id: Option<String>,
    /// The priority; zero where none is given.
    pub priority: f64,
}

impl RuleFacts {
    /// Reads the front matter of a rule. What is not well formed says nothing.
    pub fn read(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let Ok(parsed) = parse_front_matter(text, &chitin_contract::OPENCLAW_2026_4.skills) else {
            return Self::default();
        };
        let id = parsed.values.get("id").map(str::trim);
        let priority = parsed.values.get("priority");
        Self {
            id: id.filter(|id| !id.is_empty()).map(str::to_owned),
            priority: priority
                .and_then(|priority| priority.trim().parse().ok())
                .filter(|priority: &f64| priority.is_finite())
                .unwrap_or_default(),
        }
    }
}
