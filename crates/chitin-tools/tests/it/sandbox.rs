//! What a command can't do, at each level that this machine offers.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the test sets the scene with real files and says what it tested"
)]

use crate::sandbox_lab::{
    KEY, Lab, at_each_level, block_on, eventually, exists, is_running, offered, read,
};
use chitin_protocol::settings::SandboxSetting;
use chitin_test::needs;
use chitin_tools::sandbox::{
    Cause, CommandRequest, ErrorOutput, Guard, PolicyError, Sandbox, SandboxLevel, SandboxRefusal,
    WorkspaceAccess,
};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `CHITIN_TEST_LEVELS` names the levels that must be there, such as `bwrap,landlock`; others are reported as skipped.
#[test]
fn the_levels_that_this_machine_offers() {
    let offered: Vec<_> = offered()
        .into_iter()
        .map(|(level, _)| level.name())
        .collect();
    eprintln!("sandbox levels tested on this machine: {offered:?}");
    for level in ["bwrap", "landlock"] {
        if !offered.contains(&level) {
            needs::skipped(&format!("the sandbox level `{level}`"));
        }
    }
    let wanted = std::env::var("CHITIN_TEST_LEVELS").unwrap_or_default();
    for level in wanted.split(',').filter(|level| !level.is_empty()) {
        assert!(offered.contains(&level), "`{level}` is not offered here");
    }
}

#[test]
fn the_strongest_level_is_taken_and_said_as_it_is() {
    let lab = Lab::new(SandboxSetting::Auto);
    match (offered().first(), lab.sandbox.reach()) {
        (Some((level, _)), Ok(report)) => {
            assert_eq!(report.level, *level);
            assert_eq!(report.files, Guard::Enforced);
            assert_eq!(report.network, Guard::Enforced);
            assert!(report.holds());
            assert_eq!(
                report.gaps.is_empty(),
                *level == SandboxLevel::Bwrap,
                "{report:?}"
            );
        }
        (None, Err(SandboxRefusal::NoLevel { tried })) => assert_eq!(tried.len(), 2),
        (offered, reached) => panic!("{offered:?} is offered and {reached:?} reached"),
    }
    let open = Lab::new(SandboxSetting::None);
    let report = open.sandbox.reach().unwrap();
    assert_eq!(report.level, SandboxLevel::None);
    assert!(!report.holds());
    assert_eq!(
        [report.files, report.network, report.processes],
        [Guard::Missing; 3]
    );
}

#[test]
fn a_workspace_that_is_read_only_is_read_and_not_written_to() {
    for (level, choice) in offered() {
        let lab = Lab::with(choice, |config| {
            config.workspace_access = WorkspaceAccess::ReadOnly;
        });
        lab.env.files([("here.txt", "read me")]);
        let (output, _) = lab.run(
            "cat here.txt; (echo no > new) 2>/dev/null || printf ' shut'
             (echo no > here.txt) 2>/dev/null || printf ' shut'; echo x > $TMPDIR/t && cat $TMPDIR/t",
        );
        assert_eq!(output, "read me shut shutx\n", "{level:?}");
        assert!(!exists(&lab.env.workspace().join("new")), "{level:?}");
        assert_eq!(lab.env.read("workspace/here.txt"), "read me", "{level:?}");
    }
}

