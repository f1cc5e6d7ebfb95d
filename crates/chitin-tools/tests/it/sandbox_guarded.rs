//! What a command can't change, make or hide behind a new name, in a workspace that it writes to.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the test looks at real files behind the sandbox's back"
)]

use crate::sandbox_lab::{Lab, exists, offered, read};
use chitin_protocol::settings::SandboxSetting;
use chitin_test::needs;
use chitin_tools::sandbox::SandboxLevel;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Every name that must not be written, with what would be planted there.
const PLANTED: [&str; 18] = [
    "PERMISSIONS.md",
    "MCP.md",
    "RUNTIME.md",
    "CHANNELS.md",
    "SKILLS.md",
    "chitin.json5",
    ".git/config",
    ".git/hooks/post-checkout",
    ".envrc",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".zed/tasks.json",
    ".fleet/run.json",
    ".helix/languages.toml",
    ".nvim.lua",
    ".exrc",
    ".vimrc",
    ".dir-locals.el",
];

fn lab() -> Option<Lab> {
    needs::bwrap().then(|| Lab::new(SandboxSetting::Bwrap))
}

/// Tries all that writes to a name.
fn attack(path: &str) -> String {
    let top = path.split('/').next().unwrap();
    format!(
        "mkdir -p $(dirname {path}); echo planted > {path}; echo planted >> {path}; rm -rf {top}; rmdir {top}; \
         mv {top} away; mkdir -p $(dirname {path}); echo planted > {path}; echo planted > t; mv -f t {path}; ln -sf /bin/sh {path}; \
         ln -f AGENTS.md {path}; chmod 777 {top}; umount {top}; true"
    )
}

#[test]
fn a_guarded_name_that_is_free_stays_free() {
    let Some(lab) = lab() else { return };
    let workspace = lab.sandbox.workspace().to_owned();
    for path in PLANTED {
        let (output, _) = lab.run(&attack(path));
        assert!(!exists(&workspace.join(path)), "{path}: {output}");
    }
    // Nothing is left of what kept the names.
    let mut left: Vec<_> = fs::read_dir(&workspace)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.retain(|name| !matches!(name.as_str(), "t" | "away"));
    assert_eq!(left, Vec::<String>::new());
    // Ordinary files are written as ever.
    let (output, _) = lab.run("echo x > notes.md; mkdir -p .config; echo y > .config/z; ls -A");
    assert!(output.contains("notes.md"), "{output}");
    assert_eq!(read(&workspace.join(".config/z")), "y\n");
}

#[test]
fn a_guarded_file_that_is_there_stays_as_it_is_and_can_be_read() {
    let Some(lab) = lab() else { return };
    let workspace = lab.sandbox.workspace().to_owned();
    for path in PLANTED {
        lab.env.file(&format!("workspace/{path}"), "as it was\n");
    }
    lab.env
        .file("workspace/.git/HEAD", "ref: refs/heads/main\n");
    for path in PLANTED {
        let (output, _) = lab.run(&format!("cat {path}"));
        assert_eq!(output, "as it was\n", "{path}");
        lab.run(&attack(path));
        assert_eq!(read(&workspace.join(path)), "as it was\n", "{path}");
        assert!(!exists(&workspace.join("away")), "{path}");
    }
}

#[test]
fn a_repository_takes_commits_but_no_settings_hooks_or_detours() {
    let Some(lab) = lab() else { return };
    if !needs::programs(&["git"]) {
        return;
    }
    let workspace = lab.sandbox.workspace().to_owned();
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(arguments)
            .current_dir(&workspace)
            .output()
            .unwrap();
        (
            done.status.success(),
            String::from_utf8_lossy(&done.stdout).into_owned(),
        )
    };
    assert!(git(&["init", "-q", "-b", "main", "."]).0);
    fs::remove_dir_all(workspace.join(".git/hooks")).unwrap();
    let config = read(&workspace.join(".git/config"));
    let (output, ending) = lab.run(
        "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com
         git config --global --add safe.directory '*'
         echo note > note.md && git add -A && git commit -qm first && git log --oneline && git status --short",
    );
    assert_eq!(ending.code, Some(0), "{output}");
    // Only what was written is in the commit.
    assert_eq!(git(&["ls-tree", "--name-only", "HEAD"]).1, "note.md\n");

    lab.run("git config core.fsmonitor ./evil; git config core.hooksPath .; echo ../evil > .git/commondir; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit");
    lab.run("mv .git .git2; cp -r .git2 .git; echo evil > .git/config");
    lab.run("mkdir -p evil; printf '[core]\\n fsmonitor = touch pwned; false\\n' > evil/config; echo ../evil > .git/commondir; echo evil > .git/config.worktree");
    assert_eq!(read(&workspace.join(".git/config")), config);
    assert!(!exists(&workspace.join(".git/hooks")));
    assert!(!exists(&workspace.join(".git/commondir")));
    assert!(!exists(&workspace.join(".git/config.worktree")));
    assert!(git(&["status"]).0);
    assert!(!exists(&workspace.join("pwned")));
}

