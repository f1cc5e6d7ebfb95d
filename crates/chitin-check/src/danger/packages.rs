//! Packages: names that resemble well-known ones, other indexes, scripts that run by themselves.

use super::Danger;
use super::flows::sends;
use crate::phrases::Hit;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;

/// Packages that others like to be taken for. Names that resemble each other are all here.
const KNOWN: &[&str] = &[
    "requests",
    "numpy",
    "pandas",
    "pillow",
    "django",
    "flask",
    "urllib3",
    "setuptools",
    "cryptography",
    "selenium",
    "scipy",
    "matplotlib",
    "tensorflow",
    "beautifulsoup4",
    "openai",
    "anthropic",
    "langchain",
    "playwright",
    "puppeteer",
    "express",
    "lodash",
    "axios",
    "react",
    "preact",
    "webpack",
    "typescript",
    "body-parser",
    "chalk",
    "commander",
    "dotenv",
    "ethers",
    "web3",
    "openclaw",
    "clawhub",
    "clawdbot",
    "clawdhub",
    "moltbot",
    "moltbook",
    "colorama",
    "paramiko",
    "fastapi",
    "pydantic",
    "pytest",
    "httpx",
    "boto3",
    "discord.py",
    "telegraf",
    "electron",
    "eslint",
    "prettier",
    "jquery",
    "mongoose",
    "socket.io",
    "python-dateutil",
    "pyyaml",
];

/// Names that no index has by accident.
const SHORTEST: usize = 5;

/// More packages than this in one command are not looked at.
const MAX_PACKAGES: usize = 40;

/// An install command with a name that is nearly a known one, or with an index without encryption.
pub(super) fn installed(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let command = subject.command_around(hit.span.start);
    let rest = subject.small(hit.span.end..command.end);
    let rest = rest
        .split(['`', ';', '|', '&', '\n'])
        .next()
        .unwrap_or(rest);
    let plain_index = has(
        rest,
        &["index-url http://", "--registry http://", "-i http://"],
    ) && !rest.contains("http://localhost");
    if plain_index {
        return Some(Danger::new(
            &rules::PACKAGES,
            hit.span.start..command.end,
            "installs packages from an index without encryption",
        ));
    }
    let impostor = rest
        .split_whitespace()
        .filter(|word| !word.starts_with('-') && !word.contains("://"))
        .take(MAX_PACKAGES)
        .any(|word| resembles_known(name_of(word)));
    impostor.then(|| {
        Danger::new(
            &rules::PACKAGES,
            hit.span.start..hit.span.end + rest.trim_end().len(),
            "installs a package whose name resembles a well-known one",
        )
    })
}

/// Takes version, extras and quotes off.
fn name_of(word: &str) -> &str {
    let word = word.trim_matches(['"', '\'', ',', '.', ')', '(']);
    let end = word
        .get(1..)
        .and_then(|rest| rest.find(['@', '=', '<', '>', '[', '~', '^']));
    end.map_or(word, |end| &word[..=end])
}

fn resembles_known(name: &str) -> bool {
    if name.len() < SHORTEST || name.len() > 40 || !name.is_ascii() || KNOWN.contains(&name) {
        return false;
    }
    // A digit in the place of a letter.
    let letters = name.replace('1', "l").replace('0', "o").replace('3', "e");
    if letters != name
        && KNOWN.iter().any(|known| {
            known.len() >= SHORTEST && letters.starts_with(known) && !name.starts_with(known)
        })
    {
        return true;
    }
    KNOWN
        .iter()
        .any(|known| known.len() >= SHORTEST && is_one_slip(name.as_bytes(), known.as_bytes()))
}

/// Tells whether two names differ by one letter: left out, added, changed, or two in a row exchanged.
fn is_one_slip(a: &[u8], b: &[u8]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    if same == short.len() {
        return long.len() > short.len();
    }
    if long.len() > short.len() {
        return short[same..] == long[same + 1..];
    }
    let (a, b) = (&short[same..], &long[same..]);
    a[1..] == b[1..] || (a.len() >= 2 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..])
}

/// A script of a package that does more than build it.
pub(super) fn script(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    if subject.is_markdown() {
        return None;
    }
    let line = subject.small(subject.lines.range(subject.lines.of(hit.span.start)));
    let program = subject
        .program_around(hit.span.start)
        .map(|program| subject.small(program));
    let fetches = |text: &str| {
        has(
            text,
            &[
                "curl ",
                "wget ",
                "child_process",
                "base64",
                "node -e",
                "powershell",
            ],
        ) || sends(text)
    };
    let bad = if &subject.lower[hit.span.clone()] == "cmdclass" {
        program.is_some_and(|text| has(text, &["os.system(", "subprocess"]) && fetches(text))
    } else {
        fetches(line) || line.contains("/.")
    };
    bad.then(|| {
        Danger::new(
            &rules::PACKAGES,
            hit.span.clone(),
            "runs something else when the package is installed",
        )
    })
}