#[test]
fn a_program_that_the_user_named_is_readable_in_a_hidden_place_and_nothing_beside_the_keys_is() {
    for (level, choice) in offered() {
        let lab = Lab::with(choice, |config| {
            let home = config.hidden[0].clone();
            fs::create_dir_all(home.join("plugins")).unwrap();
            fs::create_dir_all(home.join("data")).unwrap();
            fs::write(
                home.join("plugins/run.sh"),
                "cat $1/beside; cat $1/../keys.json",
            )
            .unwrap();
            fs::write(home.join("plugins/beside"), "near ").unwrap();
            config.programs = vec![home.join("plugins/run.sh")];
            config.data = Some(home.join("data"));
        });
        let home = lab.env.home().join(".chitin");
        let (plugins, data) = (home.join("plugins"), home.join("data"));
        let command = format!(
            "sh {0}/run.sh {0} 2>/dev/null; echo kept > {1}/file && cat {1}/file",
            plugins.display(),
            data.display()
        );
        let (output, _) = lab.run(&command);
        assert_eq!(output, "near kept\n", "{level:?}");
        assert!(!output.contains(KEY));
    }
    let shut = |programs: &[&str]| {
        let env = chitin_test::TestEnv::new();
        env.file("home/.chitin/keys.json", KEY);
        let mut config = crate::sandbox_lab::config(&env, SandboxSetting::None);
        config.programs = programs.iter().map(|one| env.home().join(one)).collect();
        Sandbox::new(config).err()
    };
    assert!(matches!(
        shut(&[".chitin"]),
        Some(PolicyError::Surrounds { .. })
    ));
    assert!(matches!(shut(&[""]), Some(PolicyError::Surrounds { .. })));
    assert!(matches!(
        shut(&["nowhere"]),
        Some(PolicyError::Unusable { .. })
    ));
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_limited_at_every_level() {
    let levels = offered().into_iter().map(|(_, choice)| choice);
    for choice in levels.chain([SandboxSetting::None]) {
        let lab = Lab::with(choice, |config| config.memory_bytes = Some(64 << 20));
        let (output, _) = lab.run("x=$(head -c 200000000 /dev/zero | tr '\\0' x) && echo got it");
        assert!(!output.contains("got it"), "{choice:?}: {output}");
        let (output, _) = lab.run("echo small");
        assert_eq!(output, "small\n", "{choice:?}");
    }
}

#[test]
fn ordinary_work_is_done() {
    at_each_level(|lab| {
        let (output, ending) = lab.run(
            "set -e; mkdir -p a/b; echo hello > a/b/c; cat a/b/c; ln -s c a/b/d; cat a/b/d
             mv a/b/c a/b/e; chmod +x a/b/e; rm -r a; echo x > $TMPDIR/t; cat $TMPDIR/t; echo y > $HOME/h; cat $HOME/h
             echo to-null > /dev/null; head -c 4 /dev/urandom | wc -c; pwd; (echo sub) | tr a-z A-Z; sleep 0 & wait
             echo err >&2; date > /dev/null; grep -c processor /proc/cpuinfo > /dev/null; printf end",
        );
        assert_eq!(
            (ending.code, ending.cause),
            (Some(0), Cause::Exited),
            "{output}"
        );
        let workspace = lab.sandbox.workspace().display().to_string();
        assert_eq!(
            output,
            format!("hello\nhello\nx\ny\n4\n{workspace}\nSUB\nerr\nend")
        );
    });
}

#[test]
fn interpreters_and_version_control_work() {
    if !needs::programs(&["python3"]) {
        return;
    }
    at_each_level(|lab| {
        let (output, ending) = lab.run(
            "python3 -c 'import json, subprocess, tempfile, threading, socket
t = threading.Thread(target=lambda: open(\"made\", \"w\").write(\"by python\")); t.start(); t.join()
a, b = socket.socketpair(); a.send(b\"pair\")
print(json.dumps([open(\"made\").read(), subprocess.check_output([\"echo\", \"x\"]).decode(), b.recv(4).decode()]))
tempfile.TemporaryFile().write(b\"x\")' && if command -v git >/dev/null; then git init -q sub && git -C sub status >/dev/null; fi",
        );
        assert_eq!(output.trim(), r#"["by python", "x\n", "pair"]"#);
        assert_eq!(ending.code, Some(0));
        assert_eq!(read(&lab.sandbox.workspace().join("made")), "by python");
    });
}

#[test]
fn nothing_outside_can_be_read() {
    at_each_level(|lab| {
        let secret = lab.outside();
        let workspace = lab.sandbox.workspace();
        symlink(&secret, workspace.join("link")).unwrap();
        symlink(secret.parent().unwrap(), workspace.join("directory-link")).unwrap();
        let secret = secret.display();
        let pid = std::process::id();
        let tries = [
            format!("cat {secret}"),
            "cat link".to_owned(),
            "cat directory-link/secret.txt".to_owned(),
            "cat ../home/secret.txt".to_owned(),
            "cd .. && cat home/secret.txt".to_owned(),
            format!("cat /proc/self/root{secret}"),
            format!("cat /proc/{pid}/root{secret}"),
            format!("cat /proc/$PPID/root{secret}"),
            format!("ln {secret} hard && cat hard"),
            format!("cp {secret} copy; cat copy"),
            format!("mv {secret} moved; cat moved"),
            format!("tar cf - {secret}"),
            format!("python3 -c 'print(open(\"{secret}\").read())'"),
            format!("mkdir up; mount --bind / up; cat up{secret}"),
            format!("unshare -rm sh -c 'mount --bind / /mnt; cat /mnt{secret}'"),
            format!("chroot / cat {secret}"),
            format!("dd if={secret}"),
            "cat ../home/.chitin/keys.json".to_owned(),
            "ls ../home".to_owned(),
        ];
        for command in tries {
            let (output, _) = lab.run(&command);
            assert!(!output.contains(KEY), "{command}: {output}");
            assert!(!output.contains("secret.txt\n"), "{command}: {output}");
        }
        let (output, _) = lab.run("cat /etc/shadow || ls -A /root || echo neither");
        assert!(output.ends_with("neither\n"), "{output}");
        assert_eq!(read(&lab.outside()), KEY);
    });
    // The same without a sandbox: what is tried above does work where nothing holds it.
    let open = Lab::new(SandboxSetting::None);
    assert_eq!(open.run("cat ../home/secret.txt").0, KEY);
}

#[test]
fn nothing_outside_can_be_written() {
    at_each_level(|lab| {
        let outside = lab.env.path();
        symlink(outside.join("home"), lab.sandbox.workspace().join("out")).unwrap();
        let other = tempfile::tempdir_in("/var/tmp").unwrap();
        let at = outside.display();
        let elsewhere = other.path().display();
        for command in [
            format!("echo broken > {at}/home/secret.txt"),
            format!("truncate -s 0 {at}/home/secret.txt"),
            format!("python3 -c 'import os; os.truncate(\"{at}/home/secret.txt\", 0)'"),
            format!("rm -f {at}/home/secret.txt"),
            format!("mv {at}/home/secret.txt x"),
            "echo x > out/made".to_owned(),
            "echo x > ../made".to_owned(),
            "mkdir ../directory".to_owned(),
            format!("echo x > {elsewhere}/made"),
            "echo x > /usr/made-by-chitin-test".to_owned(),
            "echo x > /etc/made-by-chitin-test".to_owned(),
            "ln -s x ../made; touch made && ln made ../made; mv made ../made".to_owned(),
            "mknod disk b 8 0; head -c 1 disk".to_owned(),
        ] {
            lab.run(&command);
        }
        assert_eq!(read(&lab.outside()), KEY);
        for path in ["made", "directory", "home/made"] {
            assert!(!exists(&outside.join(path)), "{path}");
        }
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0);
        assert!(!exists("/usr/made-by-chitin-test".as_ref()));
        assert!(!exists("/etc/made-by-chitin-test".as_ref()));
        assert!(!exists(&lab.sandbox.workspace().join("disk")));
    });
}

#[test]
fn no_socket_can_be_opened() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let name = format!("chitin-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let local = UnixListener::bind_addr(&address).unwrap();
    local.set_nonblocking(true).unwrap();
    let (tcp_port, udp_port) = (
        tcp.local_addr().unwrap().port(),
        udp.local_addr().unwrap().port(),
    );
    at_each_level(|lab| {
        let named = UnixListener::bind(lab.sandbox.workspace().join("named")).unwrap();
        named.set_nonblocking(true).unwrap();
        let script = format!(
            "import socket
def attempt(name, work):
    try:
        work()
        print(name, 'open')
    except OSError as error:
        print(name, 'shut')
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {tcp_port})))
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp_port})))
attempt('tcp6', lambda: socket.socket(socket.AF_INET6))
attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0{name}'))
attempt('named', lambda: socket.socket(socket.AF_UNIX).connect('named'))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt('listen', lambda: socket.create_server(('127.0.0.1', 0)))
"
        );
        std::fs::write(lab.sandbox.workspace().join("try.py"), script).unwrap();
        let (output, _) = lab.run("python3 try.py");
        assert_eq!(output.matches("shut").count(), 9, "{output}");
        assert!(!output.contains("open"), "{output}");
        assert!(tcp.accept().is_err());
        assert!(udp.recv(&mut [0; 8]).is_err());
        assert!(local.accept().is_err());
        assert!(named.accept().is_err());
    });
}

#[test]
fn the_network_opens_by_the_settings_and_the_report_says_so() {
    if !needs::programs(&["python3"]) {
        return;
    }
    for (_, choice) in offered() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let lab = Lab::with(choice, |config| config.network = true);
        assert_eq!(lab.sandbox.reach().unwrap().network, Guard::Opened);
        let (output, _) = lab.run(&format!(
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port})).send(b\"hi\"); print(1)
try: socket.socket(socket.AF_UNIX); print(2)
except OSError: print(3)'"
        ));
        assert_eq!(output, "1\n3\n");
        let mut got = String::new();
        server.accept().unwrap().0.read_to_string(&mut got).unwrap();
        assert_eq!(got, "hi");
    }
}

