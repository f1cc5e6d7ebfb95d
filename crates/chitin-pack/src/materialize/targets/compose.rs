//! The persona in one document: surfaces that a runtime has no file for become sections of the file that it reads.

use super::shared::{INSTRUCTIONS, append, memory_surface, persona_summary, surface};
use crate::compat::MEMORY_FILE;
use crate::error::PackError;
use crate::layer::LayerKind;
use crate::materialize::options::LayoutOptions;
use crate::materialize::plan::Draft;
use crate::materialize::source::AgentContent;
use chitin_workspace::adapter::NATIVE_RULES_FILE;
use chitin_workspace::front_matter;

/// A surface as a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// A name for a file of its own.
    pub(super) slug: &'static str,
    /// What it is about, for readers of the document.
    pub(super) title: &'static str,
    /// The workspace file that it came from.
    pub(super) file: &'static str,
    /// The text, without front matter and white space around it.
    pub(super) body: Vec<u8>,
}

/// The surface, its slug, its title and its file, in the order of the sections.
const SECTIONS: [(&str, &str, &str, &str); 4] = [
    (PERSONA, "soul", "Persona", "SOUL.md"),
    ("identity.md", "identity", "Identity", "IDENTITY.md"),
    ("user.md", "user", "User", "USER.md"),
    ("tools.md", "tools", "Tools", "TOOLS.md"),
];

const PERSONA: &str = "persona.md";

/// The surfaces that a composed layout holds.
pub(super) const HELD: [&str; 5] = [INSTRUCTIONS, PERSONA, "identity.md", "user.md", "tools.md"];

/// Reads the sections that the artifact has. `MEMORY.md` is among them where it was asked for.
pub(super) fn sections(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
) -> Result<Vec<Section>, PackError> {
    let memory = memory_surface(source, options)?;
    let memory = memory
        .as_deref()
        .map(|name| (name, "memory", "Memory", MEMORY_FILE));
    let mut sections = Vec::new();
    for (name, slug, title, file) in SECTIONS.into_iter().chain(memory) {
        let Some(bytes) = surface(source, name)? else {
            continue;
        };
        let body = plain(bytes);
        if !body.is_empty() {
            sections.push(Section {
                slug,
                title,
                file,
                body,
            });
        }
    }
    Ok(sections)
}

/// Adds sections to a document, each under a heading that names its file.
pub(super) fn add(document: &mut Vec<u8>, sections: &[Section], draft: &mut Draft) {
    for section in sections {
        append(
            document,
            format!("# {} ({})", section.title, section.file).as_bytes(),
        );
        append(document, &section.body);
        draft.lose();
    }
}

/// The instructions, the prompt, and the persona layer where no surface speaks for the persona.
pub(super) fn instructions(
    source: &AgentContent<'_>,
    draft: &mut Draft,
) -> Result<Vec<u8>, PackError> {
    let mut text = match surface(source, INSTRUCTIONS)? {
        Some(text) => text,
        None => readme(source)?.unwrap_or_default(),
    };
    if let Some(prompt) = &source.prompt {
        append(&mut text, prompt.as_bytes());
        draft.lose();
    }
    if let Some(persona) = &source.persona
        && surface(source, PERSONA)?.is_none()
    {
        append(&mut text, persona_summary(persona).as_bytes());
        let background = persona["background"].as_str().unwrap_or_default();
        append(&mut text, background.as_bytes());
        draft.lose();
    }
    Ok(text)
}

/// Returns the readme of an agent that has no other operating rules.
fn readme(source: &AgentContent<'_>) -> Result<Option<Vec<u8>>, PackError> {
    if !source.is_readme_agent() {
        return Ok(None);
    }
    let found = source.contents(LayerKind::Instructions, |path| path == NATIVE_RULES_FILE)?;
    Ok(found.into_iter().next().map(|(_, bytes)| bytes))
}

/// What is not text stays as it is.
fn plain(bytes: Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let text = text.trim_start_matches('\u{feff}');
            front_matter::strip(text).trim().as_bytes().to_vec()
        }
        Err(_) => bytes,
    }
}
