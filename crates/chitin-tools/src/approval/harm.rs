//! Commands that destroy what nobody can bring back: where somebody can be asked, they are asked about first.
//!
//! These rules look at words and so can be got around; the wall is the [sandbox](crate::sandbox). They are for honest mistakes.

use super::overwrite::{Target, is_harmless, targets};
use super::rules::{INTERPRETERS, RUNNERS};
use super::shell::{Word, split};

/// How deep commands within commands are looked at.
const DEEPEST: usize = 4;
/// How many words of a command are looked at.
const MOST_WORDS: usize = 1_000;

/// How many files are looked at that output goes to.
const MOST_FILES: usize = 100;

/// A program, the words that make a call of it harmful, and what it does then.
struct Rule {
    program: &'static str,
    /// Each of these must be there, in any of its spellings; a spelling of one letter may be among others behind one dash.
    needs: &'static [&'static [&'static str]],
    does: &'static str,
}

const fn rule(
    program: &'static str,
    needs: &'static [&'static [&'static str]],
    does: &'static str,
) -> Rule {
    Rule {
        program,
        needs,
        does,
    }
}

const RULES: [Rule; 32] = [
    rule(
        "rm",
        &[&["-r", "-R", "--recursive"]],
        "deletes directories with all that is in them",
    ),
    rule(
        "rm",
        &[&["*"]],
        "deletes whatever a pattern or variable stands for",
    ),
    rule("shred", &[], "overwrites files"),
    rule("wipefs", &[], "makes a disk unreadable"),
    rule("fdisk", &[], "changes how a disk is divided"),
    rule("sfdisk", &[], "changes how a disk is divided"),
    rule("parted", &[], "changes how a disk is divided"),
    rule("find", &[&["-delete"]], "deletes all files that it finds"),
    rule(
        "rsync",
        &[&[
            "--delete",
            "--delete-after",
            "--delete-before",
            "--delete-excluded",
        ]],
        "deletes files at the target",
    ),
    rule(
        "chmod",
        &[&["-R", "--recursive"]],
        "changes the permissions of everything in a directory",
    ),
    rule(
        "chown",
        &[&["-R", "--recursive"]],
        "changes the owner of everything in a directory",
    ),
    rule(
        "chgrp",
        &[&["-R", "--recursive"]],
        "changes the group of everything in a directory",
    ),
    rule("kill", &[], "ends processes"),
    rule("pkill", &[], "ends processes"),
    rule("killall", &[], "ends processes"),
    rule("shutdown", &[], "turns the machine off"),
    rule("reboot", &[], "restarts the machine"),
    rule(
        "git",
        &[&["reset"], &["--hard"]],
        "discards changes that are not committed",
    ),
    rule(
        "git",
        &[&["clean"], &["-f", "--force"]],
        "deletes files that git does not know",
    ),
    rule(
        "git",
        &[
            &["push"],
            &[
                "-f",
                "--force",
                "--force-with-lease",
                "--mirror",
                "--delete",
                "-d",
                "--prune",
            ],
        ],
        "removes commits or branches from the remote",
    ),
    rule(
        "git",
        &[&["checkout"], &["-f", "--force", "--", "."]],
        "discards changes that are not committed",
    ),
    rule(
        "git",
        &[&["switch"], &["-f", "--force", "--discard-changes"]],
        "discards changes that are not committed",
    ),
    rule(
        "git",
        &[&["restore"]],
        "discards changes that are not committed",
    ),
    rule(
        "git",
        &[&["branch"], &["-D"]],
        "deletes a branch whether or not it is merged",
    ),
    rule(
        "git",
        &[&["stash"], &["drop", "clear"]],
        "deletes stashed changes",
    ),
    rule(
        "git",
        &[&["filter-branch", "filter-repo"]],
        "rewrites the history",
    ),
    rule(
        "git",
        &[&["reflog"], &["expire", "delete"]],
        "deletes what lost commits are found by",
    ),
    rule("git", &[&["update-ref"], &["-d"]], "deletes a reference"),
    rule(
        "docker",
        &[&["prune"]],
        "deletes containers, images or volumes",
    ),
    rule("docker", &[&["volume"], &["rm"]], "deletes volumes"),
    rule("terraform", &[&["destroy"]], "deletes infrastructure"),
    rule("kubectl", &[&["delete"]], "deletes resources"),
];

/// Says what a command line destroys, in a sentence; nothing where it does not seem to. `at_stake` tells whether there is a file whose
/// content nobody could bring back.
pub(super) fn harm(command: &str, at_stake: &dyn Fn(&str) -> bool) -> Option<String> {
    let overwritten = || {
        let target = truncated_files(command)
            .into_iter()
            .find(|file| !is_harmless(file) && at_stake(file))?;
        Some(format!(
            "`> {target}` replaces all that the file holds, and undo does not cover it."
        ))
    };
    harm_of(command, at_stake, 0).or_else(overwritten)
}

fn harm_of(command: &str, at_stake: &dyn Fn(&str) -> bool, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let commands = match split(command) {
        Ok(script) => script.commands.into_iter().map(|one| one.words).collect(),
        Err(_) => roughly(command),
    };
    commands
        .iter()
        .find_map(|words| harm_of_words(words, at_stake, depth))
}

/// Looks at every word that may begin a command, each once: behind a program that runs others, that is all of them.
fn harm_of_words(words: &[Word], at_stake: &dyn Fn(&str) -> bool, depth: usize) -> Option<String> {
    let words = &words[..words.len().min(MOST_WORDS)];
    let (mut begins, mut runs, mut interprets) = (true, false, false);
    for (at, word) in words.iter().enumerate() {
        if !(begins || runs || interprets) {
            break;
        }
        let Word::Exact(text) = word else {
            begins = false;
            continue;
        };
        if interprets
            && depth < DEEPEST
            && text.contains(' ')
            && let Some(harm) = harm_of(text, at_stake, depth + 1)
        {
            return Some(harm);
        }
        if !(begins || runs) {
            continue;
        }
        let program = text.rsplit('/').next().unwrap_or(text);
        // A variable may stand before the program.
        begins = program.contains('=');
        if begins {
            continue;
        }
        if let Some(harm) = harm_of_call(program, &words[at + 1..], at_stake) {
            return Some(harm);
        }
        runs |= RUNNERS.contains(&program);
        interprets |= program == "eval" || INTERPRETERS.contains(&program);
    }
    None
}

fn harm_of_call(
    program: &str,
    arguments: &[Word],
    at_stake: &dyn Fn(&str) -> bool,
) -> Option<String> {
    if program.starts_with("mkfs") {
        return Some(format!(
            "`{program}` makes a new file system: all that a disk holds is lost."
        ));
    }
    let found = RULES
        .iter()
        .find(|rule| rule.program == program && rule.fits(arguments));
    if let Some(rule) = found.filter(|_| !only_asks(program, arguments)) {
        return Some(format!("`{program}` here {}.", rule.does));
    }
    written_over(program, arguments, at_stake)
}

/// Says which file a call writes over that could not be brought back.
fn written_over(
    program: &str,
    arguments: &[Word],
    at_stake: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let targets = targets(program, arguments);
    targets.into_iter().find_map(|target| match target {
        Target::File(path) if !is_harmless(&path) && at_stake(&path) => Some(format!(
            "`{program}` here replaces what `{path}` holds, and undo does not cover it."
        )),
        Target::File(_) => None,
        Target::Unclear => Some(format!(
            "`{program}` here replaces what files hold, and its words do not say which."
        )),
    })
}

/// Tells whether a call only looks: `kill -0`, `kill -l`, or help.
fn only_asks(program: &str, arguments: &[Word]) -> bool {
    let has = |wanted: &str| {
        arguments
            .iter()
            .any(|word| *word == Word::Exact(wanted.to_owned()))
    };
    has("--help")
        || has("--version")
        || (program == "kill" && (has("-0") || has("-l")))
        || (program == "git" && has("restore") && has("--staged") && !has("--worktree"))
        || ((program == "rsync" || program == "git") && (has("--dry-run") || has("-n")))
}

impl Rule {
    fn fits(&self, arguments: &[Word]) -> bool {
        self.needs.iter().all(|spellings| {
            arguments.iter().any(|word| match word {
                // What the shell makes of it may be anything; only deleting by a pattern is harmful for that alone.
                Word::Open => spellings.contains(&"*"),
                Word::Exact(word) => spellings.iter().any(|spelling| is_spelled(word, spelling)),
            })
        }) || (self.program == "git" && forces_by_name(arguments))
    }
}

/// Tells whether `git push` is forced by a `+` before a name.
fn forces_by_name(arguments: &[Word]) -> bool {
    let mut exact = arguments.iter().filter_map(|word| match word {
        Word::Exact(word) => Some(word.as_str()),
        Word::Open => None,
    });
    exact.any(|word| word == "push")
        && exact.any(|word| word.starts_with('+') || word.starts_with(':'))
}

fn is_spelled(word: &str, spelling: &str) -> bool {
    let letter = spelling
        .strip_prefix('-')
        .filter(|letter| letter.chars().count() == 1);
    let among = letter.is_some_and(|letter| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(letter))
    });
    word == spelling
        || among
        || (spelling.starts_with("--")
            && word
                .strip_prefix(spelling)
                .is_some_and(|rest| rest.starts_with('=')))
}