#[test]
fn the_providers_key_can_not_be_seen() {
    // A process with a key in its environment and on its command line's neighbour, as Chitin is.
    let mut keeper = std::process::Command::new("sleep")
        .arg("60")
        .env("ANTHROPIC_API_KEY", KEY)
        .spawn()
        .unwrap();
    let pid = keeper.id();
    at_each_level(|lab| {
        for command in [
            "env; set; export".to_owned(),
            "tr '\\0' '\\n' < /proc/self/environ".to_owned(),
            "cat /proc/$PPID/environ".to_owned(),
            "cat /proc/1/environ; cat /proc/*/environ; cat /proc/*/task/*/environ".to_owned(),
            format!("cat /proc/{pid}/environ; strings /proc/{pid}/mem"),
            format!("python3 -c 'print(open(\"/proc/{pid}/environ\").read())'"),
            format!("ps eww {pid}; gdb -p {pid} -batch"),
            format!("cat {}/home/.chitin/keys.json", lab.env.path().display()),
        ] {
            let (output, _) = lab.run(&command);
            assert!(!output.contains(KEY), "{command}: {output}");
        }
    });
    keeper.kill().unwrap();
    keeper.wait().unwrap();
}

#[test]
fn processes_outside_can_not_be_touched() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let mut bystander = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let pid = bystander.id();
    at_each_level(|lab| {
        if lab.sandbox.reach().unwrap().processes != Guard::Enforced {
            return;
        }
        let (output, ending) = lab.run(&format!(
            "kill -9 {pid}; kill -9 $PPID; python3 -c '
import ctypes
libc = ctypes.CDLL(None)
print(libc.ptrace(16, {pid}, 0, 0), libc.process_vm_readv({pid}, 0, 0, 0, 0, 0), libc.prlimit({pid}, 0, ctypes.byref((ctypes.c_ulong * 2)(1, 1)), 0))'; echo alive"
        ));
        assert!(output.ends_with("-1 -1 -1\nalive\n"), "{output}");
        assert_eq!(ending.cause, Cause::Exited);
        assert!(bystander_is_alive(pid));
    });
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

