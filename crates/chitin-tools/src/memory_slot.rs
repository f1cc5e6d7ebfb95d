//! The place for tools that remember. Nothing fills it yet; what does later brings both tools together.

use crate::tool::Tool;
use std::sync::Arc;

/// The names that a memory's tools go by; the catalogue and the prompt know them.
pub const MEMORY_TOOLS: [&str; 2] = ["memory_search", "memory_get"];

/// A memory that a model can ask. Implemented by whoever keeps an index of the memory files; the tools must have the names in
/// [`MEMORY_TOOLS`], and they only look.
pub trait MemoryTools: Send + Sync {
    /// Returns the tool that finds what fits a question.
    fn search(&self) -> Arc<dyn Tool>;

    /// Returns the tool that reads a piece of a memory file.
    fn get(&self) -> Arc<dyn Tool>;
}

/// Returns the tools of a memory, if there is one. A tool under another name is left out: no policy would know it.
pub fn memory_tools(memory: Option<&dyn MemoryTools>) -> Vec<Arc<dyn Tool>> {
    memory
        .into_iter()
        .flat_map(|memory| [memory.search(), memory.get()])
        .zip(MEMORY_TOOLS)
        .filter(|(tool, name)| tool.spec().name == *name)
        .map(|(tool, _)| tool)
        .collect()
}
