//! Attacks on what keeps commands and tools in, through the program: what is tried must not work at any level of the sandbox.
#![expect(
    clippy::disallowed_methods,
    reason = "the disk is looked at behind the program's back"
)]

use crate::process::{chitin, plain_command};
use chitin_test::{TestEnv, needs};
use serde_json::{Value, json};
use std::fs::{Permissions, set_permissions};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::Command;

/// Lets the offline model call a tool; returns what is printed.
fn call(command: Command, tool: &str, arguments: &Value) -> String {
    let mut command = command;
    command.args(["-m", &format!("call {tool} {arguments}")]);
    let output = command.output().unwrap();
    let (out, error) = (&output.stdout, &output.stderr);
    [String::from_utf8_lossy(out), String::from_utf8_lossy(error)].concat()
}

fn exec(env: &TestEnv, command: &str) -> String {
    let run = plain_command(env, &["run", "harbor"]);
    call(run, "exec", &json!({"command": command}))
}

fn harbor(settings: &str) -> TestEnv {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    env.file("home/.chitin/chitin.json5", settings);
    env
}

fn script(env: &TestEnv, path: &str, text: &str) {
    let path = env.file(path, format!("#!/bin/sh\n{text}\n"));
    set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

/// The levels of the sandbox that this machine has, by the doctor.
fn levels() -> Vec<&'static str> {
    let works = |level: &&&str| {
        let env = harbor(&format!("{{ exec: {{ sandbox: '{level}' }} }}"));
        exec(&env, "echo works").contains("works")
            && !exec(&env, "echo works").contains("no sandbox works")
    };
    let found: Vec<_> = ["bwrap", "landlock"]
        .iter()
        .filter(works)
        .copied()
        .collect();
    for level in ["bwrap", "landlock"] {
        if !found.contains(&level) {
            needs::skipped(&format!("the sandbox level `{level}`"));
        }
    }
    found
}

#[test]
fn a_program_that_a_command_plants_is_not_run_outside() {
    let env = harbor("{ exec: { sandbox: 'auto' } }");
    let ran = env.path().join("ran");
    for name in ["bwrap", "git", "lantern-server"] {
        script(
            &env,
            &format!("harbor/.venv/bin/{name}"),
            &format!("touch {}", ran.display()),
        );
    }
    let path = format!(
        "{}:/usr/bin:/bin",
        env.path().join("harbor/.venv/bin").display()
    );
    let with_path = |arguments: &[&str]| {
        let mut command = plain_command(&env, arguments);
        command.env("PATH", &path);
        command
    };
    let said = call(
        with_path(&["run", "harbor"]),
        "exec",
        &json!({"command": "echo inside"}),
    );
    assert!(said.contains("inside"), "{said}");
    assert!(!ran.exists(), "{said}");
    // A server of the user's own settings, by its bare name.
    env.file(
        "home/.chitin/chitin.json5",
        "{ mcp: { servers: { lantern: { command: 'lantern-server' } } } }",
    );
    let said = call(with_path(&["run", "harbor"]), "list", &json!({}));
    assert!(!ran.exists(), "{said}");
    assert!(
        said.contains("where commands of an agent can write"),
        "{said}"
    );
    // `init` and comparisons with a revision.
    env.file("home/.chitin/chitin.json5", "{}");
    with_path(&["init", "harbor", "--reseed"]).output().unwrap();
    with_path(&["context", "harbor", "--compare", "HEAD"])
        .output()
        .unwrap();
    assert!(!ran.exists());
}