fn bystander_is_alive(pid: u32) -> bool {
    read(format!("/proc/{pid}/stat").as_ref()).contains(" S ")
}

#[test]
fn inherited_descriptors_are_closed_and_no_terminal_is_left() {
    at_each_level(|lab| {
        let (output, _) = lab.run("ls /proc/self/fd 2>/dev/null | wc -l; ulimit -c; tty; echo x 2>/dev/null >/dev/tty && echo terminal");
        let lines: Vec<_> = output.lines().collect();
        // Landlock shuts /proc; in a namespace `ls` sees its own four.
        assert!(["0", "4"].contains(&lines[0]), "{output}");
        assert_eq!(lines[1], "0");
        assert!(!output.contains("terminal"), "{output}");
    });
}

#[test]
fn a_daemon_does_not_outlive_its_command() {
    for choice in offered()
        .into_iter()
        .map(|(_, choice)| choice)
        .chain([SandboxSetting::None])
    {
        let lab = Lab::new(choice);
        let marker = format!("31{}.7", std::process::id());
        let (output, ending) = lab.run(&format!(
            "for i in 1 2 3 4 5; do setsid sh -c 'setsid sleep {marker} & setsid sh -c \"sleep {marker}; :\"' >/dev/null 2>&1 & done
             nohup sleep {marker} & sleep 0.3; echo done"
        ));
        assert_eq!(ending.code, Some(0), "{output}");
        assert!(!is_running(&marker), "{choice:?}");
    }
}

