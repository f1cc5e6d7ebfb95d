//! Through a real registry and back: plain HTTP and TLS, open, with a password, with tokens.

use super::{EXAMPLES, copied, json, shipped};
use crate::process::{chitin, command};
use chitin_test::TestEnv;
use chitin_test::needs;
use chitin_test::registry::{PASSWORD, RegistryServer, Setup, USER};
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The flags that reach a registry of this kind.
fn flags(env: &TestEnv, registry: &RegistryServer, setup: Setup) -> Vec<String> {
    match setup {
        Setup::Tls | Setup::TlsBasic => {
            env.file("ca.pem", registry.authority());
            vec!["--ca-file".to_owned(), "ca.pem".to_owned()]
        }
        Setup::Plain | Setup::Basic | Setup::Token => vec!["--plain-http".to_owned()],
    }
}

fn run(env: &TestEnv, arguments: &[&str], flags: &[String]) -> Output {
    let mut all = arguments.to_vec();
    all.extend(flags.iter().map(String::as_str));
    chitin(env, &all)
}

fn login(env: &TestEnv, host: &str, flags: &[String]) -> Output {
    let mut arguments = vec![
        "login",
        host,
        "--username",
        USER,
        "--password-stdin",
        "--check",
    ];
    arguments.extend(flags.iter().map(String::as_str));
    let mut child = command(env, &arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(PASSWORD.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// Returns what asking a registry for something that it does not have comes to.
fn asked(env: &TestEnv, host: &str, authorities: Option<&str>) -> String {
    let reference = format!("{host}/team/nothing:1");
    let mut command = command(env, &["pull", &reference]);
    command.envs(authorities.map(|file| ("NODE_EXTRA_CA_CERTS", file)));
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_authority_that_the_environment_names_is_trusted_as_one_that_is_typed_is() {
    let Some(registry) = RegistryServer::start(Setup::Tls) else {
        return;
    };
    let (env, host) = (TestEnv::new(), registry.host());
    env.file("ca.pem", registry.authority());
    let said = asked(&env, &host, None);
    assert!(said.contains("not trusted"), "{said}");
    let said = asked(&env, &host, Some("ca.pem"));
    assert!(said.contains("does not have it"), "{said}");
    let said = asked(&env, &host, Some("missing.pem"));
    assert!(
        said.contains("missing.pem") && said.contains("NODE_EXTRA_CA_CERTS"),
        "{said}"
    );
}

/// Packs, signs and pushes on one machine; pulls, verifies and unpacks on another.
fn round_trip(setup: Setup) {
    let Some(registry) = RegistryServer::start(setup) else {
        return;
    };
    let host = registry.host();
    let (author, reader) = (TestEnv::new(), TestEnv::new());
    for env in [&author, &reader] {
        let flags = flags(env, &registry, setup);
        if matches!(setup, Setup::Basic | Setup::TlsBasic | Setup::Token) {
            let refused = run(env, &["pull", &format!("{host}/team/x:1")], &flags);
            assert_eq!(
                refused.status.code(),
                Some(3),
                "nobody is let in without a password"
            );
            let kept = login(env, &host, &flags);
            assert!(kept.status.success(), "{kept:?}");
        }
    }
    json(&chitin(&author, &["sign", "--new-key", "ada", "--json"]));
    reader.file("ada.pub.pem", author.read("ada.pub.pem"));
    let (out, back) = (
        flags(&author, &registry, setup),
        flags(&reader, &registry, setup),
    );
    for name in EXAMPLES {
        copied(&author, name);
        let packed = json(&chitin(
            &author,
            &["pack", name, "--version", "1.0.0", "--json"],
        ));
        let tag = format!("{name}:1.0.0");
        let signed = [
            "sign", &tag, "--key", "ada.pem", "--signer", "ada", "--json",
        ];
        json(&chitin(&author, &signed));
        let reference = format!("{host}/team/{name}:1.0.0");
        let pushed = json(&run(&author, &["push", &tag, &reference, "--json"], &out));
        assert_eq!(
            pushed["digest"], packed["digest"],
            "the name is the same on both sides"
        );
        let again = json(&run(&author, &["push", &tag, &reference, "--json"], &out));
        assert_eq!(again["bytes"], 0, "nothing is sent twice");
        let listed = json(&run(
            &author,
            &["inspect", &reference, "--tags", "--json"],
            &out,
        ));
        let tags = listed["tags"].as_array().unwrap();
        assert!(tags.iter().any(|tag| tag == "1.0.0"), "{listed}");
        let trusting = [
            "pull",
            &reference,
            "--require-signature",
            "--trust",
            "ada.pub.pem",
            "--json",
        ];
        let pulled = json(&run(&reader, &trusting, &back));
        assert_eq!(pulled["digest"], packed["digest"]);
        assert_eq!(pulled["signature"]["verified"], true);
        let unpacked = json(&run(
            &reader,
            &["unpack", &reference, name, "--json"],
            &back,
        ));
        assert_eq!(unpacked["lossy"], false);
        let (there, here) = (author.path().join(name), reader.path().join(name));
        assert_eq!(super::tree(&here), shipped(&there), "bytes and modes");
        let repacked = json(&chitin(
            &reader,
            &["pack", name, "--version", "1.0.0", "--json"],
        ));
        assert_eq!(
            repacked["digest"], packed["digest"],
            "packed again elsewhere, it is the same"
        );
    }
}

#[test]
fn an_agent_comes_back_the_same_over_plain_http() {
    round_trip(Setup::Plain);
}

#[test]
fn an_agent_comes_back_the_same_over_tls() {
    round_trip(Setup::Tls);
}

#[test]
fn an_agent_comes_back_the_same_with_a_password() {
    round_trip(Setup::Basic);
}

#[test]
fn an_agent_comes_back_the_same_over_tls_with_a_password() {
    round_trip(Setup::TlsBasic);
}

#[test]
fn an_agent_comes_back_the_same_with_tokens() {
    round_trip(Setup::Token);
}

#[test]
fn another_client_reads_what_was_pushed_and_what_was_written_out() {
    let (Some(registry), true) = (
        RegistryServer::start(Setup::Plain),
        needs::programs(&["skopeo"]),
    ) else {
        return;
    };
    let env = TestEnv::new();
    copied(&env, "harbor");
    let packed = json(&chitin(
        &env,
        &["pack", "harbor", "--output", "harbor.tar", "--json"],
    ));
    let reference = format!("{}/harbor:0.1.0", registry.host());
    let flags = ["--plain-http".to_owned()];
    json(&run(
        &env,
        &["push", "harbor:0.1.0", &reference, "--json"],
        &flags,
    ));
    let skopeo = |arguments: &[&str]| {
        let output = Command::new("skopeo")
            .args(arguments)
            .current_dir(env.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output.stdout
    };
    let docker = format!("docker://{reference}");
    let pushed = skopeo(&["inspect", "--raw", "--tls-verify=false", &docker]);
    let written = skopeo(&["inspect", "--raw", "oci-archive:harbor.tar"]);
    assert_eq!(pushed, written);
    let copy = ["copy", "--src-tls-verify=false", &docker, "oci:copy:0.1.0"];
    skopeo(&copy);
    let seen = json(&chitin(&env, &["inspect", "./copy", "--json"]));
    assert_eq!(
        seen["digest"], packed["digest"],
        "what it copied is what was packed"
    );
    json(&chitin(&env, &["unpack", "./copy", "back", "--json"]));
    assert_eq!(
        super::tree(&env.path().join("back")),
        shipped(&env.path().join("harbor"))
    );
}

#[test]
fn what_nobody_trusted_signed_does_not_get_in() {
    let Some(registry) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let env = TestEnv::new();
    copied(&env, "minimal");
    let reference = format!("{}/minimal:1", registry.host());
    let flags = ["--plain-http".to_owned()];
    json(&chitin(&env, &["pack", "minimal", "--json"]));
    json(&run(
        &env,
        &["push", "minimal:0.1.0", &reference, "--json"],
        &flags,
    ));
    env.file(
        "home/.chitin/trust.json5",
        format!(
            "{{ rules: [{{ match: '{}/*', mode: 'require' }}] }}",
            registry.host()
        ),
    );
    for arguments in [
        ["pull", &reference].as_slice(),
        &["unpack", &reference, "out"],
        &["verify", &reference],
    ] {
        let output = run(&env, arguments, &flags);
        assert_eq!(output.status.code(), Some(6), "{arguments:?}: {output:?}");
    }
    assert!(!env.path().join("out").exists());
    let listed = json(&chitin(&env, &["cache", "--json"]));
    let names: Vec<_> = listed["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| &tag["name"])
        .collect();
    assert_eq!(names, ["minimal:0.1.0"], "it has no name here");
}

#[test]
fn an_agent_builds_on_packages_and_a_lock_keeps_them_as_they_were() {
    let Some(registry) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let env = TestEnv::new();
    let flags = ["--plain-http".to_owned()];
    let package = format!("{}/tides:1", registry.host());
    let publish = |text: &str| {
        let definition = r#"{"kind": "package", "name": "tides", "version": "1.0.0", "description": "x", "skills": "./skills", "surfaces": "./surfaces"}"#;
        env.file("tides/agent.json", definition);
        env.file("tides/skills/tide/SKILL.md", text);
        env.file("tides/surfaces/tools.md", "from the package\n");
        json(&chitin(&env, &["pack", "tides", "--definition", "--json"]));
        json(&run(
            &env,
            &["push", "tides:1.0.0", &package, "--json"],
            &flags,
        ));
    };
    publish("first\n");
    let definition = format!(
        r#"{{"name": "pilot", "version": "1.0.0", "description": "x", "adapter": {{"use": "openclaw"}}, "surfaces": "./surfaces", "packages": ["{package}"]}}"#
    );
    env.file("pilot/agent.json", definition);
    env.file("pilot/surfaces/instructions.md", "own\n");
    let packed = json(&run(
        &env,
        &["pack", "pilot", "--definition", "--lock", "--json"],
        &flags,
    ));
    assert!(
        packed["lock"]
            .as_str()
            .unwrap()
            .ends_with("pilot/stax.lock")
    );
    publish("second\n");
    let unpack = |into: &str, more: &[&str]| {
        let arguments = [["unpack", "pilot", into, "--json"].as_slice(), more].concat();
        json(&run(&env, &arguments, &flags));
        assert_eq!(env.read(&format!("{into}/AGENTS.md")), "own\n");
        assert_eq!(env.read(&format!("{into}/TOOLS.md")), "from the package\n");
        env.read(&format!("{into}/skills/tide/SKILL.md"))
    };
    assert_eq!(unpack("now", &[]), "second\n");
    assert_eq!(unpack("then", &["--lock", "pilot/stax.lock"]), "first\n");
    let gone = run(&env, &["unpack", "pilot", "never"], &[]);
    assert_eq!(gone.status.code(), Some(4), "{gone:?}");
    assert!(!env.path().join("never").exists());
}
