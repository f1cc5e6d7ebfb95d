//! The reference pages say what the program does: they are made from it and compared.
//! `UPDATE_REFERENCE=1 cargo test -p chitin reference` writes them anew.
#![expect(
    clippy::disallowed_methods,
    reason = "the pages are files of this repository"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn compare(name: &str, text: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/reference")
        .join(name);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "docs/reference/{name} is out of date: run with UPDATE_REFERENCE=1"
    );
}

fn help(verbs: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_chitin"))
        .args(verbs)
        .arg("--help")
        .env_clear()
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    assert!(output.status.success(), "{verbs:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Finds the verbs in a help text: below `Commands:`, or below the headings before `Options:` in the list of all commands.
fn verbs(path: &[&str], help: &str) -> Vec<String> {
    let listed = if path.is_empty() {
        help.split("\nOptions:\n").next()
    } else {
        let commands = help.split("\nCommands:\n").nth(1);
        commands.and_then(|text| text.split("\n\n").next())
    };
    let lines = listed.unwrap_or_default().lines();
    lines
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .map(str::to_owned)
        .collect()
}

fn describe(path: &[&str], page: &mut String) {
    let text = help(path);
    let title = if path.is_empty() {
        "chitin".to_owned()
    } else {
        format!("chitin {}", path.join(" "))
    };
    let _ = write!(page, "\n## {title}\n\n```text\n{text}\n```\n");
    for verb in verbs(path, &text) {
        let mut below = path.to_vec();
        below.push(&verb);
        describe(&below, page);
    }
}

#[test]
fn commands() {
    let mut page = "# Commands\n\nMade from the program's own help; do not edit.\n\n\
        [Exit codes](exit-codes.md) are on a page of their own.\n"
        .to_owned();
    describe(&[], &mut page);
    compare("commands.md", &page);
}

#[test]
fn findings() {
    compare("findings.md", &chitin_check::reference_markdown());
}

#[test]
fn contracts() {
    let mut page = "# Contracts, field by field\n\nMade from the code; do not edit. `chitin contracts A --diff B` shows \
        two of them side by side.\n\n| field |"
        .to_owned();
    let all: Vec<_> = chitin_contract::ALL
        .iter()
        .map(|contract| chitin_contract::describe(contract))
        .collect();
    for contract in chitin_contract::ALL {
        let _ = write!(page, " {} |", contract.name);
    }
    let _ = write!(page, " meaning |\n|---|{}---|\n", "---|".repeat(all.len()));
    for (at, row) in all[0]
        .iter()
        .enumerate()
        .filter(|(_, row)| row.path != "name" && row.path != "summary")
    {
        let _ = write!(page, "| `{}` |", row.path);
        for rows in &all {
            let _ = write!(page, " {} |", cell(&rows[at].value));
        }
        let _ = writeln!(page, " {} |", row.meaning);
    }
    page += "\n## Known differences\n\nWhat is meant to differ between a contract and its release. `chitin contracts NAME` prints it too.\n\n\
        | contract | key | the release | ours | why |\n|---|---|---|---|---|\n";
    for contract in chitin_contract::ALL {
        for one in chitin_contract::known_differences(contract) {
            let _ = writeln!(
                page,
                "| {} | `{}` | {} | {} | {} |",
                contract.name, one.key, one.release, one.ours, one.reason
            );
        }
    }
    compare("contracts.md", &page);
}

fn cell(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "–".to_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Object(fields) if !fields.contains_key("name") => {
            let named = fields.iter().map(|(name, value)| match value {
                Value::Object(_) => format!("{name} ({})", cell(value)),
                value => format!("{name} {}", cell(value)),
            });
            named.collect::<Vec<_>>().join(", ")
        }
        Value::Object(fields) => {
            let name = fields.get("name").map(cell).unwrap_or_default();
            match fields.get("absent").map(cell).as_deref() {
                Some("record") | None => name,
                Some(absent) => format!("{name} ({absent})"),
            }
        }
    }
}