#[test]
fn chitins_home_in_the_workspace_is_out_of_reach_of_commands() {
    for level in levels() {
        let env = harbor("{}");
        let settings = format!("{{ exec: {{ sandbox: '{level}' }} }}\n");
        env.file("harbor/.chitin/chitin.json5", &settings);
        env.file("harbor/.chitin/server-token", "tok-lantern\n");
        let run = || {
            let mut command = plain_command(&env, &["run", "harbor"]);
            command
                .env("CHITIN_HOME", env.path().join("harbor/.chitin"))
                .env("PATH", "/usr/bin:/bin");
            command
        };
        let attack = "cat .chitin/server-token; echo '{exec:{sandbox:\"none\"}}' > .chitin/chitin.json5; \
                      mv .chitin away; rm -rf .chitin; mkdir .chitin; echo x > .chitin/chitin.json5";
        let said = call(run(), "exec", &json!({ "command": attack }));
        assert!(!said.contains("tok-lantern\n"), "{level}: {said}");
        assert_eq!(env.read("harbor/.chitin/chitin.json5"), settings, "{level}");
        let said = call(run(), "read", &json!({"path": ".chitin/server-token"}));
        assert!(said.contains("is refused"), "{level}: {said}");
    }
}

#[test]
fn a_command_in_the_home_makes_no_state_of_openclaw() {
    for level in levels() {
        let env = TestEnv::new();
        env.file("home/AGENTS.md", "Keep the house.\n");
        env.file(
            "home/.chitin/chitin.json5",
            format!("{{ exec: {{ sandbox: '{level}' }} }}"),
        );
        let mut run = plain_command(&env, &["run", "home"]);
        run.env("PATH", "/usr/bin:/bin");
        let said = call(
            run,
            "exec",
            &json!({"command": "mkdir -p .openclaw; echo '{}' > .openclaw/openclaw.json; echo end"}),
        );
        assert!(!env.home().join(".openclaw").exists(), "{level}: {said}");
        assert!(
            said.contains("contains your home directory"),
            "{level}: {said}"
        );
    }
}

#[test]
fn the_place_where_state_is_kept_is_no_workspace() {
    let env = TestEnv::new();
    env.file("home/.chitin/AGENTS.md", "Keep the keys.\n");
    let output = plain_command(&env, &["run", "home/.chitin", "-m", "hi"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("cannot be a workspace"), "{said}");
}

#[test]
fn what_git_editors_and_rules_run_by_is_not_written_by_commands() {
    if !needs::bwrap() {
        return;
    }
    let env = harbor("{ exec: { sandbox: 'bwrap' } }");
    let names = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".envrc",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".zed/tasks.json",
        ".nvim.lua",
        "PERMISSIONS.md",
        "MCP.md",
        "RUNTIME.md",
        "CHANNELS.md",
        "SKILLS.md",
        "chitin.json5",
    ];
    let plant = |name: &str| format!("mkdir -p $(dirname {name}); echo planted > {name}");
    let all = names.map(plant).join("; ");
    // None is there, and none comes.
    let said = exec(&env, &all);
    assert!(said.contains("Read-only file system"), "{said}");
    for name in names {
        let top = name.split('/').next().unwrap();
        assert!(
            !env.path().join("harbor").join(top).exists(),
            "{name}: {said}"
        );
    }
    // All are there, and none changes.
    for name in names {
        env.file(&format!("harbor/{name}"), "# as it was\n");
    }
    let said = exec(
        &env,
        &format!("{all}; rm -rf .git .vscode .envrc; mv .git g; echo end"),
    );
    for name in names {
        assert_eq!(
            env.read(&format!("harbor/{name}")),
            "# as it was\n",
            "{name}: {said}"
        );
    }
}

#[test]
fn a_repository_further_down_is_held_too() {
    if !needs::bwrap() {
        return;
    }
    let env = harbor("{ exec: { sandbox: 'bwrap' } }");
    let names = [
        "yard/.git/config",
        "yard/.git/hooks/pre-commit",
        "deep/er/project/.git/config",
        "yard/.vscode/tasks.json",
        "yard/.envrc",
        "tree/.git",
    ];
    for name in names {
        env.file(&format!("harbor/{name}"), "# as it was\n");
    }
    let plant = |name: &str| format!("echo planted > {name}; rm -rf $(dirname {name})");
    let said = exec(
        &env,
        &format!(
            "{}; rm -rf yard deep; mv yard y; mv deep d; mkdir -p yard/.git; echo '[core]' > yard/.git/config; \
             echo note > yard/README.md; mkdir -p yard/.git/objects && echo end",
            names.map(plant).join("; ")
        ),
    );
    for name in names {
        assert_eq!(
            env.read(&format!("harbor/{name}")),
            "# as it was\n",
            "{name}: {said}"
        );
    }
    // Work goes on beside it, and in the repository.
    assert_eq!(env.read("harbor/yard/README.md"), "note\n", "{said}");
    assert!(env.path().join("harbor/yard/.git/objects").exists());
}