#[test]
fn one_command_keeps_its_walls_when_another_ends() {
    let Some(lab) = lab() else { return };
    let workspace = lab.sandbox.workspace().to_owned();
    let (long, _) = lab.start("while [ ! -e go ]; do sleep 0.05; done; mkdir .git; echo planted > .git/config; echo planted > .envrc; echo done > done");
    lab.run("true");
    lab.run("true");
    fs::write(workspace.join("go"), "").unwrap();
    let ending = crate::sandbox_lab::block_on(long.wait());
    assert!(ending.code.is_some(), "{ending:?}");
    assert_eq!(read(&workspace.join("done")), "done\n");
    assert!(!exists(&workspace.join(".envrc")));
    assert!(!exists(&workspace.join(".git")));
}

#[test]
fn what_a_killed_helper_left_is_removed_by_the_next_command_and_nothing_of_the_users_is() {
    let Some(lab) = lab() else { return };
    let workspace = lab.sandbox.workspace().to_owned();
    let left = workspace.join(".envrc");
    fs::create_dir(&left).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(0o1555)).unwrap();
    // An empty directory of the user's own.
    fs::create_dir(workspace.join(".vscode")).unwrap();
    lab.run("true");
    assert!(!exists(&left));
    assert!(exists(&workspace.join(".vscode")));
    lab.run("echo x > .vscode/tasks.json");
    assert!(!exists(&workspace.join(".vscode/tasks.json")));
}

#[test]
fn a_state_directory_in_the_workspace_can_be_neither_seen_nor_made_nor_moved() {
    if !needs::bwrap() {
        return;
    }
    let lab = Lab::with(SandboxSetting::Bwrap, |config| {
        let workspace = config.workspace.clone();
        fs::create_dir_all(workspace.join("deep/er/.chitin")).unwrap();
        fs::write(workspace.join("deep/er/.chitin/chitin.json5"), "kept").unwrap();
        config.hidden.push(workspace.join("deep/er/.chitin"));
        config.hidden.push(workspace.join(".openclaw"));
        config.hidden.push(workspace.join("not/yet/there"));
    });
    let workspace = lab.sandbox.workspace().to_owned();
    let (output, _) = lab.run(
        "cat deep/er/.chitin/chitin.json5; echo x > deep/er/.chitin/chitin.json5; mv deep away; mv deep/er away; mv deep/er/.chitin away
         rm -rf deep; mkdir -p .openclaw; echo x > .openclaw/openclaw.json; mkdir -p not/yet/there; echo x > not/yet/there/x
         mkdir -p deep/er/.chitin; echo x > deep/er/.chitin/chitin.json5; true",
    );
    assert!(!output.contains("kept"), "{output}");
    assert_eq!(
        read(&workspace.join("deep/er/.chitin/chitin.json5")),
        "kept"
    );
    // A copy of what can be seen is empty.
    assert_ne!(read(&workspace.join("away/.chitin/chitin.json5")), "kept");
    for path in [".openclaw", "not"] {
        assert!(!exists(&workspace.join(path)), "{path}: {output}");
    }
}

#[test]
fn what_the_user_opens_by_name_is_open_and_what_is_a_link_is_said() {
    if !needs::bwrap() {
        return;
    }
    let lab = Lab::with(SandboxSetting::Bwrap, |config| {
        let vscode = config.workspace.join(".vscode");
        fs::create_dir(&vscode).unwrap();
        symlink("elsewhere", config.workspace.join(".envrc")).unwrap();
        config.writable.push(vscode);
    });
    let workspace = lab.sandbox.workspace().to_owned();
    lab.run("echo x > .vscode/tasks.json");
    assert_eq!(read(&workspace.join(".vscode/tasks.json")), "x\n");
    let report = lab.sandbox.reach().unwrap();
    let link = workspace.join(".envrc").display().to_string();
    assert!(
        report.gaps.iter().any(|gap| gap.contains(&link)),
        "{report:?}"
    );
}

