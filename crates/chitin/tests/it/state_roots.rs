//! What Chitin and OpenClaw keep for themselves is closed to every tool, also where it lies inside of the workspace.
#![expect(
    clippy::disallowed_methods,
    reason = "the disk is looked at behind the program's back"
)]

use crate::process::plain_command;
use chitin_test::{TestEnv, needs};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// Lets the offline model call a tool in the home directory, as a workspace; returns what is printed.
fn call(env: &TestEnv, directory: &str, tool: &str, arguments: &serde_json::Value) -> String {
    let message = format!("call {tool} {arguments}");
    let output = plain_command(env, &["run", directory, "-m", &message])
        .output()
        .unwrap();
    let (out, error) = (&output.stdout, &output.stderr);
    let said = [String::from_utf8_lossy(out), String::from_utf8_lossy(error)].concat();
    assert!(output.status.success(), "{said}");
    said
}

fn home_as_workspace() -> TestEnv {
    let env = TestEnv::new();
    env.file("home/AGENTS.md", "Keep the house.\n");
    env.file("home/.chitin/chitin.json5", "{ retries: 1 }\n");
    env.file("home/.chitin/server-token", "tok-lantern\n");
    env.file("home/.openclaw/openclaw.json", "{ /* cfg-lantern */ }\n");
    env.link("home/shortcut", ".chitin");
    env.link("home/token.txt", ".chitin/server-token");
    env
}

#[test]
fn no_file_tool_reads_or_changes_a_state_root() {
    let env = home_as_workspace();
    let patch = |path: &str| format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
    for (tool, arguments) in [
        ("read", json!({"path": ".chitin/server-token"})),
        ("read", json!({"path": "token.txt"})),
        ("read", json!({"path": "shortcut/server-token"})),
        ("read", json!({"path": ".openclaw/openclaw.json"})),
        ("read", json!({"path": "sub/../.chitin/server-token"})),
        ("read", json!({"path": ".chitin/not-there"})),
        (
            "write",
            json!({"path": ".chitin/chitin.json5", "content": "{}"}),
        ),
        (
            "write",
            json!({"path": "shortcut/new.json5", "content": "{}"}),
        ),
        (
            "write",
            json!({"path": ".openclaw/new/openclaw.json", "content": "{}"}),
        ),
        (
            "edit",
            json!({"path": ".chitin/chitin.json5", "edits": [{"oldText": "1", "newText": "2"}]}),
        ),
        (
            "apply_patch",
            json!({"input": patch(".chitin/plugins.json5")}),
        ),
        ("list", json!({"path": ".chitin"})),
        ("search", json!({"pattern": "lantern", "path": "shortcut"})),
    ] {
        let said = call(&env, "home", tool, &arguments);
        assert!(
            said.contains("is refused: it is in"),
            "{tool} {arguments}: {said}"
        );
        assert!(!said.contains("lantern\n"), "{tool} {arguments}: {said}");
    }
    assert_eq!(env.read("home/.chitin/chitin.json5"), "{ retries: 1 }\n");
    assert!(!env.home().join(".chitin/new.json5").exists());
    assert!(!env.home().join(".openclaw/new").exists());
}

#[test]
fn lists_and_searches_leave_state_roots_out() {
    let env = home_as_workspace();
    env.file("home/notes.md", "a lantern by the door\n");
    let said = call(
        &env,
        "home",
        "list",
        &json!({"path": ".", "ignored": true, "depth": 3}),
    );
    assert!(said.contains("notes.md"), "{said}");
    assert!(
        !said.contains("server-token") && !said.contains(".openclaw/"),
        "{said}"
    );
    let said = call(
        &env,
        "home",
        "search",
        &json!({"pattern": "lantern", "ignored": true}),
    );
    assert!(said.contains("by the door"), "{said}");
    assert!(
        !said.contains("tok-lantern") && !said.contains("cfg-lantern"),
        "{said}"
    );
}

#[test]
fn a_workspace_in_openclaws_state_is_a_workspace_like_any_other() {
    let env = TestEnv::new();
    env.file("home/.openclaw/openclaw.json", "{ /* cfg-lantern */ }\n");
    env.file("home/.openclaw/workspace/AGENTS.md", "Keep the house.\n");
    let (directory, file) = ("home/.openclaw/workspace", "new.md");
    let said = call(
        &env,
        directory,
        "write",
        &json!({"path": file, "content": "kept"}),
    );
    assert!(said.contains("Made `new.md`"), "{said}");
    let said = call(&env, directory, "read", &json!({"path": file}));
    assert!(said.contains("kept"), "{said}");
    // A link out of it into the state leads nowhere.
    env.file(
        "home/.chitin/chitin.json5",
        format!(
            "{{ links: {{ trustedRoots: [{:?}] }} }}",
            env.home().display().to_string()
        ),
    );
    env.link("home/.openclaw/workspace/config", "../openclaw.json");
    let said = call(&env, directory, "read", &json!({"path": "config"}));
    assert!(said.contains("is refused: it is in"), "{said}");
}

#[test]
fn commands_see_no_state_root_inside_of_the_workspace() {
    if !needs::bwrap() {
        return;
    }
    let env = home_as_workspace();
    env.file(
        "home/.chitin/chitin.json5",
        "{ exec: { approvals: 'full' } }\n",
    );
    let command = "cat .openclaw/openclaw.json .chitin/server-token; echo end";
    let said = call(&env, "home", "exec", &json!({"command": command}));
    assert!(said.contains("end"), "{said}");
    assert!(
        !said.contains("tok-lantern") && !said.contains("cfg-lantern"),
        "{said}"
    );
}

#[test]
fn state_belongs_to_the_user_alone() {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    let mode = |path: &str| {
        let found = std::fs::metadata(env.home().join(path)).unwrap();
        found.permissions().mode() & 0o777
    };
    call(&env, "harbor", "exec", &json!({"command": "true"}));
    let records = || std::fs::read_dir(env.home().join(".chitin/directories")).unwrap();
    assert!(records().count() > 0);
    for record in records().map(Result::unwrap) {
        assert_eq!(
            record.metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    // What an earlier version made open is closed.
    let directories = [".chitin", ".chitin/directories", ".chitin/cache"];
    for directory in directories {
        assert_eq!(mode(directory), 0o700, "{directory}");
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(env.home().join(directory), open).unwrap();
    }
    call(&env, "harbor", "list", &json!({}));
    for directory in directories {
        assert_eq!(mode(directory), 0o700, "{directory}");
    }
}
