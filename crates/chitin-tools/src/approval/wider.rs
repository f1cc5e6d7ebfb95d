//! Patterns for an answer that lasts: commands of one kind, where that is safe to say from the words.

use super::harm::harm;
use super::indirect::is_opaque;
use super::shell::{Word, split};

/// Commands of which all of a kind may be allowed together: programs, and their subcommands; without any, all calls.
///
/// Only what works in the workspace and says by its words what it does. What deletes, talks to other machines, installs, or runs what its
/// arguments say is remembered to the letter.
const KINDS: [(&str, &[&str]); 27] = [
    (
        "cargo",
        &[
            "bench", "build", "check", "clippy", "doc", "fmt", "metadata", "run", "test", "tree",
        ],
    ),
    (
        "git",
        &[
            "add",
            "blame",
            "commit",
            "describe",
            "diff",
            "log",
            "ls-files",
            "rev-parse",
            "shortlog",
            "show",
            "status",
        ],
    ),
    ("go", &["build", "fmt", "list", "test", "vet"]),
    ("gradle", &["build", "check", "test"]),
    ("mvn", &["compile", "test", "verify"]),
    ("npm", &["run", "start", "test"]),
    ("pnpm", &["run", "start", "test"]),
    ("yarn", &["run", "start", "test"]),
    ("cat", &[]),
    ("cut", &[]),
    ("df", &[]),
    ("diff", &[]),
    ("du", &[]),
    ("eslint", &[]),
    ("file", &[]),
    ("grep", &[]),
    ("head", &[]),
    ("jest", &[]),
    ("ls", &[]),
    ("make", &[]),
    ("prettier", &[]),
    ("pytest", &[]),
    ("rg", &[]),
    ("stat", &[]),
    ("tail", &[]),
    ("tsc", &[]),
    ("wc", &[]),
];

/// Returns the pattern of a command's kind; nothing where only the command itself can be allowed. A pattern that was allowed
/// covers exactly the commands for which this returns it.
pub(super) fn pattern_of(command: &str, at_stake: &dyn Fn(&str) -> bool) -> Option<String> {
    let script = split(command).ok()?;
    let [only] = script.commands.as_slice() else {
        return None;
    };
    let mut words = Vec::new();
    for word in &only.words {
        match word {
            Word::Exact(word) => words.push(word.as_str()),
            Word::Open => return None,
        }
    }
    let program = words.first()?;
    let (_, subcommands) = KINDS.iter().find(|(name, _)| name == program)?;
    if is_opaque(&only.words) || harm(command, at_stake).is_some() {
        return None;
    }
    if subcommands.is_empty() {
        return Some(format!("{program} *"));
    }
    let subcommand = words.get(1)?;
    let is_known = subcommands.contains(subcommand);
    is_known.then(|| format!("{program} {subcommand} *"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(command: &str) -> Option<String> {
        pattern_of(command, &|file| file == "there.txt")
    }

    #[test]
    fn plain_commands_of_a_kind_are_allowed_together() {
        for (command, kind) in [
            ("npm run build", "npm run *"),
            ("npm run build -- --watch", "npm run *"),
            ("cargo test -p 'one two'", "cargo test *"),
            ("git status", "git status *"),
            ("ls -la src", "ls *"),
            ("make test", "make *"),
        ] {
            assert_eq!(pattern(command).as_deref(), Some(kind), "{command}");
        }
    }

    #[test]
    fn what_does_more_than_its_first_words_say_is_remembered_to_the_letter() {
        for command in [
            "npm run build && rm -rf /",
            "npm run build; ls",
            "npm run build | tee x",
            "npm run $(cat x)",
            "npm run build > there.txt",
            "npm run build > new.txt",
            "npm run *",
            "X=1 npm run build",
            "npm install left-pad",
            "npm",
            "npm --prefix .. run build",
            "git push origin main",
            "git -c core.pager=x log",
            "git log $X",
            "make --eval x",
            "rg --pre sh x",
            "rm -rf build",
            "rm x",
            "curl https://example.com",
            "python3 x.py",
            "sh -c 'npm run build'",
            "env npm run build",
            "./npm run build",
            "/tmp/npm run build",
            "docker run x",
        ] {
            assert_eq!(pattern(command), None, "{command}");
        }
    }
}
