//! What makes vectors for an agent's memory: a table of words on this machine, a provider that was named, or nothing.

use super::options::{EmbeddingChoice, MemoryOptions};
use crate::host::Host;
use crate::setup::Setup;
use chitin_guard::Root;
use chitin_memory::embed::{Embedder, WordEmbedder, WordTable};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the table of words is looked for.
pub fn words_file(state: &Path) -> PathBuf {
    state.join("models").join("words.table")
}

/// Returns what makes vectors, if anything does, and what people should know. What does not work leaves the search by words.
pub(super) fn choose(
    host: &Arc<Host>,
    setup: &Setup,
    state: &Path,
    options: &MemoryOptions,
) -> (Option<Arc<dyn Embedder>>, Vec<String>) {
    let found = match &options.embeddings {
        EmbeddingChoice::None => return (None, Vec::new()),
        EmbeddingChoice::WordsIfThere => match words(&words_file(state)) {
            // Nobody asked for a table, so that there is none is no news.
            Ok(None) => return (None, Vec::new()),
            Ok(Some(table)) => Ok(table),
            Err(why) => Err(why),
        },
        EmbeddingChoice::Words { file } => {
            let file = match file {
                Some(file) => host.env.resolve(file),
                None => words_file(state),
            };
            words(&file).and_then(|table| {
                table.ok_or_else(|| format!("there is no word table at `{}`", file.display()))
            })
        }
        EmbeddingChoice::Remote {
            provider,
            model,
            remote,
        } => super::remote::open(host, setup, provider, model.as_deref(), remote),
    };
    match found {
        Ok(embedder) => (Some(embedder), Vec::new()),
        Err(why) => (
            None,
            vec![format!("memory is searched by keyword only: {why}")],
        ),
    }
}

/// Reads a table; nothing if there is none.
fn words(file: &Path) -> Result<Option<Arc<dyn Embedder>>, String> {
    let (Some(directory), Some(name)) = (file.parent(), file.file_name()) else {
        return Ok(None);
    };
    let Ok(root) = Root::open(directory) else {
        return Ok(None);
    };
    if root.kind(Path::new(name)).is_none() {
        return Ok(None);
    }
    let table = WordTable::open(&root, Path::new(name)).map_err(|error| error.to_string())?;
    Ok(Some(Arc::new(WordEmbedder::new(Arc::new(table)))))
}
