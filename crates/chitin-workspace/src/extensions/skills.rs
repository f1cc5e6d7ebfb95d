//! `SKILLS.md` and the skills themselves: the prompt that an agent runs with (B10).

use crate::adapter::text::{is_blank, strip};
use crate::adapter::{AdapterWarning, AgentDefinition, SkillPath, TextFile};
use chitin_guard::Root;

/// The file.
pub const FILE: &str = "SKILLS.md";

/// A prompt, and what could not be read into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Augmented {
    /// The prompt.
    pub prompt: String,
    /// The skill files that gave nothing although they are there.
    pub warnings: Vec<AdapterWarning>,
}

/// Puts together what the agent runs with: the host's own prompt, the composed prompt, `SKILLS.md`, then every skill file
/// whole. Blank parts are left out; each part loses the white space at its edges.
pub fn augment(base: Option<&str>, definition: &AgentDefinition) -> Augmented {
    let mut augmented = Augmented::default();
    let prompt = &mut augmented.prompt;
    append(prompt, None, base.unwrap_or_default());
    append(prompt, None, &definition.system_prompt);
    append(
        prompt,
        Some("Skills"),
        definition.extensions.get(FILE).unwrap_or_default(),
    );
    for skill in &definition.skill_paths {
        let text = read(skill).text_or_empty(&mut augmented.warnings);
        let title = format!("Skill: {}", skill.directory_name());
        append(&mut augmented.prompt, Some(&title), &text);
    }
    augmented
}

fn read(skill: &SkillPath) -> TextFile {
    match Root::open(skill.root()) {
        Ok(root) => TextFile::read(&root, skill.relative()),
        Err(error) => TextFile::Unreadable(AdapterWarning::Unreadable {
            path: skill.path(),
            reason: error.to_string(),
        }),
    }
}

fn append(prompt: &mut String, title: Option<&str>, body: &str) {
    if is_blank(body) {
        return;
    }
    if !prompt.is_empty() {
        prompt.push_str("\n\n");
    }
    if let Some(title) = title {
        prompt.push_str("## ");
        prompt.push_str(title);
        prompt.push_str("\n\n");
    }
    prompt.push_str(strip(body));
}
