//! `import openclaw` as a user meets it, on the recorded homes and on damaged ones.
#![expect(
    clippy::disallowed_methods,
    reason = "homes are copied, damaged, and looked at behind the binary's back"
)]

use crate::process::plain_command;
use chitin_test::TestEnv;
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HOMES: [&str; 4] = ["v4-house", "v4-killed", "v4-moved", "v9-house"];

fn recorded(name: &str) -> PathBuf {
    let homes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/home/homes");
    homes.join(name)
}

/// Puts a recorded home in the place of the user's.
fn home_of(name: &str) -> TestEnv {
    let env = TestEnv::new();
    copy(&recorded(name), &env.home(), &env.home());
    fs::remove_file(env.home().join("expected.json")).unwrap();
    env.directory_at("tmp");
    env
}

/// Copies a tree; in texts the placeholder becomes the home.
fn copy(from: &Path, to: &Path, home: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target, home);
            continue;
        }
        let bytes = match String::from_utf8(fs::read(entry.path()).unwrap()) {
            Ok(text) if !entry.file_name().to_string_lossy().contains(".sqlite") => {
                text.replace("{HOME}", home.to_str().unwrap()).into_bytes()
            }
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        fs::write(target, bytes).unwrap();
    }
}

type Seen = BTreeMap<PathBuf, (u64, (i64, i64), (i64, i64), Vec<u8>)>;

