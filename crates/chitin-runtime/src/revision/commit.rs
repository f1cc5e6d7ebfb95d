//! From what the user calls a revision to a commit, or to a hint what may have been meant.

use super::MAX_REVISION_BYTES;
use super::git::{Git, GitOutput};
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use chitin_protocol::nearest::nearest;

/// How many branches and tags are compared.
const MAX_NAMES: &str = "--count=5000";
/// How much of what the user typed an error repeats.
const MAX_SHOWN: usize = 128;
/// How many names are listed when none is near.
const MAX_LISTED: usize = 5;

/// Returns the commit that a revision stands for.
pub(super) fn find(git: &Git<'_>, revision: &str) -> Result<String, RuntimeError> {
    // No name of git's begins so; older releases might take it for an option in spite of what stands before it.
    let impossible = revision.is_empty()
        || revision.starts_with('-')
        || revision.contains('\0')
        || revision.len() > MAX_REVISION_BYTES;
    if !impossible {
        let spelled = format!("{revision}^{{commit}}");
        let question = ["rev-parse", "--verify", "--end-of-options", &spelled];
        if let GitOutput::Yes(said) = git.ask(question)?
            && let Some(commit) = object_id(&said)
        {
            return Ok(commit);
        }
    }
    Err(unknown(git, revision)?)
}

/// Reads an object id, and nothing that only looks like one.
pub(super) fn object_id(said: &[u8]) -> Option<String> {
    let id = std::str::from_utf8(said).ok()?.strip_suffix('\n')?;
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

fn unknown(git: &Git<'_>, revision: &str) -> Result<RuntimeError, RuntimeError> {
    let shown: String = revision.chars().take(MAX_SHOWN).collect();
    let error = RuntimeError::new(
        ErrorKind::Usage,
        format!(
            "`{}` is not a git revision of this repository.",
            plain(&shown, '\u{fffd}')
        ),
    );
    let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
    let said = git.ask([
        "for-each-ref",
        MAX_NAMES,
        "--format=%(refname:short)",
        "refs/heads",
        "refs/tags",
        "refs/remotes",
    ])?;
    let names = match said {
        GitOutput::Yes(names) => String::from_utf8_lossy(&names).into_owned(),
        GitOutput::No(_) => String::new(),
    };
    let names: Vec<&str> = names.lines().collect();
    if names.is_empty() && matches!(git.ask(head)?, GitOutput::No(_)) {
        return Ok(error.hint("the repository has no commit yet"));
    }
    // `mian~2` means `main~2`: what stands behind the name is kept.
    let end = revision.find(['~', '^', '@', ':']);
    let (name, behind) = revision.split_at(end.unwrap_or(revision.len()));
    if let Some(near) = nearest(name, names.iter().copied()) {
        let near = plain(&format!("{near}{behind}"), '\u{fffd}');
        return Ok(error.hint(format!("did you mean `{near}`?")));
    }
    let listed: Vec<String> = names
        .iter()
        .take(MAX_LISTED)
        .map(|name| format!("`{}`", plain(name, '\u{fffd}')))
        .collect();
    Ok(if listed.is_empty() {
        error.hint("`git log --oneline` lists commits")
    } else {
        let more = if names.len() > listed.len() {
            ", and more"
        } else {
            ""
        };
        error.hint(format!("branches and tags: {}{more}", listed.join(", ")))
    })
}
