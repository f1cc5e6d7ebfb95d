//! Command lines of the recorded program: which of them are wrong, and how the right ones end with us.
//!
//! The program's verbs are not all ours (`materialize` is `unpack`, `build` is `pack`). A verb's arguments are checked by the
//! table below, which is rule P70 as data; what it then does is done by the library that our own verbs call.

use super::files;
use crate::{Check, Outcome};
use anyhow::Result;
use chitin_pack::build::{BuildOptions, build_source};
use chitin_pack::reference::Reference;
use chitin_pack::store::{ImageLayout, Store};
use chitin_pack::{ErrorClass, ExitKind, PackError};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// What a verb takes.
struct Verb {
    name: &'static str,
    /// How many positional arguments it needs.
    needs: usize,
    /// How many it takes at most.
    takes: usize,
    /// Flags that stand alone.
    switches: &'static [&'static str],
    /// Flags with a value.
    options: &'static [&'static str],
}

const fn verb(
    name: &'static str,
    (needs, takes): (usize, usize),
    switches: &'static [&'static str],
    options: &'static [&'static str],
) -> Verb {
    Verb {
        name,
        needs,
        takes,
        switches,
        options,
    }
}

const VERBS: &[Verb] = &[
    verb(
        "build",
        (0, 1),
        &["--json", "--all-personas"],
        &["--symlink-mode", "--out", "--output", "--persona"],
    ),
    verb("build-source", (1, 1), &["--json"], &["--out", "--output"]),
    verb("validate", (0, 1), &["--json"], &[]),
    verb("inspect", (1, 1), &["--json"], &[]),
    verb("extract", (2, 2), &["--json"], &[]),
    verb("diff", (2, 2), &["--json"], &[]),
    verb(
        "materialize",
        (1, 1),
        &["--json", "--plan", "--exact"],
        &["--out", "--adapter"],
    ),
    verb(
        "plan-install",
        (1, 1),
        &["--json", "--exact"],
        &["--consumer", "--adapter", "--out"],
    ),
    verb("push", (1, 1), &["--json"], &[]),
    verb("pull", (1, 1), &["--json"], &["--out"]),
    verb("verify", (1, 1), &["--json"], &["--policy"]),
    verb("login", (1, 1), &["--password-stdin"], &["--username"]),
    verb("logout", (1, 1), &[], &[]),
    verb("version", (0, 0), &[], &[]),
    verb("help", (0, 1), &[], &[]),
];

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let Some(exit) = check.expected.get("exit").and_then(Value::as_u64) else {
        return Outcome::Failed("the case names no exit code\n".to_owned());
    };
    let (ours, why) = match end(check.input) {
        Ok(Ok(())) => (0, String::new()),
        Ok(Err(error)) => (error.exit().code(), error.to_string()),
        Err(error) => return Outcome::Failed(format!("{error:#}\n")),
    };
    if u64::from(ours) == exit {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("recorded: exit {exit}\nours: exit {ours} {why}\n"))
    }
}

fn end(input: &Value) -> Result<Result<(), PackError>> {
    let place = TempDir::with_prefix("chitin-pack-")?;
    files::write(place.path(), &input["files"])?;
    let arguments: Vec<&str> = input["args"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    Ok(parse(&arguments).and_then(|line| line.act(place.path(), input)))
}

/// A command line that makes sense.
#[derive(Debug, Default)]
struct Line<'a> {
    verb: &'a str,
    given: Vec<&'a str>,
    flags: Vec<(&'a str, Option<&'a str>)>,
    help: bool,
}

fn usage(message: impl Into<String>) -> PackError {
    PackError::new(ErrorClass::Usage, message)
}