#[test]
fn sockets_in_pairs_reach_no_service_of_the_machine() {
    if !needs::programs(&["python3"]) {
        return;
    }
    for level in levels() {
        let env = harbor(&format!("{{ exec: {{ sandbox: '{level}' }} }}"));
        let by_path = UnixDatagram::bind(env.path().join("harbor/service")).unwrap();
        // Without a path it is reached by whoever is in the same network, and no rule about files holds it.
        let name = format!("chitin-{}", env.path().display());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let abstract_one = UnixDatagram::bind_addr(&address).unwrap();
        for service in [&by_path, &abstract_one] {
            service.set_nonblocking(true).unwrap();
        }
        env.file(
            "harbor/attack.py",
            format!(
                "import socket\n\
                 pair = lambda kind: socket.socketpair(socket.AF_UNIX, kind)[0]\n\
                 lone = lambda kind: socket.socket(socket.AF_UNIX, kind)\n\
                 for make in (pair, lone):\n    \
                     for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):\n        \
                         for place in ('service', '\\0{name}'):\n            \
                             try:\n                \
                                 make(kind).sendto(b'x', place)\n                \
                                 print('sent')\n            \
                             except OSError:\n                \
                                 print('shut')\n\
                 print('over')\n"
            ),
        );
        let said = exec(&env, "python3 attack.py | sort | uniq -c");
        for service in [&by_path, &abstract_one] {
            assert!(service.recv(&mut [0; 8]).is_err(), "{level}: {said}");
        }
        assert!(
            said.contains("12 shut") && said.contains("1 over"),
            "{level}: {said}"
        );
    }
}

#[test]
fn skills_that_are_swapped_for_a_link_during_the_search_give_nothing_from_outside() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let env = harbor("{}");
    let skill = |name: &str, about: &str| {
        format!("---\nname: {name}\ndescription: {about}\n---\n\nSteps.\n")
    };
    env.file("harbor/skills/ours/SKILL.md", skill("ours", "Of the yard."));
    env.file("elsewhere/theirs/SKILL.md", skill("theirs", "LANTERN."));
    let (skills, aside) = (
        env.path().join("harbor/skills"),
        env.path().join("harbor/aside"),
    );
    // The two change places in one step, so that one of them always has the name: each run has an even chance to judge the one and
    // to read the other.
    std::os::unix::fs::symlink(env.path().join("elsewhere"), &aside).unwrap();
    let swap = || {
        let (here, how) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
        rustix::fs::renameat_with(here, &skills, here, &aside, how)
    };
    if swap().is_err() {
        needs::skipped("a file system that exchanges names");
        return;
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                swap().unwrap();
            }
        });
        let mut found = 0;
        for _ in 0..60 {
            let output = chitin(&env, &["context", "harbor", "--text"]);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if text.contains("LANTERN") {
                over.store(true, Ordering::Relaxed);
            }
            assert!(!text.contains("LANTERN"), "{text}");
            found += usize::from(text.contains("Of the yard."));
        }
        over.store(true, Ordering::Relaxed);
        // The search met the swapping and not only its ends.
        assert!(
            (1..60).contains(&found),
            "the directory was there {found} times"
        );
    });
}