#[test]
fn a_weaker_level_says_what_it_cannot_guard() {
    for (level, choice) in offered() {
        let lab = Lab::new(choice);
        let report = lab.sandbox.reach().unwrap();
        let said = report.gaps.iter().any(|gap| gap.contains("`.git/config`"));
        assert_eq!(said, level == SandboxLevel::Landlock, "{report:?}");
    }
}

#[test]
fn a_planted_bwrap_is_never_run_and_never_weakens_the_sandbox_in_silence() {
    for mode in [0o755, 0o644] {
        let lab = Lab::with(SandboxSetting::Auto, |config| {
            let bin = config.workspace.join(".venv/bin");
            fs::create_dir_all(&bin).unwrap();
            let planted = bin.join("bwrap");
            let ran = config.workspace.join("ran");
            fs::write(&planted, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
            fs::set_permissions(&planted, fs::Permissions::from_mode(mode)).unwrap();
            let path = config.environment.get("PATH").cloned().unwrap_or_default();
            let path = format!("{}:{path}", bin.display());
            config.environment.insert("PATH".to_owned(), path);
        });
        let Ok(report) = lab.sandbox.reach() else {
            return;
        };
        let strongest = offered().first().map(|(level, _)| *level);
        assert_eq!(Some(report.level), strongest);
        if report.level == SandboxLevel::Landlock {
            let said = |gap: &String| gap.contains("`bwrap` is not used") && gap.contains(".venv");
            assert!(report.gaps.iter().any(said), "{report:?}");
        }
        lab.run("true");
        assert!(!exists(&lab.sandbox.workspace().join("ran")));
    }
}

#[test]
fn a_bwrap_that_others_can_write_is_refused_by_name() {
    if Path::new("/usr/bin/bwrap").exists() || Path::new("/bin/bwrap").exists() {
        // The system's own comes first; that is what the test above holds.
        return;
    }
    let lab = Lab::with(SandboxSetting::Bwrap, |config| {
        let bin = config.workspace.parent().unwrap().join("loose");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("bwrap"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(bin.join("bwrap"), fs::Permissions::from_mode(0o777)).unwrap();
        config
            .environment
            .insert("PATH".to_owned(), bin.display().to_string());
    });
    let refusal = lab.sandbox.reach().unwrap_err().to_string();
    assert!(refusal.contains("other users can write"), "{refusal}");
}

#[test]
fn a_pair_of_datagram_sockets_reaches_nobody() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    if !needs::programs(&["python3"]) {
        return;
    }
    for network in [false, true] {
        for (level, choice) in offered() {
            let lab = Lab::with(choice, |config| config.network = network);
            let name = format!(
                "chitin-dgram-{}-{network}-{}",
                std::process::id(),
                level.name()
            );
            let address = SocketAddr::from_abstract_name(&name).unwrap();
            let hidden = UnixDatagram::bind_addr(&address).unwrap();
            hidden.set_nonblocking(true).unwrap();
            let named = UnixDatagram::bind(lab.sandbox.workspace().join("named")).unwrap();
            named.set_nonblocking(true).unwrap();
            let (output, _) = lab.run(&format!(
                "python3 -c '
import socket
def attempt(what, kind, to):
    try:
        a, b = socket.socketpair(socket.AF_UNIX, kind)
        if to is not None: a.sendto(b\"x\", to)
        else: a.send(b\"x\")
        print(what, \"open\")
    except OSError: print(what, \"shut\")
attempt(\"path\", socket.SOCK_DGRAM, \"named\")
attempt(\"abstract\", socket.SOCK_DGRAM, \"\\0{name}\")
attempt(\"flags\", socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, \"named\")
attempt(\"raw\", socket.SOCK_RAW, \"named\")
attempt(\"stream to\", socket.SOCK_STREAM, \"named\")
attempt(\"seqpacket to\", socket.SOCK_SEQPACKET, \"named\")
attempt(\"stream\", socket.SOCK_STREAM, None)
attempt(\"seqpacket\", socket.SOCK_SEQPACKET, None)
'"
            ));
            let mut buffer = [0; 8];
            assert!(named.recv(&mut buffer).is_err(), "{level:?}: {output}");
            assert!(hidden.recv(&mut buffer).is_err(), "{level:?}: {output}");
            // A pair that keeps messages apart takes no address: what is sent goes to its other end.
            assert_eq!(
                output,
                "path shut\nabstract shut\nflags shut\nraw shut\nstream to shut\nseqpacket to open\nstream open\nseqpacket open\n",
                "{level:?}"
            );
        }
    }
}