fn parse<'a>(arguments: &[&'a str]) -> Result<Line<'a>, PackError> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(usage("no command"));
    };
    if matches!(*name, "--help" | "-h" | "--version" | "-v") {
        return Ok(Line {
            help: true,
            ..Line::default()
        });
    }
    let verb = VERBS
        .iter()
        .find(|verb| verb.name == *name)
        .ok_or_else(|| usage(format!("there is no command `{name}`")))?;
    let mut line = Line {
        verb: verb.name,
        ..Line::default()
    };
    let mut rest = rest.iter().copied();
    while let Some(word) = rest.next() {
        let (flag, inline) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word, None),
        };
        if matches!(word, "--help" | "-h") {
            line.help = true;
        } else if verb.switches.contains(&flag) {
            line.flags.push((flag, None));
        } else if verb.options.contains(&flag) {
            let value = inline.or_else(|| rest.next());
            if value.is_none() {
                return Err(usage(format!("`{flag}` needs a value")));
            }
            line.flags.push((flag, value));
        } else if word.starts_with('-') {
            return Err(usage(format!("there is no flag `{word}`")));
        } else {
            line.given.push(word);
        }
    }
    if !line.help && (line.given.len() < verb.needs || line.given.len() > verb.takes) {
        return Err(usage(format!("`{name}` takes other arguments")));
    }
    line.check_values()?;
    Ok(line)
}

/// Judges the arguments of a verb, without doing what they ask for.
pub(super) fn check_arguments(verb: &str, arguments: &[&str]) -> Result<(), PackError> {
    let line: Vec<&str> = std::iter::once(verb)
        .chain(arguments.iter().copied())
        .collect();
    parse(&line).map(drop)
}

impl Line<'_> {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|(given, _)| *given == flag)
    }

    /// Flags that exclude each other, and flags that take a few words only.
    fn check_values(&self) -> Result<(), PackError> {
        if self.has("--persona") && self.has("--all-personas") {
            return Err(usage("`--persona` and `--all-personas` exclude each other"));
        }
        for (flag, value) in &self.flags {
            if *flag == "--symlink-mode" && !matches!(value, Some("reject" | "flatten")) {
                return Err(usage("`--symlink-mode` is `reject` or `flatten`"));
            }
        }
        Ok(())
    }

    fn act(&self, place: &Path, input: &Value) -> Result<(), PackError> {
        if self.help {
            return Ok(());
        }
        match self.verb {
            "inspect" | "extract" | "materialize" | "plan-install" | "verify" | "pull" => {
                artifact(place, self.given[0])
            }
            "diff" => self
                .given
                .iter()
                .try_for_each(|given| artifact(place, given)),
            // A push without anything packed: the registry has nothing to be given.
            "push" => {
                self.given[0].parse::<Reference>()?;
                let error = PackError::new(ErrorClass::MissingManifest, "nothing is packed here");
                Err(error.exiting(ExitKind::Registry))
            }
            "build" | "validate" => super::build::entry(place, self.given.first().copied()),
            "build-source" => snapshot(place, self.given[0]),
            "login" => self.login(place, input),
            "logout" | "version" | "help" => Ok(()),
            _ => Err(usage("a verb without an act")),
        }
    }

    fn login(&self, place: &Path, input: &Value) -> Result<(), PackError> {
        let user = self.flags.iter().find(|(flag, _)| *flag == "--username");
        let Some((_, Some(user))) = user else {
            return Err(usage("a user name is needed"));
        };
        if !self.has("--password-stdin") {
            return Err(usage("the password comes from the pipe"));
        }
        let secret = input["stdin"].as_str().unwrap_or_default();
        chitin_registry::auth::login(
            &place.join("state"),
            self.given[0],
            user,
            &secret.trim_end_matches(['\r', '\n']).to_owned().into(),
        )
    }
}

fn snapshot(place: &Path, given: &str) -> Result<(), PackError> {
    let store = Store::create(&place.join("oci"))?;
    let source = json!({ "name": "source", "version": "1.0.0", "description": "A snapshot." });
    build_source(
        &place.join(given),
        &source,
        &BuildOptions::default(),
        &store,
    )
    .map(drop)
}

/// Opens what a command names: a path that is not there ends with a local failure, a reference with the registry's.
fn artifact(place: &Path, given: &str) -> Result<(), PackError> {
    if given.starts_with(['.', '/']) {
        return ImageLayout::open(&place.join(given))?
            .artifact(None)
            .map(drop);
    }
    let reference: Reference = given.parse()?;
    let error = PackError::new(ErrorClass::NotFound, format!("`{reference}` is not there"));
    Err(error)
}
