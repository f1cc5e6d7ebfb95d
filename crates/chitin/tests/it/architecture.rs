//! The arrows between crates, checked against what cargo resolves, and the way of a turn through the code.
#![expect(
    clippy::disallowed_methods,
    reason = "the texts are files of this repository"
)]

use std::path::Path;
use std::process::Command;

/// Every crate that a crate pulls in, without those that only its tests need.
fn pulled_in(package: &str) -> Vec<String> {
    pulled_in_with(package, &[])
}

fn pulled_in_with(package: &str, features: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--package",
            package,
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_workspace_crate_pulls_in_no_runtime_no_tls_and_no_database() {
    let names = pulled_in("chitin-workspace");
    for heavy in [
        "tokio",
        "async-std",
        "smol",
        "futures",
        "rustls",
        "native-tls",
        "openssl-sys",
        "ring",
        "rusqlite",
    ] {
        assert!(!names.iter().any(|name| name == heavy), "{heavy} came in");
    }
    assert!(names.len() < 120, "{} crates", names.len());
}

/// The crates of this workspace that a crate pulls in.
fn ours(package: &str) -> Vec<String> {
    let mut names = pulled_in(package);
    names.retain(|name| name.starts_with("chitin") && name != package);
    names
}

/// A list of crates and more of them, in order.
fn and(below: &[&'static str], more: &[&'static str]) -> Vec<&'static str> {
    let mut names = [below, more].concat();
    names.sort_unstable();
    names
}

#[test]
fn arrows_point_one_way() {
    assert_eq!(ours("chitin-protocol"), [""; 0]);
    let protocol = ["chitin-protocol"];
    for package in ["chitin-contract", "chitin-guard"] {
        assert_eq!(ours(package), protocol, "{package}");
    }
    assert_eq!(ours("chitin-undo"), and(&protocol, &["chitin-guard"]));
    let contract = and(&protocol, &["chitin-contract"]);
    for package in ["chitin-store", "chitin-text"] {
        assert_eq!(ours(package), contract, "{package}");
    }
    assert_eq!(ours("chitin-net"), and(&protocol, &["chitin-guard"]));
    let below_config = and(&contract, &["chitin-guard"]);
    let model = and(&below_config, &["chitin-net"]);
    assert_eq!(ours("chitin-model"), model);
    assert_eq!(ours("chitin-config"), below_config);
    let below_workspace = and(&below_config, &["chitin-config"]);
    assert_eq!(ours("chitin-workspace"), below_workspace);
    assert_eq!(ours("chitin-openclaw"), below_workspace);
    let workspace = and(&below_workspace, &["chitin-workspace"]);
    for package in ["chitin-check", "chitin-context", "chitin-memory"] {
        assert_eq!(ours(package), workspace, "{package}");
    }
    assert_eq!(ours("chitin-tools"), and(&workspace, &["chitin-net"]));
    let check = and(&workspace, &["chitin-check"]);
    assert_eq!(ours("chitin-pack"), check);
    assert_eq!(
        ours("chitin-registry"),
        and(&check, &["chitin-net", "chitin-pack"])
    );
    let below_agent = [
        "chitin-context",
        "chitin-model",
        "chitin-net",
        "chitin-store",
        "chitin-tools",
    ];
    let below_agent = and(&check, &below_agent);
    assert_eq!(ours("chitin-agent"), below_agent);
    let agent = and(&below_agent, &["chitin-agent"]);
    assert_eq!(ours("chitin-plugin"), agent);
    let below_gateway = and(&agent, &["chitin-text"]);
    assert_eq!(ours("chitin-gateway"), below_gateway);
    // What lies on the gateway knows nothing of what lies beside it.
    let gateway = and(&below_gateway, &["chitin-gateway"]);
    for package in [
        "chitin-server",
        "chitin-discord",
        "chitin-slack",
        "chitin-telemetry",
    ] {
        assert_eq!(ours(package), gateway, "{package}");
    }
    let beside = [
        "chitin-memory",
        "chitin-openclaw",
        "chitin-pack",
        "chitin-plugin",
        "chitin-undo",
    ];
    let below_runtime = and(&gateway, &beside);
    assert_eq!(ours("chitin-runtime"), below_runtime);
    let above = [
        "chitin-discord",
        "chitin-registry",
        "chitin-runtime",
        "chitin-server",
        "chitin-slack",
    ];
    assert_eq!(ours("chitin"), and(&below_runtime, &above));
}

#[test]
fn only_the_binary_knows_the_command_line() {
    for library in ["chitin-runtime", "chitin-server", "chitin-registry"] {
        let names = pulled_in_with(library, &["--all-features"]);
        for shell in ["clap", "reedline"] {
            assert!(
                !names.iter().any(|name| name == shell),
                "{library} pulls in {shell}"
            );
        }
    }
}