#[test]
fn an_artifact_brings_no_repository() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let env = harbor("{}");
    env.file(
        "harbor/skills/tides/SKILL.md",
        "---\nname: tides\ndescription: Tides.\n---\n\nLook it up.\n",
    );
    let packed = chitin(&env, &["pack", "harbor", "--output", "forged"]);
    assert!(
        packed.status.success(),
        "{}",
        String::from_utf8_lossy(&packed.stderr)
    );
    // Puts a repository with a hook beside each skill, and makes all digests right again.
    env.file("forge.py", FORGE);
    let forged = Command::new("python3")
        .arg(env.path().join("forge.py"))
        .arg(env.path().join("forged"))
        .output()
        .unwrap();
    assert!(
        forged.status.success(),
        "{}",
        String::from_utf8_lossy(&forged.stderr)
    );
    let unpacked = chitin(&env, &["unpack", "./forged", "out"]);
    let said = String::from_utf8_lossy(&unpacked.stderr).into_owned();
    assert!(!unpacked.status.success(), "{said}");
    assert!(said.contains(".git/hooks/post-checkout"), "{said}");
    assert!(!env.path().join("out").exists(), "{said}");
}

/// Adds a hook to the layer of skills of an OCI layout.
const FORGE: &str = r#"
import gzip, hashlib, io, json, pathlib, sys, tarfile
root = pathlib.Path(sys.argv[1])
blobs = root / "blobs" / "sha256"
load = lambda digest: (blobs / digest.split(":")[1]).read_bytes()
def keep(data):
    name = hashlib.sha256(data).hexdigest()
    (blobs / name).write_bytes(data)
    return "sha256:" + name
index = json.loads((root / "index.json").read_text())
entry = index["manifests"][0]
manifest = json.loads(load(entry["digest"]))
config = json.loads(load(manifest["config"]["digest"]))
forged = 0
for layer in manifest["layers"]:
    plain = gzip.decompress(load(layer["digest"]))
    old = tarfile.open(fileobj=io.BytesIO(plain))
    if not any("tides" in member.name for member in old):
        continue
    before = "sha256:" + hashlib.sha256(plain).hexdigest()
    out = io.BytesIO()
    new = tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT)
    first = None
    for member in old:
        first = first or member
        new.addfile(member, old.extractfile(member) if member.isfile() else None)
    skill = next(member for member in old if member.name.endswith("SKILL.md"))
    hook = tarfile.TarInfo(skill.name.replace("SKILL.md", ".git/hooks/post-checkout"))
    hook.size, hook.mode = 3, 0o755
    new.addfile(hook, io.BytesIO(b"id;"))
    new.close()
    packed = gzip.compress(out.getvalue(), mtime=0)
    layer["digest"], layer["size"] = keep(packed), len(packed)
    after = "sha256:" + hashlib.sha256(out.getvalue()).hexdigest()
    config = json.loads(json.dumps(config).replace(before, after))
    forged += 1
assert forged, "no layer of skills"
data = json.dumps(config).encode()
manifest["config"]["digest"], manifest["config"]["size"] = keep(data), len(data)
data = json.dumps(manifest).encode()
entry["digest"], entry["size"] = keep(data), len(data)
(root / "index.json").write_text(json.dumps(index))
"#;

#[test]
fn options_do_not_hide_a_denied_command() {
    let env = harbor("{ exec: { deny: ['git push *'] } }");
    for command in [
        "git -C . push",
        "env X=1 git -c a=b push",
        "timeout 5 git push",
    ] {
        let said = exec(&env, command);
        assert!(said.contains("`exec.deny` lists it"), "{command}: {said}");
    }
    for command in [
        "trap 'git push' EXIT",
        "sed 1e x",
        "tar cf x --checkpoint-action=exec=x .",
    ] {
        let said = exec(&env, command);
        assert!(
            said.contains("was not run: it needs the owner's approval"),
            "{command}: {said}"
        );
    }
}

