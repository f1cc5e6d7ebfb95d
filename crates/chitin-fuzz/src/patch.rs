//! Patches in both formats, put into a text.

use crate::novelty;
use chitin_tools::files::{Hunk, HunkLine, PatchedFile, apply_hunks, parse_patch};

/// What patches are made of.
pub const DICTIONARY: &[&str] = &[
    "*** Begin Patch\n",
    "*** End Patch",
    "*** Add File: ",
    "*** Delete File: ",
    "*** Update File: ",
    "*** Move to: ",
    "*** End of File\n",
    "@@\n",
    "@@ ",
    "@@ -1,2 +1,3 @@\n",
    "@@ -0,0 +1 @@\n",
    "--- a/x\n",
    "+++ b/x\n",
    "--- /dev/null\n",
    "+++ /dev/null\n",
    "diff --git a/x b/x\n",
    "rename from x\n",
    "rename to y\n",
    "new file mode 100644\n",
    "deleted file mode 100644\n",
    "\\ No newline at end of file\n",
    "\n",
    "\r\n",
    "+",
    "-",
    " ",
    "+a\n",
    "-a\n",
    " a\n",
    "\0",
    "\u{feff}",
];

/// Takes a text and a patch, parted by a zero byte.
pub fn run(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let original = parts.next().unwrap_or_default();
    let patch = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let changes = match parse_patch(&patch) {
        Ok(changes) => changes,
        Err(error) => {
            novelty::note(std::mem::discriminant(&error));
            assert!(!error.to_string().is_empty(), "a failure has words");
            return;
        }
    };
    assert!(!changes.is_empty(), "a patch changes something");
    for change in changes {
        match change {
            PatchedFile::Add { content, .. } => novelty::note(("add", content.len().min(4))),
            PatchedFile::Delete { hunks, .. } => apply(original, &hunks),
            PatchedFile::Update { hunks, move_to, .. } => {
                novelty::note(move_to.is_some());
                apply(original, &hunks);
            }
        }
    }
}

fn apply(original: &[u8], hunks: &[Hunk]) {
    let lines = |bytes: &[u8]| {
        let body = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let ends = body.split(|byte| *byte == b'\n').count() - 1;
        ends + usize::from(!body.is_empty() && !body.ends_with(b"\n"))
    };
    match apply_hunks(original, hunks) {
        Err(problem) => novelty::note(std::mem::discriminant(&problem)),
        Ok(new) => {
            novelty::note(("applied", hunks.len().min(4)));
            let count = |wanted: fn(&HunkLine) -> bool| {
                let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
                lines.filter(|line| wanted(line)).count()
            };
            let added = count(|line| matches!(line, HunkLine::Added(_)));
            let removed = count(|line| matches!(line, HunkLine::Removed(_)));
            let expected = lines(original) + added - removed;
            let found = lines(&new);
            // An empty last line without an end does not show.
            assert!(
                found == expected || found + 1 == expected,
                "lines are lost or come from nowhere: {expected}, {found}"
            );
            if hunks.is_empty() {
                assert_eq!(new, original, "nothing was asked for");
            }
        }
    }
}
