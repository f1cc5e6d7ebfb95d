//! The composed prompt: four titled sections, blank ones left out (B4).

use super::compat::TITLES;
use super::text::{is_blank, trim};

/// The four texts of a prompt, in the order in which they stand in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sections<'a> {
    /// Who the agent is.
    pub identity: &'a str,
    /// How it speaks.
    pub persona: &'a str,
    /// Whom it serves.
    pub user_profile: &'a str,
    /// What it must do.
    pub operating_rules: &'a str,
}

/// Returns the non-blank texts as one prompt, each under its title.
pub fn system_prompt(sections: Sections<'_>) -> String {
    let bodies = [
        sections.identity,
        sections.persona,
        sections.user_profile,
        sections.operating_rules,
    ];
    let mut prompt = String::with_capacity(bodies.iter().map(|body| body.len() + 24).sum());
    for (title, body) in TITLES.into_iter().zip(bodies) {
        if is_blank(body) {
            continue;
        }
        if !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        prompt.push_str("## ");
        prompt.push_str(title);
        prompt.push_str("\n\n");
        prompt.push_str(trim(body));
    }
    trim(&prompt).to_owned()
}
