//! Where keys come from, and that they stay hidden.

use chitin_guard::plain_file::FileProblem;
use chitin_model::keys::{self, KeyProblem, KeySource};
use chitin_test::TestEnv;
use proptest::prelude::*;
use secrecy::ExposeSecret;
use serde_json::json;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn key_file(env: &TestEnv, content: &str, mode: u32) -> PathBuf {
    let path = env.file("home/key", content);
    std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn a_private_file_gives_its_key_without_the_line_end() {
    let env = TestEnv::new();
    for mode in [0o600, 0o400] {
        let path = key_file(&env, "sk-from-a-file\r\n", mode);
        let found = keys::from_file(&path).unwrap();
        assert_eq!(found.key.expose_secret(), "sk-from-a-file");
        assert_eq!(found.source, KeySource::File(path.clone()));
        assert!(!format!("{found:?}").contains("sk-from-a-file"));
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn a_file_that_others_may_read_is_refused_with_a_hint() {
    let env = TestEnv::new();
    for mode in [0o644, 0o640, 0o604, 0o620, 0o660] {
        let path = key_file(&env, "sk-exposed-key", mode);
        let problem = keys::from_file(&path).unwrap_err();
        assert_eq!(
            problem,
            KeyProblem::File(FileProblem::Exposed {
                path: path.clone(),
                mode
            })
        );
        assert_eq!(
            problem.hint(),
            Some(format!("run `chmod 600 {}`", path.display()))
        );
        assert!(!format!("{problem} {problem:?}").contains("sk-exposed-key"));
    }
}

#[test]
fn files_that_hold_no_key_are_refused() {
    let env = TestEnv::new();
    let problem = |content: &str| keys::from_file(&key_file(&env, content, 0o600)).unwrap_err();
    assert!(matches!(problem("\n"), KeyProblem::Empty(_)));
    assert!(matches!(
        problem("KEY=a\nOTHER=b\n"),
        KeyProblem::NotOneWord(_)
    ));
    let large = problem(&"k".repeat(20_000));
    assert!(matches!(
        large,
        KeyProblem::File(FileProblem::TooLarge { .. })
    ));
    let missing = keys::from_file(&env.path().join("nowhere")).unwrap_err();
    assert!(matches!(
        missing,
        KeyProblem::File(FileProblem::Unreadable { .. })
    ));
    let directory = keys::from_file(&env.home()).unwrap_err();
    assert!(matches!(
        directory,
        KeyProblem::File(FileProblem::NotAFile { .. })
    ));
    let pipe = keys::from_file(&env.fifo("home/pipe")).unwrap_err();
    assert!(matches!(
        pipe,
        KeyProblem::File(FileProblem::NotAFile { .. })
    ));
}

#[test]
fn configuration_names_a_key_or_where_it_is() {
    let variables = |name: &str| (name == "ACME_API_KEY").then(|| "sk-acme".to_owned());
    let read = |value| keys::from_configuration(&value, &variables);
    for value in [
        json!("${ACME_API_KEY}"),
        json!("ACME_API_KEY"),
        json!({"source": "env", "provider": "default", "id": "ACME_API_KEY"}),
    ] {
        let found = read(value).unwrap().unwrap();
        assert_eq!(found.key.expose_secret(), "sk-acme");
        assert_eq!(found.source, KeySource::Variable("ACME_API_KEY".to_owned()));
    }
    let found = read(json!("sk-literal")).unwrap().unwrap();
    assert_eq!(found.source, KeySource::Configuration);
    // It looks like a variable, but none of that name is set.
    let found = read(json!("OTHER_API_KEY")).unwrap().unwrap();
    assert_eq!(found.source, KeySource::Configuration);
    assert!(read(json!(null)).unwrap().is_none());
    assert!(read(json!("")).unwrap().is_none());
    assert_eq!(
        read(json!("${GONE}")).unwrap_err(),
        KeyProblem::Unset("GONE".to_owned())
    );
    assert_eq!(
        read(json!({"source": "exec", "id": "x"})).unwrap_err(),
        KeyProblem::Unsupported("exec".to_owned())
    );
}

proptest! {
    #[test]
    fn no_key_is_ever_shown(key in "[a-z0-9-]{12,40}", before in ".{0,10}") {
        let variables = |_: &str| Some(key.clone());
        let shown = match keys::named("ACME", &variables) {
            Ok(found) => format!("{found:?} {}", found.source),
            Err(problem) => format!("{problem:?} {problem}"),
        };
        prop_assert!(!shown.contains(&key));
        let text = format!("{before} {key}");
        let shown = match keys::from_text(&text, &|_| None) {
            Ok(found) => format!("{found:?}"),
            Err(problem) => format!("{problem:?} {problem}"),
        };
        prop_assert!(!shown.contains(&key));
    }
}