#[test]
fn a_storm_ends_the_command_and_not_the_program() {
    for level in levels() {
        let env = harbor(&format!(
            "{{ exec: {{ sandbox: '{level}', limits: {{ processes: 50, outputMb: 1 }} }} }}"
        ));
        // Bounded by itself, too.
        let storm =
            "i=0; while [ $i -lt 300 ]; do sleep 15 & i=$((i+1)); done; wait; echo survived";
        let said = exec(&env, storm);
        assert!(!said.contains("survived\n"), "{level}: {said}");
        // What is shown of it is cut short; that it is over in time is not.
        let begun = std::time::Instant::now();
        let said = exec(&env, "yes | head -c 50000000; sleep 60");
        assert!(said.contains("`exec` failed"), "{level}: {said}");
        assert!(begun.elapsed().as_secs() < 40, "{level}");
        let said = exec(&env, "echo fine");
        assert!(said.contains("fine"), "{level}: {said}");
    }
}

/// A control group of our own, in which each run gets a part as systemd would give it. Dropping it removes all.
struct ControlGroups {
    group: std::path::PathBuf,
    given: std::sync::atomic::AtomicU32,
}

impl ControlGroups {
    /// Makes one below the top of the tree, if this machine's cgroup v2 counts processes or memory and lets us.
    fn new() -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
        let is_v2 = |line: &&str| line.split(' ').nth(2) == Some("cgroup2");
        let top = mounts.lines().find(is_v2)?.split(' ').nth(1)?;
        let top = std::path::Path::new(top);
        let groups = Self {
            group: top.join(format!("chitin-test-{}", std::process::id())),
            given: std::sync::atomic::AtomicU32::default(),
        };
        std::fs::create_dir(&groups.group).ok()?;
        for group in [top, &groups.group] {
            for controller in ["+pids", "+memory"] {
                let _ = std::fs::write(group.join("cgroup.subtree_control"), controller);
            }
        }
        (groups.counts("pids") || groups.counts("memory")).then_some(groups)
    }

    fn counts(&self, controller: &str) -> bool {
        let granted = self.group.join("cgroup.subtree_control");
        let granted = std::fs::read_to_string(granted).unwrap_or_default();
        granted.split_whitespace().any(|one| one == controller)
    }

    /// Prepares a run of the program that begins in a group that was just given to it, or below that.
    fn run(&self, env: &TestEnv, below: &str, arguments: &[&str]) -> Command {
        let number = self
            .given
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let given = self.group.join(format!("given-{number}"));
        let start = given.join(below);
        std::fs::create_dir_all(&start).unwrap();
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(&given, "user.delegate", b"1", flags).unwrap();
        let run = plain_command(env, arguments);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo 0 > \"$1\" && shift && exec \"$@\"", "sh"]);
        command.arg(start.join("cgroup.procs"));
        command.arg(run.get_program()).args(run.get_args());
        command.current_dir(env.path()).env_clear();
        let variables = run.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// Returns the groups in it, innermost first.
    fn below(&self) -> Vec<std::path::PathBuf> {
        let (mut found, mut next) = (Vec::new(), vec![self.group.clone()]);
        while let Some(group) = next.pop() {
            let entries = std::fs::read_dir(group).unwrap().filter_map(Result::ok);
            let groups = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            for group in groups.map(|entry| entry.path()) {
                found.push(group.clone());
                next.push(group);
            }
        }
        found.sort_by_key(|group| std::cmp::Reverse(group.components().count()));
        found
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        for group in self.below() {
            let _ = std::fs::remove_dir(group);
        }
        let _ = std::fs::remove_dir(&self.group);
    }
}

