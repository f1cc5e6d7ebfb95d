//! Commands that are not what they look like: options before the word that counts, and programs in the arguments of others.

use super::shell::Word;

/// Programs with subcommands, and their options before one that take a value as the next word.
const WITH_SUBCOMMANDS: [(&str, &[&str]); 14] = [
    (
        "git",
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
            "--attr-source",
            "--exec-path",
        ],
    ),
    (
        "docker",
        &[
            "-c",
            "--context",
            "-H",
            "--host",
            "--config",
            "-l",
            "--log-level",
            "--tlscacert",
            "--tlscert",
            "--tlskey",
        ],
    ),
    (
        "podman",
        &[
            "-c",
            "--connection",
            "--url",
            "--root",
            "--runroot",
            "--log-level",
        ],
    ),
    (
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--context",
            "--cluster",
            "--user",
            "--kubeconfig",
            "-s",
            "--server",
            "--token",
            "-v",
        ],
    ),
    (
        "helm",
        &["-n", "--namespace", "--kube-context", "--kubeconfig"],
    ),
    (
        "npm",
        &["--prefix", "-C", "-w", "--workspace", "--registry"],
    ),
    ("pnpm", &["-C", "--dir", "-F", "--filter"]),
    ("yarn", &["--cwd"]),
    ("cargo", &["-C", "-Z", "--config", "--color"]),
    (
        "systemctl",
        &[
            "-H",
            "--host",
            "-M",
            "--machine",
            "-t",
            "--type",
            "-p",
            "--property",
        ],
    ),
    ("gh", &["-R", "--repo"]),
    (
        "aws",
        &["--profile", "--region", "--endpoint-url", "--output"],
    ),
    ("gcloud", &["--project", "--account", "--configuration"]),
    ("apt-get", &["-o", "-c", "-t"]),
];

/// What git does itself. Anything else may be an alias, or a program of that name.
const GIT_COMMANDS: &str = " add am apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout checkout-index \
cherry cherry-pick clean clone commit commit-graph commit-tree config count-objects describe diff diff-files diff-index diff-tree \
difftool fast-export fast-import fetch filter-branch for-each-ref format-patch fsck gc grep hash-object help init log ls-files \
ls-remote ls-tree maintenance merge merge-base merge-file mergetool mktree mv name-rev notes pack-objects pack-refs prune pull push \
range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm send-email \
shortlog show show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref tag unpack-objects update-index \
update-ref var verify-commit verify-pack verify-tag version whatchanged worktree write-tree ";

/// Words of the shell that change what a later word means, or run something later.
const LATER: [&str; 11] = [
    "trap",
    "alias",
    "eval",
    "source",
    ".",
    "enable",
    "hash",
    "bind",
    "mapfile",
    "readarray",
    "complete",
];

/// Words of the shell that set variables.
const SETTERS: [&str; 5] = ["export", "declare", "typeset", "readonly", "local"];

