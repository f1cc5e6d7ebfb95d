//! Tools that work on files: `read`, `write`, `edit`, `apply_patch`, `list` and `search`.
//!
//! Every path goes through [`chitin_guard`]: beneath the workspace and the roots that the user opened, links by
//! policy, no FIFO waited for, no file changed halfway. What is refused is said with its reason.

mod apply_patch;
mod attachments;
mod change;
mod consent;
mod edit;
mod hunks;
mod list;
mod media_type;
mod nearest_lines;
mod patch;
mod read;
mod replace;
mod roots;
mod search;
mod task;
mod unified;
mod walk;
mod write;

pub use apply_patch::ApplyPatchTool;
pub use attachments::{Taken, carry_in, carry_out, media_type, safe_name};
pub use edit::EditTool;
pub use hunks::{AtEnd, Hunk, HunkLine, HunkProblem, LastLine, apply_hunks};
pub use list::ListTool;
pub use media_type::picture;
pub use nearest_lines::{Differs, Nearest};
pub use patch::{PatchError, PatchedFile, parse_patch};
pub use read::ReadTool;
pub use replace::{Occurrences, ReplaceProblem, Replaced, Replacement, replace};
pub use roots::{FileOptions, Surroundings};
pub use search::SearchTool;
pub use write::WriteTool;

use crate::tool::Tool;
use chitin_contract::ToolRules;
use std::sync::Arc;

/// Makes every tool that works on files, under the names of the contract.
pub fn file_tools(rules: &ToolRules, options: FileOptions) -> Vec<Arc<dyn Tool>> {
    let options = Arc::new(options);
    vec![
        Arc::new(ListTool::new(rules.list_tool, options.clone())),
        Arc::new(ReadTool::new(options.clone())),
        Arc::new(SearchTool::new(options.clone())),
        Arc::new(WriteTool::new(options.clone())),
        Arc::new(EditTool::new(options.clone())),
        Arc::new(ApplyPatchTool::new(options)),
    ]
}