#[test]
fn packing_speaks_to_no_network() {
    let names = pulled_in("chitin-pack");
    for heavy in ["tokio", "rustls", "reqwest", "hyper"] {
        assert!(!names.iter().any(|name| name == heavy), "{heavy} came in");
    }
}

#[test]
fn there_is_one_tls_stack() {
    let names = pulled_in("chitin");
    for other in ["aws-lc-sys", "aws-lc-rs", "openssl-sys", "native-tls"] {
        assert!(!names.iter().any(|name| name == other), "{other} came in");
    }
}

#[test]
fn the_drawing_is_what_cargo_resolves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let drawing = text.split("## A drawing").nth(1).unwrap();
    let rows = drawing.split("```").nth(1).unwrap().lines();
    let rows: Vec<Vec<&str>> = rows
        .map(|row| row.split_whitespace().collect::<Vec<_>>())
        .filter(|row| !row.is_empty())
        .collect();
    let is_crate = |word: &&&str| **word == "chitin" || word.starts_with("chitin-");
    let mut below: Vec<&str> = Vec::new();
    for row in rows.iter().rev() {
        let crates: Vec<&str> = row.iter().filter(is_crate).copied().collect();
        for name in &crates {
            let arrow = row
                .windows(3)
                .find(|words| words[0] == *name && words[1] == "──▶");
            for used in ours(name) {
                let pointed = arrow.is_some_and(|words| words[2] == used);
                assert!(
                    pointed || below.contains(&used.as_str()),
                    "{name} uses {used}"
                );
            }
        }
        below.extend(crates);
    }
    let mut listed = text.lines().filter(|line| line.starts_with("| `chitin"));
    let tools = ["chitin-test", "chitin-fuzz", "chitin-conformance"];
    assert!(listed.all(|line| {
        let names = line
            .split(" | ")
            .next()
            .unwrap()
            .split('`')
            .skip(1)
            .step_by(2);
        let mut names = names.filter(|name| !tools.contains(name));
        names.all(|name| below.contains(&name))
    }));
}

#[test]
fn what_one_wants_to_change_is_where_the_architecture_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let table = text.split("## I want to change").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let quoted = table.split('`').skip(1).step_by(2);
    let paths: Vec<&str> = quoted.filter(|quoted| quoted.contains('/')).collect();
    assert!(paths.len() > 30, "{paths:?}");
    for path in paths {
        assert!(root.join(path).exists(), "{path}");
    }
}

#[test]
fn the_hops_of_the_architecture_are_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut all = Vec::new();
    for (walk, last) in [
        ("in fourteen hops", 14),
        ("in sixteen hops", 16),
        ("in twenty-five hops", 25),
    ] {
        let hops = text
            .lines()
            .skip_while(|line| !line.contains(walk))
            .skip_while(|line| !line.starts_with("| 1 |"))
            .take_while(|line| line.starts_with('|'));
        let hops: Vec<&str> = hops.collect();
        let number = format!("| {last} |");
        assert!(hops.last().unwrap().starts_with(&number), "{hops:?}");
        all.extend(hops);
    }
    for hop in all {
        let place = hop.split('|').nth(2).unwrap();
        if place.contains(" of `run`") {
            // The same hops as in the walk above.
            continue;
        }
        let mut names = place.split('`').skip(1).step_by(2);
        let file = names.next().unwrap();
        let code = std::fs::read_to_string(root.join("crates").join(file));
        let code = code.unwrap_or_else(|error| unreachable!("{file}: {error}"));
        let functions: Vec<&str> = names.collect();
        assert!(!functions.is_empty(), "{hop}");
        for function in functions {
            let name = function.rsplit("::").next().unwrap();
            let begins = [format!("fn {name}("), format!("fn {name}<")];
            let is_there = begins.iter().any(|begin| code.contains(begin));
            assert!(is_there, "{file}: {function}");
        }
    }
}

/// `SECURITY.md` says how many there are.
#[test]
fn five_unsafe_blocks_are_in_the_repository() {
    fn sources(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for directory in ["crates", "fuzz"] {
        sources(&root.join(directory), &mut files);
    }
    assert!(files.len() > 500, "{}", files.len());
    let word = ["unsafe", " {"].concat();
    let blocks: Vec<_> = files
        .iter()
        .filter(|file| !file.components().any(|part| part.as_os_str() == "target"))
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            std::iter::repeat_n(file.clone(), text.matches(&word).count())
        })
        .collect();
    assert_eq!(blocks.len(), 5, "{blocks:?}");
    let known = ["vector/sqlite_vec.rs", "chitin/src/rss.rs"];
    let is_known = |file: &std::path::PathBuf| known.iter().any(|known| file.ends_with(known));
    assert!(blocks.iter().all(is_known), "{blocks:?}");
}
