//! Files as blocks of the prompt: headings, guidance, what is cached and what is not (W33–W38, CN8).

use crate::body::Body;
use crate::budget::ContextFile;
use crate::compat::{BOUNDARY, DYNAMIC_CONTEXT, PROJECT_CONTEXT};
use crate::file_texts;
use crate::fragment::{
    BudgetDecision, CacheClass, Fragment, FragmentOrigin, FragmentPiece, FragmentRole, Size,
};
use crate::order::{ends_in, sort};
use crate::parts::{Fresh, Maker};
use chitin_contract::Rendering;
use std::sync::Arc;

/// The file that may change with every turn, in lower case.
const HEARTBEAT: &str = "heartbeat.md";
/// The key of the block of files.
pub const PROJECT_CONTEXT_KEY: &str = "project-context";
/// The key of the block of files that stand in the conversation.
pub const CONVERSATION_FILES_KEY: &str = "conversation-files";
/// What heads them.
const WORKSPACE_FILES: &str = "# Workspace Files";
/// The key of the block below the boundary.
pub const DYNAMIC_CONTEXT_KEY: &str = "dynamic-context";

/// The key of the block of search results.
pub const MEMORY_RESULTS_KEY: &str = "memory-results";

/// The key of the text that a context engine adds to the system prompt.
pub const CONTEXT_ENGINE_KEY: &str = "context-engine";

/// The two blocks of files, each a heading and one fragment per file. A block without files is empty.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    /// What stands above the boundary.
    pub stable: Vec<Fragment>,
    /// What stands below it.
    pub dynamic: Vec<Fragment>,
}

/// Places files in the order of the prompt. `projects` are the active ones.
pub fn blocks(files: &[ContextFile], rendering: &Rendering, projects: &[String]) -> Blocks {
    blocks_with(&mut Fresh, files.iter().collect(), rendering, projects)
}

pub(crate) fn blocks_with(
    maker: &mut impl Maker,
    files: Vec<&ContextFile>,
    rendering: &Rendering,
    projects: &[String],
) -> Blocks {
    let ordered = sort(files, rendering);
    let is_dynamic =
        |file: &&ContextFile| rendering.dynamic_heartbeat && ends_in(&file.heading, HEARTBEAT);
    let (dynamic, stable): (Vec<_>, Vec<_>) = ordered.into_iter().partition(is_dynamic);
    let heading = if stable.is_empty() {
        PROJECT_CONTEXT
    } else {
        DYNAMIC_CONTEXT
    };
    Blocks {
        dynamic: block(
            maker,
            DYNAMIC_CONTEXT_KEY,
            vec![
                FragmentPiece::ours(heading),
                FragmentPiece::ours("\n"),
                FragmentPiece::ours(file_texts::DYNAMIC_FILES),
            ],
            &dynamic,
            CacheClass::Dynamic,
            rendering,
            projects,
        ),
        stable: block(
            maker,
            PROJECT_CONTEXT_KEY,
            opening(&stable, rendering),
            &stable,
            CacheClass::Stable,
            rendering,
            projects,
        ),
    }
}

/// Makes the block of files that stand in the conversation.
pub(crate) fn conversation_block(
    maker: &mut impl Maker,
    files: Vec<&ContextFile>,
    rendering: &Rendering,
    projects: &[String],
) -> Vec<Fragment> {
    let ordered = sort(files, rendering);
    let opening = vec![
        FragmentPiece::ours(WORKSPACE_FILES),
        FragmentPiece::ours("\n"),
        FragmentPiece::ours(file_texts::CONVERSATION_FILES),
    ];
    let key = CONVERSATION_FILES_KEY;
    let block = block(
        maker,
        key,
        opening,
        &ordered,
        CacheClass::Session,
        rendering,
        projects,
    );
    let in_conversation = |fragment: Fragment| Fragment {
        role: FragmentRole::Conversation,
        ..fragment
    };
    block.into_iter().map(in_conversation).collect()
}

/// Says in the system prompt that further files stand in the conversation.
pub(crate) fn conversation_notice() -> Fragment {
    Fragment::section(
        CONVERSATION_FILES_KEY,
        CacheClass::Stable,
        vec![FragmentPiece::ours(file_texts::IN_CONVERSATION)],
    )
}