/// Inode, both times and bytes of everything in a tree.
fn look(tree: &Path) -> Seen {
    let mut seen = BTreeMap::new();
    let mut open = vec![tree.to_path_buf()];
    while let Some(here) = open.pop() {
        let found = fs::symlink_metadata(&here).unwrap();
        let bytes = if found.is_file() {
            fs::read(&here).unwrap()
        } else {
            Vec::new()
        };
        if found.is_dir() {
            open.extend(
                fs::read_dir(&here)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        let modified = (found.mtime(), found.mtime_nsec());
        let changed = (found.ctime(), found.ctime_nsec());
        seen.insert(here, (found.ino(), modified, changed, bytes));
    }
    seen
}

fn assert_same(before: &Seen, after: &Seen) {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differ: Vec<_> = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .collect();
    assert!(differ.is_empty(), "changed: {differ:#?}");
}

fn import(env: &TestEnv, arguments: &[&str]) -> Output {
    let all = [&["import", "openclaw"], arguments].concat();
    let mut command = plain_command(env, &all);
    command.env("TMPDIR", env.path().join("tmp"));
    command.output().unwrap()
}

/// Runs it, and checks that nothing in the home changed and nothing was left anywhere.
fn report(env: &TestEnv, arguments: &[&str]) -> Output {
    let before = look(&env.home());
    let output = import(env, arguments);
    assert_same(&before, &look(&env.home()));
    let left = fs::read_dir(env.path().join("tmp")).unwrap().count();
    assert_eq!(left, 0, "private copies were left");
    output
}

fn json(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = report(env, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(env: &TestEnv, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    format!(
        "{}[exit {}]\n",
        env.redact(&said),
        output.status.code().unwrap()
    )
}

/// Leaves out what says nothing, and the digests of secrets, which no output has; sorts what has no order.
fn comparable(name: &str, value: Value, home: &str) -> Value {
    const SETS: [&str; 12] = [
        "allowlists",
        "authProfiles",
        "gatewayLocks",
        "internal",
        "leftBehind",
        "liveLegacyFiles",
        "otherTranscripts",
        "pendingPairings",
        "secretRefs",
        "sessions",
        "skills",
        "toolsCalled",
    ];
    match value {
        Value::String(text) => Value::String(text.replace(home, "{HOME}")),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| comparable("", item, home));
            let mut items: Vec<Value> = items.collect();
            if SETS.contains(&name) {
                items.sort_by_cached_key(Value::to_string);
            }
            Value::Array(items)
        }
        Value::Object(members) => {
            let kept: BTreeMap<String, Value> = members
                .into_iter()
                .filter(|(key, _)| key != "secretSha256" && key != "sha256")
                .map(|(key, value)| {
                    let value = comparable(&key, value, home);
                    (key, value)
                })
                .filter(|(_, value)| {
                    !value.is_null()
                        && value.as_array().is_none_or(|items| !items.is_empty())
                        && value.as_object().is_none_or(|members| !members.is_empty())
                })
                .collect();
            Value::Object(Map::from_iter(kept))
        }
        other => other,
    }
}

#[test]
fn every_field_of_the_recorded_homes_is_in_the_json() {
    for name in HOMES {
        let env = home_of(name);
        let shown = json(&env, &[]);
        let home = env.home().display().to_string();
        let expected = fs::read(recorded(name).join("expected.json")).unwrap();
        let expected: Map<String, Value> = serde_json::from_slice(&expected).unwrap();
        for (field, expected) in expected {
            if field == "fixture" {
                continue;
            }
            let ours = shown["contents"].get(&field).cloned().unwrap_or_default();
            assert_eq!(
                comparable(&field, ours, &home),
                comparable(&field, expected, &home),
                "{name}: {field}"
            );
        }
        assert_eq!(shown["applied"], false);
        assert_eq!(shown["problems"], serde_json::json!([]), "{name}");
    }
}

#[test]
fn one_screen_says_what_becomes_of_a_home() {
    let env = home_of("v9-house");
    insta::assert_snapshot!(text(&env, &report(&env, &[])));
}

#[test]
fn every_line_says_what_to_do_instead() {
    let env = home_of("v4-house");
    insta::assert_snapshot!(text(&env, &report(&env, &["--all"])));
}

#[test]
fn a_migration_that_was_killed_is_told_and_every_session_is_there() {
    let env = home_of("v4-killed");
    let said = text(&env, &report(&env, &[]));
    assert!(said.contains("a migration did not end"), "{said}");
    let shown = json(&env, &[]);
    assert_eq!(shown["contents"]["sessions"].as_array().unwrap().len(), 9);
}

#[test]
fn no_output_has_a_secret() {
    for name in HOMES {
        let env = home_of(name);
        let page = env.path().join("report.html");
        let mut said = String::new();
        for arguments in [
            &["--all"][..],
            &["--json"],
            &["--html", page.to_str().unwrap()],
        ] {
            said += &text(&env, &report(&env, arguments));
        }
        said += &fs::read_to_string(&page).unwrap();
        for secret in ["FAKE", "fake-", "sk-", "gsk_", "BEGIN PRIVATE"] {
            assert!(!said.contains(secret), "{name}: {secret}");
        }
    }
}

#[test]
fn a_page_is_written_and_no_other_file_is_overwritten() {
    let env = home_of("v4-moved");
    let page = env.path().join("report.html");
    let name = page.to_str().unwrap();
    assert!(report(&env, &["--html", name]).status.success());
    assert!(
        report(&env, &["--html", name]).status.success(),
        "its own page"
    );
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("<h2>schedules</h2>") && !html.contains("<script"));
    let mode = fs::metadata(&page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    fs::write(&page, "mine").unwrap();
    let refused = report(&env, &["--html", name]);
    assert_eq!(refused.status.code(), Some(3));
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
}

#[test]
fn a_home_is_found_where_openclaw_would_find_it() {
    let env = home_of("v4-house");
    let moved = env.home().join("elsewhere");
    fs::rename(env.home().join(".openclaw"), &moved).unwrap();
    let missing = text(&env, &report(&env, &[]));
    insta::assert_snapshot!(missing, @r"
    error: There is no OpenClaw home at `$TEST_ENV/home/.openclaw`.
    hint: name the home: `chitin import openclaw HOME`, or set `OPENCLAW_STATE_DIR`
    [exit 3]
    ");
    let named = json(&env, &[moved.to_str().unwrap()]);
    assert_eq!(named["contents"]["sessions"].as_array().unwrap().len(), 9);
    let mut command = plain_command(&env, &["import", "openclaw", "--json"]);
    let output = command.env("OPENCLAW_STATE_DIR", &moved).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["home"], moved.to_str().unwrap());
    fs::rename(&moved, env.home().join(".openclaw-work")).unwrap();
    assert!(report(&env, &["--profile", "work"]).status.success());
}

#[test]
fn what_is_no_home_is_refused_with_a_hint() {
    let env = TestEnv::new();
    env.directory_at("tmp");
    env.file("home/letter.txt", "x");
    let empty = env.directory_at("home/empty");
    insta::assert_snapshot!(text(&env, &report(&env, &[empty.to_str().unwrap()])), @r"
    error: `$TEST_ENV/home/empty` holds nothing of OpenClaw's.
    hint: name the directory that `openclaw.json` is in, usually `~/.openclaw`
    [exit 3]
    ");
    let file = env.home().join("letter.txt");
    let refused = report(&env, &[file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(3));
    let bad = report(&env, &["--profile", "../x"]);
    assert_eq!(bad.status.code(), Some(3));
    assert_eq!(report(&env, &["--apply"]).status.code(), Some(2));
}

/// The databases of a home, as a damage finds them.
fn database(env: &TestEnv, name: &str) -> PathBuf {
    env.home().join(".openclaw").join(name)
}

const ORCHARD: &str = "agents/orchard/agent/openclaw-agent.sqlite";

/// What is done to the bytes of a file.
type Damage = fn(&mut Vec<u8>);

#[test]
fn a_damaged_database_costs_only_what_is_in_it() {
    let damages: [(&str, Damage, &str); 3] = [
        // The user version, at its place in the header.
        (
            "newer",
            |bytes| bytes[60..64].copy_from_slice(&99_u32.to_be_bytes()),
            "newer than the known 23",
        ),
        ("truncated", |bytes| bytes.truncate(700), "damaged"),
        (
            "encrypted",
            |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 0x5a),
            "no SQLite database",
        ),
    ];
    for (name, damage, said) in damages {
        let env = home_of("v4-moved");
        let path = database(&env, ORCHARD);
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let output = report(&env, &["--all"]);
        let shown = text(&env, &output);
        assert_eq!(output.status.code(), Some(1), "{name}: {shown}");
        assert!(
            shown.contains(said) && shown.contains(ORCHARD),
            "{name}: {shown}"
        );
        // The other agent, and what is in the shared database.
        assert!(
            shown.contains("agent:main:telegram:direct:52001"),
            "{name}: {shown}"
        );
        assert!(shown.contains("Morning ledger"), "{name}: {shown}");
    }
}

#[test]
fn a_hostile_database_runs_nothing() {
    let env = home_of("v4-moved");
    let db = Connection::open(database(&env, ORCHARD)).unwrap();
    db.execute_batch(
        "DROP TABLE session_nodes;
         CREATE VIEW session_nodes AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT 'agent:orchard:' || i AS session_key, 's' AS current_session_id FROM n;
         CREATE TRIGGER t AFTER INSERT ON transcript_events BEGIN SELECT 1; END;",
    )
    .unwrap();
    drop(db);
    let output = report(&env, &["--all"]);
    let shown = text(&env, &output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("a view or a virtual table"), "{shown}");
    assert!(shown.contains("agent:main:main"), "{shown}");
}

/// Runs the binary as an ordinary user, to whom the home belongs: root is another case for SQLite.
fn as_ordinary_user(env: &TestEnv) -> Output {
    const NOBODY: u32 = 65_534;
    let binary = env.path().join("chitin");
    fs::copy(env!("CARGO_BIN_EXE_chitin"), &binary).unwrap();
    let mut command = Command::new(binary);
    if rustix::process::geteuid().is_root() {
        fs::set_permissions(env.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut open = vec![env.home(), env.path().join("tmp")];
        while let Some(path) = open.pop() {
            std::os::unix::fs::lchown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            if path.is_dir() {
                open.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            }
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let before = look(&env.home());
    let output = command
        .args(["import", "openclaw", "--json"])
        .current_dir(env.path())
        .env_clear()
        .env("HOME", env.home())
        .env("TMPDIR", env.path().join("tmp"))
        .output()
        .unwrap();
    assert_same(&before, &look(&env.home()));
    output
}

#[test]
fn a_home_in_use_is_read_in_place_and_its_owner_notices_nothing() {
    let env = home_of("v9-house");
    let mut owner =
        Connection::open(database(&env, "agents/main/agent/openclaw-agent.sqlite")).unwrap();
    let rows = |db: &Connection| -> i64 {
        db.query_row("SELECT count(*) FROM transcript_events", [], |row| {
            row.get(0)
        })
        .unwrap()
    };
    assert!(rows(&owner) > 50);
    // The owner is in the middle of a change, which nobody else may see.
    let change = owner.transaction().unwrap();
    change.execute("DELETE FROM transcript_events", []).unwrap();
    let output = as_ordinary_user(&env);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["contents"]["sessions"][0]["key"], "agent:main:main");
    assert_eq!(shown["contents"]["sessions"][0]["records"], 50);
    assert_eq!(shown["problems"], serde_json::json!([]));
    change.commit().unwrap();
    assert_eq!(rows(&owner), 0);
    let output = as_ordinary_user(&env);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["contents"]["sessions"][0]["records"], 0);
}