/// Options by which a program runs another one.
const RUNS_BY_OPTION: [(&str, &[&str]); 16] = [
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
            "-I",
            "-F",
        ],
    ),
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S", "-o"]),
    ("sftp", &["-S", "-o"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("wget", &["--use-askpass"]),
    ("curl", &["-K", "--config"]),
    ("vim", &["-c", "--cmd", "-S", "-s"]),
    ("nvim", &["-c", "--cmd", "-S", "-s", "-l"]),
    ("make", &["--eval", "-f", "--file"]),
];

/// Arguments of git's own commands by which it runs a program.
const GIT_RUNS: [(&str, &[&str]); 11] = [
    ("rebase", &["-x", "--exec"]),
    ("bisect", &["run"]),
    ("submodule", &["foreach"]),
    ("difftool", &["-x", "--extcmd"]),
    ("mergetool", &["-t", "--tool"]),
    ("grep", &["-O", "--open-files-in-pager"]),
    ("fetch", &["--upload-pack"]),
    ("pull", &["--upload-pack"]),
    (
        "clone",
        &["-u", "--upload-pack", "-c", "--config", "--template"],
    ),
    ("push", &["--receive-pack", "--exec"]),
    (
        "filter-branch",
        &[
            "--tree-filter",
            "--index-filter",
            "--msg-filter",
            "--env-filter",
            "--commit-filter",
            "--parent-filter",
        ],
    ),
];

/// Returns a command without the options before its subcommand; nothing where there are none, or where it has no subcommands.
pub(super) fn without_global_options(words: &[Word]) -> Option<Vec<Word>> {
    let program = bare(words)?;
    let (_, with_value) = WITH_SUBCOMMANDS.iter().find(|(name, _)| *name == program)?;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word {
            // A toolchain.
            Word::Exact(word) if program == "cargo" && word.starts_with('+') => at += 1,
            Word::Exact(word) if with_value.contains(&word.as_str()) => at += 2,
            Word::Exact(word) if word.starts_with('-') => at += 1,
            Word::Exact(_) | Word::Open => break,
        }
    }
    if at == 1 {
        return None;
    }
    let rest = words.get(at..).unwrap_or_default();
    Some([&words[..1], rest].concat())
}

/// Says that a command runs, or prepares, something that its words don't show.
pub(super) fn is_opaque(words: &[Word]) -> bool {
    let Some(program) = bare(words) else {
        return true;
    };
    let arguments = &words[1..];
    if LATER.contains(&program) {
        return true;
    }
    if SETTERS.contains(&program) {
        return arguments.iter().any(|word| match word {
            Word::Exact(word) => {
                let name = word.split('=').next().unwrap_or(word);
                crate::sandbox::is_loader_variable(name) || name.starts_with("GIT_")
            }
            Word::Open => true,
        });
    }
    match program {
        "git" => git_is_opaque(words),
        "sed" | "gsed" => sed_is_opaque(arguments),
        _ => RUNS_BY_OPTION
            .iter()
            .find(|(name, _)| *name == program)
            .is_some_and(|(name, options)| {
                // The old way to write `-I` and `-F`: letters without a dash.
                let bundled = *name == "tar"
                    && matches!(arguments.first(), Some(Word::Exact(word)) if !word.starts_with('-') && word.contains(['I', 'F']));
                bundled || names_option(arguments, options)
            }),
    }
}

