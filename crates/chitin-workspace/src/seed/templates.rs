//! The texts that a new workspace starts with. They are ours; each token in them is paid on every turn, so they are short.

/// Name and text of every template.
pub const TEMPLATES: [(&str, &str); 7] = [
    ("AGENTS.md", include_str!("templates/AGENTS.md")),
    ("SOUL.md", include_str!("templates/SOUL.md")),
    ("TOOLS.md", include_str!("templates/TOOLS.md")),
    ("IDENTITY.md", include_str!("templates/IDENTITY.md")),
    ("USER.md", include_str!("templates/USER.md")),
    ("HEARTBEAT.md", include_str!("templates/HEARTBEAT.md")),
    ("BOOTSTRAP.md", include_str!("templates/BOOTSTRAP.md")),
];

/// Returns the template of that name.
pub fn template(name: &str) -> Option<&'static str> {
    TEMPLATES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