#[test]
fn time_and_a_dropped_handle_end_the_whole_tree() {
    for choice in offered()
        .into_iter()
        .map(|(_, choice)| choice)
        .chain([SandboxSetting::None])
    {
        let lab = Lab::new(choice);
        let marker = format!("32{}.7", std::process::id());
        let command =
            format!("setsid sleep {marker} & trap '' TERM INT HUP; sleep {marker}; sleep {marker}");
        let began = Instant::now();
        let request = CommandRequest {
            timeout: Some(Duration::from_millis(400)),
            ..CommandRequest::shell(&command, Arc::new(|_| {}))
        };
        let ending = block_on(lab.sandbox.start(&request).unwrap().wait());
        assert_eq!(ending.cause, Cause::TimedOut);
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(!is_running(&marker));

        let (running, _) = lab.start(&command);
        assert!(eventually(|| is_running(&marker)));
        drop(running);
        assert!(eventually(|| !is_running(&marker)), "{choice:?}");

        let (running, _) = lab.start(&command);
        assert!(eventually(|| is_running(&marker)));
        assert_eq!(block_on(running.stop_and_wait()).cause, Cause::Stopped);
        assert!(!is_running(&marker));
    }
}

#[test]
fn a_tree_that_forks_all_the_time_is_ended_too() {
    at_each_level(|lab| {
        let marker = format!("33{}.7", std::process::id());
        let (running, _) = lab.start(&format!(
            "f() {{ sleep {marker} & sleep 0.01; f & f; }}; (sleep 0.7; :) & for i in 1 2 3; do f & done; sleep {marker}"
        ));
        std::thread::sleep(Duration::from_millis(80));
        let ending = block_on(running.stop_and_wait());
        assert_eq!(ending.cause, Cause::Stopped);
        assert!(!is_running(&marker));
    });
}

#[test]
fn input_reaches_the_command_and_error_output_can_be_kept_apart() {
    at_each_level(|lab| {
        let output = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&output);
        let request = CommandRequest {
            errors: ErrorOutput::Tail,
            ..CommandRequest::shell(
                "cat; echo aside >&2; exit 3",
                Arc::new(move |bytes| sink.lock().unwrap().extend_from_slice(bytes)),
            )
        };
        let running = lab.sandbox.start(&request).unwrap();
        running.write(b"one ").unwrap();
        running.write(b"two").unwrap();
        running.close_input().unwrap();
        let ending = block_on(running.wait());
        assert_eq!(output.lock().unwrap().as_slice(), b"one two");
        assert_eq!((ending.code, ending.message.as_str()), (Some(3), "aside\n"));
    });
}

#[test]
fn what_is_hidden_inside_a_workspace_stays_hidden_or_nothing_runs() {
    for (level, choice) in offered() {
        let lab = Lab::with(choice, |config| {
            let inside = config.workspace.join(".chitin");
            std::fs::create_dir(&inside).unwrap();
            std::fs::write(inside.join("key"), KEY).unwrap();
            std::fs::write(config.workspace.join("key-file"), KEY).unwrap();
            config.hidden.push(inside);
            config.hidden.push(config.workspace.join("key-file"));
        });
        match level {
            SandboxLevel::Bwrap => {
                let (output, _) = lab.run("cat .chitin/key key-file; ls -A .chitin; echo ran");
                assert!(
                    output.ends_with("ran\n") && !output.contains(KEY),
                    "{output}"
                );
            }
            SandboxLevel::Landlock | SandboxLevel::None => {
                let refusal = lab.sandbox.reach().unwrap_err();
                assert!(refusal.to_string().contains("could not hide"), "{refusal}");
            }
        }
    }
}