#[test]
fn a_control_group_counts_a_command_as_a_whole() {
    let Some(groups) = ControlGroups::new() else {
        needs::skipped("root, and a cgroup v2 that counts processes or memory");
        return;
    };
    let storm = "i=0; while [ $i -lt 200 ]; do sleep 15 & i=$((i+1)); done; wait; echo survived";
    // Each holds what it was given until its reader wakes up.
    let hog = "for i in 1 2 3; do (head -c 30000000 /dev/zero | tail -c 30000000 | (sleep 15; cat > /dev/null; echo survived)) & done; wait";
    for level in levels() {
        let env = harbor(&format!(
            "{{ exec: {{ sandbox: '{level}', limits: {{ processes: 40, totalMemoryMb: 64 }} }} }}"
        ));
        // Alone in the group that was given to it, and one below it as a service with a subgroup.
        for below in ["", "main"] {
            let exec = |command: &str| {
                let run = groups.run(&env, below, &["run", "harbor"]);
                call(run, "exec", &json!({"command": command}))
            };
            if groups.counts("pids") {
                let said = exec(storm);
                assert!(said.contains("more than 40 processes"), "{level}: {said}");
                assert!(!said.contains("survived\n"), "{level}: {said}");
            }
            if groups.counts("memory") {
                let said = exec(hog);
                let limit = "more than 64 MB of memory together";
                assert!(said.contains(limit), "{level}: {said}");
                assert!(!said.contains("survived\n"), "{level}: {said}");
            }
            assert!(exec("echo fine").contains("fine"), "{level}");
            let doctor = groups.run(&env, below, &["doctor", "--offline", "harbor"]);
            let said = String::from_utf8_lossy(&{ doctor }.output().unwrap().stdout).into_owned();
            let held = "40 processes and threads (held by a control group)";
            assert!(said.contains(held), "{said}");
        }
        let left = groups.below();
        let commands = left
            .iter()
            .filter(|group| group.to_string_lossy().contains("command-"));
        assert_eq!(commands.count(), 0, "{left:?}");
    }
}

/// Runs a command with a terminal for its output; returns what the terminal got.
fn on_a_terminal(mut command: Command) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    use std::process::Stdio;
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let other = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    command.stdout(Stdio::from(other)).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // Its own handle of the terminal would keep it open.
    drop(command);
    let mut terminal = std::fs::File::from(terminal);
    let mut got = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = terminal.read(&mut chunk) {
        got.extend_from_slice(&chunk[..count]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&got).into_owned()
}

#[test]
fn escapes_in_files_do_not_reach_a_terminal_and_a_pipe_gets_every_byte() {
    let env = harbor("{}");
    let escapes = "before \u{1b}]0;title\u{7}\u{1b}[8mhidden\u{1b}[0m \u{9b}2J after";
    env.file("harbor/AGENTS.md", format!("{escapes}\n"));
    let said = call(
        plain_command(&env, &["run", "harbor"]),
        "read",
        &json!({"path": "AGENTS.md"}),
    );
    assert!(said.contains("after"), "{said}");
    for arguments in [
        &["context", "harbor", "--text"][..],
        &["run", "harbor", "-m", "hi", "--dry-run"],
        &["sessions", "export", "main", "--dir", "harbor"],
        &["context", "harbor", "--text", "--json"],
        &["context", "harbor"],
    ] {
        let shown = on_a_terminal(plain_command(&env, arguments));
        for raw in ["\u{1b}]", "\u{1b}[8m", "\u{9b}", "\u{7}"] {
            assert!(!shown.contains(raw), "{arguments:?}: {shown:?}");
        }
        assert!(shown.len() > 20, "{arguments:?}: {shown:?}");
    }
    let piped = plain_command(&env, &["context", "harbor", "--text"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&piped.stdout).contains(escapes));
}