/// Takes a line apart that is more than simple commands: every word that may begin one is looked at. It sees too much rather than too
/// little.
fn roughly(command: &str) -> Vec<Vec<Word>> {
    let command = command.replace("$(", ";");
    let pieces = command.split([';', '|', '&', '(', ')', '{', '}', '`', '\n']);
    let words = |piece: &str| -> Vec<Word> {
        let words = piece.split_whitespace().take(MOST_WORDS);
        words
            .map(|word| word.trim_matches(['"', '\'']))
            .skip_while(|word| {
                matches!(
                    *word,
                    "then" | "do" | "else" | "if" | "while" | "until" | "!" | "time"
                )
            })
            .map(|word| {
                if word.contains(['*', '?', '$', '[']) {
                    Word::Open
                } else {
                    Word::Exact(word.to_owned())
                }
            })
            .collect()
    };
    pieces
        .map(words)
        .filter(|words| !words.is_empty())
        .collect()
}

/// Returns the files that output goes to in place of what they hold.
fn truncated_files(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut letters = command.char_indices().peekable();
    let mut before = ' ';
    while let Some((_, c)) = letters.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                letters.next();
            }
            (None, '>') if before != '>' && before != '<' => {
                letters.next_if(|(_, c)| *c == '|');
                if found.len() < MOST_FILES
                    && let Some((at, c)) = letters.peek()
                    && !matches!(c, '>' | '&' | '(')
                {
                    let rest = command[*at..].trim_start_matches([' ', '\t']);
                    let end = rest.find([' ', '\t', '\n', ';', '|', '&', '<', '>', ')']);
                    let file = rest[..end.unwrap_or(rest.len())].trim_matches(['"', '\'']);
                    if !file.is_empty() {
                        found.push(file.to_owned());
                    }
                }
            }
            _ => {}
        }
        before = c;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::harm;

    fn is_harmful(command: &str) -> bool {
        let at_stake = |file: &str| {
            let file = file.trim_start_matches("./");
            matches!(file, "there.txt" | "/dev/sdb")
        };
        harm(command, &at_stake).is_some()
    }

    #[test]
    fn what_destroys_is_seen_however_it_is_called() {
        for command in [
            "rm -r build",
            "rm -fr build",
            "/bin/rm --recursive --force x",
            "rm *.log",
            "cd x && rm -rf .",
            "sudo rm -rf /",
            "X=1 rm -rf y",
            "find . -name x -delete",
            "find . -exec rm -r {} +",
            "ls | xargs rm -rf",
            "sh -c 'rm -rf x'",
            "bash -c \"cd y; git reset --hard\"",
            "for d in *; do rm -rf \"$d\"; done",
            "echo $(rm -r x)",
            "git reset --hard HEAD~1",
            "git -C sub reset --hard",
            "git clean -fdx",
            "git push --force",
            "git push -f origin main",
            "git push origin +main",
            "git push origin :main",
            "git push --force-with-lease=main",
            "git checkout -- .",
            "git branch -D topic",
            "git stash drop",
            "dd if=a of=there.txt",
            "dd if=a of=/dev/sdb",
            "mv new.txt there.txt",
            "cp -f new.txt there.txt",
            "cp a/there.txt .",
            "make | tee there.txt",
            "make | sudo tee there.txt",
            "sed -i s/a/b/ there.txt",
            "sed -i s/a/b/ *.md",
            "find . -name x -exec sed -i s/a/b/ {} +",
            "ls | xargs sed -i s/a/b/",
            "sh -c 'cp new.txt there.txt'",
            "echo x > /dev/sdb",
            "mkfs.ext4 /dev/sdb",
            "chmod -R 777 .",
            "chown -R me .",
            "kill 42",
            "pkill node",
            "truncate -s 0 there.txt",
            "echo x > there.txt",
            "echo x >there.txt",
            "echo x >| there.txt",
            "cat > 'there.txt' <<EOF\nx\nEOF",
        ] {
            assert!(is_harmful(command), "{command}");
        }
    }

    /// Each of these took hours, or all of the stack.
    #[test]
    fn a_long_command_takes_no_time() {
        for part in [
            "env ",
            "a=1 ",
            "sudo sh 'a b' ",
            "eval 'sh x' ",
            "x>y ",
            "> ",
        ] {
            let command = part.repeat(20_000);
            assert!(!is_harmful(&command), "{part}");
            assert!(!is_harmful(&format!("({command}")), "{part}");
        }
        let seen = format!("{}rm -r x", "env ".repeat(900));
        assert!(is_harmful(&seen));
    }

    #[test]
    fn everyday_commands_are_not_asked_about() {
        for command in [
            "rm note.txt",
            "ls -R",
            "ls -la > new.txt",
            "echo x >> there.txt",
            "mv there.txt new.txt",
            "cp there.txt new.txt",
            "mv -n new.txt there.txt",
            "make | tee -a there.txt",
            "make | tee new.txt",
            "sed -i.bak s/a/b/ there.txt",
            "sed -i s/a/b/ covered.txt",
            "dd if=there.txt of=new.txt",
            "truncate -s 0 covered.txt",
            "make 2> /dev/null",
            "make 2>&1",
            "make > /dev/null",
            "cargo test",
            "git status",
            "git push origin main",
            "git reset HEAD x",
            "git clean -n",
            "git checkout main",
            "git restore --staged x",
            "git log --format=format",
            "grep -r 'rm -rf' .",
            "echo 'a > there.txt'",
            "kill -0 42",
            "chmod 600 key",
            "find . -name '*.rs'",
            "sed -n 1p x",
            "python3 -c 'print(1 > 0)'",
        ] {
            assert!(!is_harmful(command), "{command}");
        }
    }
}
