//! A line of explanation where a command stumbled over a name that is kept from it.

use chitin_protocol::guarded_paths::GUARDED_PATHS;

/// What programs say of a name that is mounted over.
const REFUSALS: &[&str] = &["Read-only file system", "Device or resource busy"];
/// What they say of a free name that is taken by an empty directory.
const TAKEN: &[&str] = &["File exists", "Is a directory"];
/// More lines are not looked at.
const MOST_LINES: usize = 2_000;

/// Explains the first refusal in an output, if there is one.
pub(super) fn note(output: &str) -> Option<String> {
    let name = output.lines().rev().take(MOST_LINES).find_map(refused)?;
    Some(format!(
        "[`{name}` is kept from commands: other programs run by it, or it decides what the agent may do. \
         Only the owner makes or changes it, or opens it with `exec.writable`.]"
    ))
}

/// Returns the guarded name that a line says it could not make or change.
fn refused(line: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|words| line.contains(words));
    let (refused, taken) = (says(REFUSALS), says(TAKEN));
    if !refused && !taken {
        return None;
    }
    let is_end = |c: char| c.is_whitespace() || "/'\"`:‘’,".contains(c);
    let mut parts = line.split(is_end);
    let named = parts.find_map(|part| GUARDED_PATHS.iter().find(|guarded| guarded.name == part))?;
    // A directory that is there says so too when it is taken for a file.
    let is_taken = taken && (!named.directory || line.contains("File exists"));
    (refused || is_taken).then_some(named.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_of_guarded_names_are_explained() {
        for (line, name) in [
            (
                "fatal: cannot copy to '/w/.git/hooks/x': Read-only file system",
                Some(".git"),
            ),
            (
                "sh: 1: cannot create .envrc: Is a directory",
                Some(".envrc"),
            ),
            (
                "mkdir: cannot create directory ‘.vscode’: File exists",
                Some(".vscode"),
            ),
            (
                "rm: cannot remove '.git/config': Device or resource busy",
                Some(".git"),
            ),
            ("cat: .git: Is a directory", None),
            ("touch: cannot touch '/usr/x': Read-only file system", None),
            ("mkdir: cannot create directory ‘notes’: File exists", None),
            (".git/config", None),
        ] {
            assert_eq!(refused(line), name, "{line}");
        }
    }
}
