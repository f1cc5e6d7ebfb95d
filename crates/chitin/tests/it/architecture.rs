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

#[test]
fn arrows_point_one_way() {
    let ours = |package: &str| {
        let mut names = pulled_in(package);
        names.retain(|name| name.starts_with("chitin") && name != package);
        names
    };
    assert_eq!(ours("chitin-protocol"), [""; 0]);
    assert_eq!(ours("chitin-workspace"), ["chitin-protocol"]);
    assert_eq!(
        ours("chitin-context"),
        ["chitin-protocol", "chitin-workspace"]
    );
    assert_eq!(ours("chitin-model"), ["chitin-protocol"]);
    assert_eq!(ours("chitin-store"), ["chitin-protocol"]);
    assert_eq!(
        ours("chitin-tools"),
        ["chitin-protocol", "chitin-workspace"]
    );
    let below_agent = [
        "chitin-context",
        "chitin-model",
        "chitin-protocol",
        "chitin-store",
        "chitin-tools",
        "chitin-workspace",
    ];
    assert_eq!(ours("chitin-agent"), below_agent);
    assert_eq!(ours("chitin-text"), ["chitin-protocol"]);
    let mut below_gateway = [&["chitin-agent", "chitin-text"], below_agent.as_slice()].concat();
    below_gateway.sort_unstable();
    assert_eq!(ours("chitin-gateway"), below_gateway);
    let mut below_server = [&["chitin-gateway"], below_gateway.as_slice()].concat();
    below_server.sort_unstable();
    assert_eq!(ours("chitin-server"), below_server);
    // What lies on the gateway knows nothing of what lies beside it.
    for network in ["chitin-discord", "chitin-slack", "chitin-telemetry"] {
        assert_eq!(ours(network), below_server, "{network}");
    }
    assert_eq!(ours("chitin-pack"), ["chitin-protocol", "chitin-workspace"]);
    let below_registry = ["chitin-pack", "chitin-protocol", "chitin-workspace"];
    assert_eq!(ours("chitin-registry"), below_registry);
    assert_eq!(
        ours("chitin-memory"),
        ["chitin-protocol", "chitin-workspace"]
    );
    let mut below_plugin = [&["chitin-agent"], below_agent.as_slice()].concat();
    below_plugin.sort_unstable();
    assert_eq!(ours("chitin-plugin"), below_plugin);
    let mut below_runtime = [
        &[
            "chitin-gateway",
            "chitin-memory",
            "chitin-pack",
            "chitin-plugin",
        ],
        below_gateway.as_slice(),
    ]
    .concat();
    below_runtime.sort_unstable();
    assert_eq!(ours("chitin-runtime"), below_runtime);
    let mut all = [
        &[
            "chitin-agent",
            "chitin-discord",
            "chitin-gateway",
            "chitin-memory",
            "chitin-pack",
            "chitin-plugin",
            "chitin-registry",
            "chitin-runtime",
            "chitin-server",
            "chitin-slack",
            "chitin-text",
        ],
        below_agent.as_slice(),
    ]
    .concat();
    all.sort_unstable();
    assert_eq!(ours("chitin"), all);
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
fn the_hops_of_the_architecture_are_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let hops: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("in sixteen hops"))
        .skip_while(|line| !line.starts_with("| 1 |"))
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(hops.len(), 16, "{hops:?}");
    for hop in hops {
        let place = hop.split('|').nth(2).unwrap();
        let mut names = place.split('`').skip(1).step_by(2);
        let file = names.next().unwrap();
        let code = std::fs::read_to_string(root.join("crates").join(file));
        let code = code.unwrap_or_else(|error| unreachable!("{file}: {error}"));
        let functions: Vec<&str> = names.collect();
        assert!(!functions.is_empty(), "{hop}");
        for function in functions {
            let name = function.rsplit("::").next().unwrap();
            assert!(code.contains(&format!("fn {name}(")), "{file}: {function}");
        }
    }
}