/// Says whether a word may be the program that a runner such as `env` or `timeout` starts: what stands before it are options, their
/// values, variables and numbers.
pub(super) fn may_be_program(words: &[Word], at: usize) -> bool {
    let before = &words[1..at];
    let last = match before.last() {
        Some(Word::Exact(last)) => Some(last.as_str()),
        Some(Word::Open) | None => None,
    };
    // Everything else of `find` is a condition or a place.
    if bare(words) == Some("find") {
        return matches!(last, Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    }
    if last == Some("--") {
        return true;
    }
    let mut after_option = false;
    before.iter().all(|word| {
        let Word::Exact(word) = word else {
            return true;
        };
        let option = word.starts_with('-');
        let number = word.starts_with(|c: char| c.is_ascii_digit());
        let fits = option || number || word.contains('=') || after_option;
        after_option = option;
        fits
    })
}

fn bare(words: &[Word]) -> Option<&str> {
    match words.first()? {
        Word::Exact(program) => Some(program.rsplit('/').next().unwrap_or(program)),
        Word::Open => None,
    }
}

/// Says whether one of the options is given: alone, with `=`, shortened as long options may be, or among other letters.
fn names_option(arguments: &[Word], options: &[&str]) -> bool {
    arguments.iter().any(|word| {
        let Word::Exact(word) = word else {
            return false;
        };
        let name = word.split('=').next().unwrap_or(word);
        options.iter().any(|option| {
            if *option == name {
                return true;
            }
            if let Some(long) = option.strip_prefix("--") {
                let given = name.strip_prefix("--").unwrap_or_default();
                return given.len() >= 3 && long.starts_with(given);
            }
            // `-xzIcat`, `-ecommand`.
            option.len() == 2
                && word.starts_with('-')
                && !word.starts_with("--")
                && option
                    .chars()
                    .nth(1)
                    .is_some_and(|letter| word.contains(letter))
        })
    })
}

fn git_is_opaque(words: &[Word]) -> bool {
    let own = without_global_options(words);
    let rest = own.as_deref().unwrap_or(words);
    let global = words.len() - rest.len();
    // Settings by option name programs, in many ways.
    let configures = words[1..=global].iter().any(|word| match word {
        Word::Exact(word) => {
            *word == "-c"
                || ["--config-env", "--exec-path", "--git-dir"]
                    .iter()
                    .any(|option| word.starts_with(option))
        }
        Word::Open => true,
    });
    if configures {
        return true;
    }
    let Some(command) = rest.get(1) else {
        return false;
    };
    let Word::Exact(command) = command else {
        return true;
    };
    if command.starts_with('-') {
        return false;
    }
    if command.contains(' ') || !GIT_COMMANDS.contains(&format!(" {command} ")) {
        return true;
    }
    let arguments = &rest[2..];
    let by_option = GIT_RUNS
        .iter()
        .find(|(name, _)| name == command)
        .is_some_and(|(_, options)| names_option(arguments, options));
    // `ext::` addresses are command lines; settings and aliases are made with `config`.
    by_option
        || (command == "config" && arguments.len() > 1)
        || arguments
            .iter()
            .any(|word| matches!(word, Word::Exact(word) if word.starts_with("ext::")))
}

/// Only the plainest scripts of `sed` are known to run nothing.
fn sed_is_opaque(arguments: &[Word]) -> bool {
    let mut scripts: Vec<&str> = Vec::new();
    let mut first = true;
    let mut expects = false;
    let mut given = false;
    for word in arguments {
        let Word::Exact(word) = word else {
            // A variable may be a script or an option; the name of a file after the script is not.
            if first && !given {
                return true;
            }
            continue;
        };
        if expects {
            scripts.push(word);
            expects = false;
            given = true;
        } else if word == "--sandbox" {
            return false;
        } else if word == "-e" || word == "--expression" {
            expects = true;
        } else if let Some(script) = word.strip_prefix("--expression=") {
            scripts.push(script);
            given = true;
        } else if word == "-f" || word.starts_with("--file") {
            return true;
        } else if word.starts_with("--") {
        } else if word.len() > 1 && word.starts_with('-') {
            // `-i.bak` is `-i` with an ending; other letters may take what follows as a script.
            if !word.starts_with("-i") && word.contains(['e', 'f']) {
                return true;
            }
        } else if first {
            first = false;
            if !given {
                scripts.push(word);
            }
        }
    }
    scripts.iter().any(|script| !is_plain_sed(script))
}

/// Knows `10p`, `1,5d`, `$d`, `/word/d`, `s/a/b/g` and the like.
fn is_plain_sed(script: &str) -> bool {
    let script = script.trim();
    let mut rest =
        script.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' '));
    if let Some(after) = rest.strip_prefix('/') {
        let Some(end) = end_of_part(after, '/') else {
            return false;
        };
        rest = &after[end..];
    }
    if matches!(rest, "p" | "d" | "q" | "=" | "!d" | "!p") {
        return true;
    }
    let Some(after) = rest.strip_prefix('s') else {
        return false;
    };
    let Some(delimiter) = after
        .chars()
        .next()
        .filter(|c| c.is_ascii_punctuation() && *c != '\\')
    else {
        return false;
    };
    let after = &after[1..];
    let Some(second) = end_of_part(after, delimiter) else {
        return false;
    };
    let Some(flags) = end_of_part(&after[second..], delimiter) else {
        return false;
    };
    after[second + flags..]
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I'))
}

/// Returns where a part ends, behind its delimiter. Parts of several lines are not plain.
fn end_of_part(text: &str, delimiter: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == '\n' {
            return None;
        }
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == delimiter {
            return Some(at + c.len_utf8());
        }
    }
    None
}