#[test]
fn the_private_directory_comes_with_the_first_command_and_goes_with_the_sandbox() {
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let lab = Lab::new(SandboxSetting::None);
    let scratch = lab.env.path().join("scratch");
    let names = || -> Vec<_> {
        let entries = fs::read_dir(&scratch).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(), Vec::<OsString>::new());
    // A process that was killed in the middle of a command could not tidy up.
    let left = scratch.join(format!("exec-{}-0", gone.id()));
    fs::create_dir_all(left.join("tmp")).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(0o700)).unwrap();
    let (printed, _) =
        lab.run("cd \"$TMPDIR\" && mkdir -p a/b && touch a/b/c && ln -s / up && pwd");
    let ours = format!("exec-{}-0", std::process::id());
    assert_eq!(names(), [OsString::from(&ours)]);
    assert!(printed.contains(&ours), "{printed}");
    drop(lab.sandbox);
    assert_eq!(names(), Vec::<OsString>::new());
}

#[test]
fn without_room_for_the_private_directory_commands_are_refused_until_there_is_some() {
    let lab = Lab::new(SandboxSetting::None);
    let scratch = lab.env.path().join("scratch");
    fs::remove_dir(&scratch).unwrap();
    fs::write(&scratch, "in the way").unwrap();
    let refusal = lab.sandbox.reach().unwrap_err();
    assert!(
        matches!(refusal, SandboxRefusal::NoScratch { .. }),
        "{refusal}"
    );
    assert!(refusal.hint().contains("can write there"));
    fs::remove_file(&scratch).unwrap();
    assert_eq!(lab.run("echo now").0, "now\n");
}

#[test]
fn roots_that_would_open_too_much_are_refused() {
    let lab = Lab::new(SandboxSetting::Auto);
    let refusal = |change: &dyn Fn(&mut chitin_tools::sandbox::SandboxConfig)| {
        let mut config = crate::sandbox_lab::config(&lab.env, SandboxSetting::Auto);
        change(&mut config);
        Sandbox::new(config).unwrap_err()
    };
    assert!(matches!(
        refusal(&|config| config.workspace = "/".into()),
        PolicyError::Everything(_)
    ));
    assert!(matches!(
        refusal(&|config| config.readable = vec![lab.env.home().join(".chitin")]),
        PolicyError::Protected { .. }
    ));
    assert!(matches!(
        refusal(&|config| config.writable = vec!["relative".into()]),
        PolicyError::Unusable { .. }
    ));
}

#[test]
fn further_roots_open_what_they_name_and_no_more() {
    for (_, choice) in offered() {
        let lab = Lab::with(choice, |config| {
            let beside = config.workspace.parent().unwrap().join("beside");
            for name in ["in", "out"] {
                std::fs::create_dir_all(beside.join(name)).unwrap();
                std::fs::write(beside.join(name).join("file"), "content").unwrap();
            }
            std::fs::write(beside.join("private"), KEY).unwrap();
            config.readable = vec![beside.join("in")];
            config.writable = vec![beside.join("out")];
        });
        let (output, _) = lab.run(
            "cd ../beside; cat in/file out/file private; echo x > in/new; echo x > out/new; ls out",
        );
        assert_eq!(output.matches("content").count(), 2, "{output}");
        assert!(!output.contains(KEY), "{output}");
        assert!(output.ends_with("file\nnew\n"), "{output}");
        let beside = lab.env.path().join("beside");
        assert!(!exists(&beside.join("in/new")) && exists(&beside.join("out/new")));
    }
}

#[test]
fn a_helper_that_is_not_there_is_an_error_and_not_an_open_door() {
    let lab = Lab::with(SandboxSetting::Auto, |config| {
        config.helper = config.workspace.join("nothing");
    });
    assert!(lab.sandbox.reach().is_err());
    assert!(
        lab.sandbox
            .start(&CommandRequest::shell("true", Arc::new(|_| {})))
            .is_err()
    );
}
