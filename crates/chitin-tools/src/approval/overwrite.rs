//! Files that a command writes over: what replaces the content of a file that is there, told by its words.

use super::shell::Word;

/// Where output may go without a file losing anything.
const HARMLESS: [&str; 5] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
];

/// What a command writes over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// This path, relative to where it runs.
    File(String),
    /// Whatever the shell makes of a word, or another program puts there.
    Unclear,
}

/// Returns what a call of a program may write over.
pub(super) fn targets(program: &str, arguments: &[Word]) -> Vec<Target> {
    match program {
        "mv" | "cp" | "install" => moved(arguments),
        "tee" if flag(arguments, 'a', "--append") => Vec::new(),
        "tee" => operands(arguments, &[]).into_iter().map(target).collect(),
        "sed" | "gsed" => edited(arguments),
        "truncate" => {
            let files = operands(arguments, &["-s", "--size", "-r", "--reference"]);
            files.into_iter().map(target).collect()
        }
        "dd" => arguments.iter().filter_map(output_of_dd).collect(),
        _ => Vec::new(),
    }
}

/// Tells whether a path is a place where nothing can be lost.
pub(super) fn is_harmless(path: &str) -> bool {
    HARMLESS.contains(&path) || path.starts_with("/dev/fd/")
}

fn target(word: &Word) -> Target {
    match word {
        // `find` and `xargs` put names in its place.
        Word::Exact(path) if path != "{}" => Target::File(path.clone()),
        Word::Exact(_) | Word::Open => Target::Unclear,
    }
}

fn is_option(word: &Word) -> bool {
    matches!(word, Word::Exact(text) if text.len() > 1 && text.starts_with('-'))
}

/// The words that are no options, nor the values of those that have the next word as one.
fn operands<'a>(arguments: &'a [Word], with_value: &[&str]) -> Vec<&'a Word> {
    let mut found = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word {
            Word::Exact(text) if text == "--" => {
                found.extend(words);
                break;
            }
            Word::Exact(text) if with_value.contains(&text.as_str()) => {
                words.next();
            }
            word if is_option(word) => {}
            word => found.push(word),
        }
    }
    found
}

/// Tells whether an option is given: its letter, alone or among others, or its long name.
fn flag(arguments: &[Word], letter: char, long: &str) -> bool {
    let options = arguments
        .iter()
        .take_while(|word| **word != Word::Exact("--".to_owned()));
    options.into_iter().any(|word| match word {
        Word::Exact(text) if text.starts_with("--") => {
            text.split('=').next().is_some_and(|name| name == long)
        }
        Word::Exact(text) => text
            .strip_prefix('-')
            .is_some_and(|text| text.contains(letter)),
        Word::Open => false,
    })
}

/// `mv` and `cp`: the last word, or what lies there under the name of a source if it is a directory.
fn moved(arguments: &[Word]) -> Vec<Target> {
    let keeps = flag(arguments, 'n', "--no-clobber") || flag(arguments, 'b', "--backup");
    if keeps {
        return Vec::new();
    }
    let named = arguments.iter().position(
        |word| matches!(word, Word::Exact(text) if text == "-t" || text == "--target-directory"),
    );
    let mut files = operands(
        arguments,
        &["-t", "--target-directory", "-S", "--suffix", "-m"],
    );
    let to = match named {
        Some(at) => arguments.get(at + 1),
        None => files.pop(),
    };
    let Some(to) = to.filter(|_| !files.is_empty()) else {
        return Vec::new();
    };
    let Word::Exact(to) = to else {
        return vec![Target::Unclear];
    };
    let inside = files.iter().filter_map(|from| match from {
        Word::Exact(from) => {
            let name = from.trim_end_matches('/').rsplit('/').next()?;
            Some(Target::File(format!("{}/{name}", to.trim_end_matches('/'))))
        }
        // Which names they have in the directory is not known; the directory itself is looked at.
        Word::Open => None,
    });
    std::iter::once(Target::File(to.clone()))
        .chain(inside)
        .collect()
}

/// `sed -i` without a suffix for copies: all files that it is given.
fn edited(arguments: &[Word]) -> Vec<Target> {
    let in_place = arguments.iter().any(|word| match word {
        Word::Exact(text) if text.starts_with("--") => text == "--in-place",
        // What stands behind the letter is the suffix.
        Word::Exact(text) => text.starts_with('-') && text.ends_with('i'),
        Word::Open => false,
    });
    if !in_place {
        return Vec::new();
    }
    let scripts = ["-e", "--expression", "-f", "--file"];
    let has_script = arguments.iter().any(|word| {
        matches!(word, Word::Exact(text) if scripts.contains(&text.as_str())
            || text.starts_with("--expression=") || text.starts_with("--file="))
    });
    let files = operands(arguments, &scripts);
    let files: Vec<Target> = files
        .into_iter()
        .skip(usize::from(!has_script))
        .map(target)
        .collect();
    if files.is_empty() {
        vec![Target::Unclear]
    } else {
        files
    }
}

fn output_of_dd(word: &Word) -> Option<Target> {
    match word {
        Word::Exact(text) => {
            let file = text.strip_prefix("of=")?;
            Some(Target::File(file.to_owned()))
        }
        Word::Open => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(program: &str, line: &str) -> Vec<String> {
        let words: Vec<Word> = line
            .split_whitespace()
            .map(|word| {
                if word.contains('*') {
                    Word::Open
                } else {
                    Word::Exact(word.to_owned())
                }
            })
            .collect();
        let found = targets(program, &words).into_iter();
        found
            .map(|target| match target {
                Target::File(path) => path,
                Target::Unclear => "?".to_owned(),
            })
            .collect()
    }

    #[test]
    fn what_is_written_over_is_found_by_its_words() {
        for (program, line, over) in [
            ("mv", "a b", "b b/a"),
            ("cp", "-r x/a y/b d", "d d/a d/b"),
            ("mv", "-t d a b", "d d/a d/b"),
            ("mv", "-n a b", ""),
            ("cp", "--backup=simple a b", ""),
            ("cp", "a *", "?"),
            ("cp", "*.md d/", "d/"),
            ("mv", "a", ""),
            ("tee", "a b", "a b"),
            ("tee", "-a a", ""),
            ("tee", "-- -a", "-a"),
            ("sed", "-i s/a/b/ x y", "x y"),
            ("sed", "-Ei s/a/b/ x", "x"),
            ("sed", "-i -e s/a/b/ x", "x"),
            ("sed", "-i.bak s/a/b/ x", ""),
            ("sed", "s/a/b/ x", ""),
            ("sed", "-n 1p x", ""),
            ("sed", "-i s/a/b/ *.md", "?"),
            ("sed", "-i s/a/b/", "?"),
            ("sed", "-i s/a/b/ {}", "?"),
            ("truncate", "-s 0 x", "x"),
            ("dd", "if=a of=b bs=1M", "b"),
            ("cat", "a b", ""),
        ] {
            assert_eq!(found(program, line).join(" "), over, "{program} {line}");
        }
    }
}