/// The heading of the block and its lines of guidance.
fn opening(files: &[&ContextFile], rendering: &Rendering) -> Vec<FragmentPiece> {
    let mut pieces = vec![
        FragmentPiece::ours(PROJECT_CONTEXT),
        FragmentPiece::ours("\n"),
        FragmentPiece::ours(file_texts::FILES),
    ];
    for guided in rendering.guided {
        let words = match *guided {
            "soul.md" => file_texts::SOUL,
            "memory.md" => file_texts::MEMORY,
            "user.md" => file_texts::USER,
            _ => continue,
        };
        if files.iter().any(|file| ends_in(&file.heading, guided)) {
            pieces.push(FragmentPiece::ours("\n"));
            pieces.push(FragmentPiece::ours(words));
        }
    }
    pieces
}

fn block(
    maker: &mut impl Maker,
    key: &'static str,
    opening: Vec<FragmentPiece>,
    files: &[&ContextFile],
    cache: CacheClass,
    rendering: &Rendering,
    projects: &[String],
) -> Vec<Fragment> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut fragments = Vec::with_capacity(files.len() + 1);
    fragments.push(Fragment::section(key, cache, opening));
    fragments.extend(
        files
            .iter()
            .map(|file| placed(maker, file, cache, rendering, projects).led_by("\n")),
    );
    fragments
}

/// A file under its heading.
fn placed(
    maker: &mut impl Maker,
    file: &ContextFile,
    cache: CacheClass,
    rendering: &Rendering,
    projects: &[String],
) -> Fragment {
    let body = maker.clean(file, rendering, projects);
    let between = if body.is_empty() { "" } else { "\n" };
    file_fragment(file, cache, file.heading.clone(), between, &body)
}

/// Makes the fragment of a file: its heading, then its text. `between` stands between the two, if anything does.
pub(crate) fn file_fragment(
    file: &ContextFile,
    cache: CacheClass,
    title: Arc<str>,
    between: &'static str,
    body: &Body,
) -> Fragment {
    let opening = [
        FragmentPiece::ours("## "),
        FragmentPiece::made(title),
        FragmentPiece::ours(between),
    ];
    let heading: Size = opening
        .iter()
        .map(|piece| Size::of(piece.text.as_str()))
        .sum();
    let pieces: Vec<FragmentPiece> = opening
        .into_iter()
        .filter(|piece| !piece.text.as_str().is_empty())
        .chain(body.pieces.iter().cloned())
        .collect();
    Fragment {
        origin: FragmentOrigin::File {
            name: file.name.clone(),
            path: file.path.clone(),
            extra: file.extra,
        },
        role: FragmentRole::System,
        cache,
        lead: "",
        pieces: pieces.into(),
        raw: file.raw,
        injected: heading + body.size(),
        decision: file.decision.clone(),
    }
}

/// The line below which nothing is cached.
pub fn boundary() -> Fragment {
    let size = Size::of(BOUNDARY);
    Fragment {
        origin: FragmentOrigin::Boundary,
        role: FragmentRole::System,
        cache: CacheClass::Stable,
        lead: "",
        pieces: vec![FragmentPiece::ours(BOUNDARY)].into(),
        raw: size,
        injected: size,
        decision: BudgetDecision::BuiltIn,
    }
}

/// The text of files alone, without our own sections (CN17): stable block, boundary, memory results, dynamic block.
pub fn files_only(
    blocks: Blocks,
    memory: Vec<FragmentPiece>,
    rendering: &Rendering,
) -> Vec<Fragment> {
    let memory = memory_fragment(memory);
    let mut fragments = blocks.stable;
    let has_any = !fragments.is_empty() || memory.is_some() || !blocks.dynamic.is_empty();
    let mut add = |part: Vec<Fragment>| {
        for (at, fragment) in part.into_iter().enumerate() {
            let first = fragments.is_empty();
            fragments.push(if at == 0 && !first {
                fragment.led_by("\n")
            } else {
                fragment
            });
        }
    };
    if has_any && rendering.boundary {
        add(vec![boundary()]);
    }
    add(memory.into_iter().collect());
    add(blocks.dynamic);
    fragments
}

/// The block of search results, unless there are none.
pub fn memory_fragment(pieces: Vec<FragmentPiece>) -> Option<Fragment> {
    (!pieces.is_empty()).then(|| Fragment::section(MEMORY_RESULTS_KEY, CacheClass::Dynamic, pieces))
}

/// Joins fragments into the text that goes over the wire.
pub fn join(fragments: &[Fragment]) -> String {
    let bytes = fragments
        .iter()
        .map(|fragment| fragment.injected.bytes)
        .sum();
    let mut out = String::with_capacity(bytes);
    for fragment in fragments {
        fragment.write(&mut out);
    }
    out
}