#[test]
fn the_doctor_says_how_much_a_command_may_use() {
    if levels().is_empty() {
        return;
    }
    let env = harbor("{ exec: { limits: { processes: 77, memoryMb: 0, openFiles: 99 } } }");
    let output = chitin(&env, &["doctor", "--offline", "harbor"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("77 processes"), "{said}");
    assert!(said.contains("99 open files"), "{said}");
    assert!(!said.contains("MB of memory"), "{said}");
    assert!(said.contains("3600 s of processor time"), "{said}");
}

#[test]
fn the_limit_of_memory_counts_what_a_process_asks_for_and_not_its_program() {
    for level in levels() {
        let env = harbor(&format!(
            "{{ exec: {{ sandbox: '{level}', limits: {{ memoryMb: 1 }} }} }}"
        ));
        // A shell has its program and libraries in common with others, and hardly anything of its own.
        let said = exec(&env, "echo works");
        assert!(said.contains("works"), "{level}: {said}");
        let said = exec(&env, "head -c 9000000 /dev/zero | tail -c 8000000 | wc -c");
        assert!(said.contains("memory exhausted"), "{level}: {said}");
        let doctor = chitin(&env, &["doctor", "--offline", "harbor"]);
        let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
        let limit = "1 MB of memory per process (heap and private mappings)";
        assert!(told.contains(limit), "{told}");
    }
}

#[test]
fn a_copy_of_the_workspace_keeps_nothing_of_the_guards_and_git_is_explained() {
    if !needs::bwrap() || !needs::programs(&["git"]) {
        return;
    }
    let env = harbor("{ exec: { sandbox: 'bwrap' } }");
    env.file("harbor/notes/tides.md", "low\n");
    let said = exec(
        &env,
        "mkdir copy && cp -r AGENTS.md notes .[a-z]* copy/ && cp -a . /tmp/all && cp -a /tmp/all deep && ls -A copy deep",
    );
    // What is there while a command runs is named, and nothing of it stays.
    assert!(said.contains(".envrc"), "{said}");
    let left = |directory: &str| -> Vec<String> {
        let entries = std::fs::read_dir(env.path().join("harbor").join(directory)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    assert_eq!(left("copy"), ["AGENTS.md", "notes"], "{said}");
    assert!(
        !left("deep")
            .iter()
            .any(|name| name == ".git" || name == "PERMISSIONS.md")
    );
    assert_eq!(env.read("harbor/deep/notes/tides.md"), "low\n");
    // An empty directory of the user's own stays.
    std::fs::create_dir(env.path().join("harbor/copy/.vscode")).unwrap();
    exec(&env, "true");
    assert!(left("copy").contains(&".vscode".to_owned()));
    for (command, name) in [
        ("git init", ".git"),
        ("echo x > .envrc", ".envrc"),
        ("mkdir .vscode", ".vscode"),
        ("echo x > PERMISSIONS.md", "PERMISSIONS.md"),
    ] {
        let said = exec(&env, command);
        let note = format!("[`{name}` is kept from commands");
        assert!(said.contains(&note), "{command}: {said}");
        assert!(said.contains("exec.writable"), "{command}: {said}");
    }
    // In a repository of its own that a command makes further down, nothing is in the way.
    let said = exec(&env, "git init -q yard && echo made");
    assert!(
        said.contains("made") && !said.contains("is kept from"),
        "{said}"
    );
}

/// Runs git as the owner does, outside of the sandbox.
fn git(directory: &std::path::Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b.example"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", directory)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    format!("{}{text}", String::from_utf8_lossy(&output.stdout))
}

/// What a command does to have git run a program for whoever types `git status`.
const DETOUR: &str = "mkdir -p evil/hooks; printf '[core]\\n\\tfsmonitor = touch RAN\\n' > evil/config; echo ref: refs/heads/main > evil/HEAD; \
                      mkdir -p evil/objects evil/refs; ";

#[test]
fn a_worktree_and_a_repository_elsewhere_lead_git_nowhere_else() {
    if !needs::bwrap() || !needs::programs(&["git"]) {
        return;
    }
    let attack = |env: &TestEnv, command: &str, places: &[&str]| {
        let ran = env.path().join("ran");
        let detour = DETOUR.replace("RAN", ran.to_str().unwrap());
        let said = exec(
            env,
            &format!("{{ {detour}{command}; }} 2>/dev/null; echo end"),
        );
        assert!(said.contains("end"), "{said}");
        for place in places {
            let told = git(&env.path().join(place), &["status"]);
            assert!(!ran.exists(), "{command}: {place}: {told}{said}");
            assert!(
                told.contains("On branch") || told.contains("detached"),
                "{place}: {told}{said}"
            );
        }
    };
    let made = |directory: &std::path::Path| {
        git(directory, &["init", "-q", "-b", "main"]);
        git(directory, &["add", "."]);
        git(directory, &["commit", "-qm", "first"]);
    };
    // A worktree in the workspace, of the repository at its top.
    let env = harbor("{ exec: { sandbox: 'bwrap' } }");
    let harbor_at = env.path().join("harbor");
    made(&harbor_at);
    git(&harbor_at, &["worktree", "add", "-q", "tree"]);
    attack(
        &env,
        "echo \"$PWD/evil\" > .git/worktrees/tree/commondir",
        &["harbor", "harbor/tree"],
    );
    attack(
        &env,
        "mv .git/worktrees .git/w; rm -f .git/worktrees/tree/commondir; \
         mv .git/worktrees/tree .git/worktrees/t; echo \"gitdir: $PWD/evil\" > tree/.git",
        &["harbor", "harbor/tree"],
    );
    // Work in it goes on.
    let said = exec(
        &env,
        "cd tree && echo x > new.md && git add new.md && git -c user.name=a -c user.email=a@b.example commit -qm new && echo made",
    );
    assert!(said.contains("made"), "{said}");
    // The workspace is a worktree of a repository elsewhere.
    let env = TestEnv::new();
    env.file(
        "home/.chitin/chitin.json5",
        "{ exec: { sandbox: 'bwrap' } }",
    );
    env.file("main/AGENTS.md", "Keep the harbor.\n");
    let main = env.path().join("main");
    made(&main);
    git(&main, &["worktree", "add", "-q", "../harbor"]);
    let link = env.read("harbor/.git");
    attack(
        &env,
        "echo \"gitdir: $PWD/evil\" > .git; rm -f .git; mv .git g; echo planted > ../main/.git/hooks/pre-commit; echo planted >> ../main/.git/config",
        &["harbor", "main"],
    );
    assert_eq!(env.read("harbor/.git"), link);
    assert!(!env.read("main/.git/config").contains("planted"));
    assert!(!main.join(".git/hooks/pre-commit").exists());
    // The repository was put somewhere else in the workspace.
    let env = harbor("{ exec: { sandbox: 'bwrap' } }");
    let harbor_at = env.path().join("harbor");
    git(
        &harbor_at,
        &[
            "init",
            "-q",
            "-b",
            "main",
            "--separate-git-dir",
            "store.git",
        ],
    );
    git(&harbor_at, &["add", "AGENTS.md"]);
    git(&harbor_at, &["commit", "-qm", "first"]);
    attack(
        &env,
        "cp evil/config store.git/config; mv store.git s; echo \"$PWD/evil\" > store.git/commondir; echo planted > store.git/hooks/pre-commit",
        &["harbor"],
    );
    assert!(
        !env.path()
            .join("harbor/store.git/hooks/pre-commit")
            .exists()
    );
}

#[test]
fn a_workspace_below_a_repository_changes_nothing_of_it() {
    if !needs::programs(&["git"]) {
        return;
    }
    for level in levels() {
        let env = TestEnv::new();
        env.file(
            "home/.chitin/chitin.json5",
            format!("{{ exec: {{ sandbox: '{level}' }} }}"),
        );
        env.file("above/code.txt", "LANTERN\n");
        env.file("above/harbor/AGENTS.md", "Keep the harbor.\n");
        let above = env.path().join("above");
        git(&above, &["init", "-q", "-b", "main"]);
        git(&above, &["add", "."]);
        git(&above, &["commit", "-qm", "first"]);
        let config = env.read("above/.git/config");
        let run = plain_command(&env, &["run", "above/harbor"]);
        let said = call(
            run,
            "exec",
            &json!({"command": "echo x >> ../.git/config; echo x > ../.git/hooks/pre-commit; echo x > ../code.txt; cat ../code.txt; rm -rf ../.git; mv ../.git ../g; echo end"}),
        );
        assert!(
            said.contains("end") && !said.contains("LANTERN"),
            "{level}: {said}"
        );
        assert_eq!(env.read("above/.git/config"), config, "{level}: {said}");
        assert_eq!(env.read("above/code.txt"), "LANTERN\n", "{level}: {said}");
        assert!(!above.join(".git/hooks/pre-commit").exists(), "{level}");
        let told = git(&above.join("harbor"), &["status"]);
        assert!(told.contains("On branch main"), "{level}: {told}");
    }
}
