//! What can be seen without leaving the machine: configuration, files, port, sandbox.

use super::DoctorCheck;
use crate::channels::CREDENTIALS_FILE;
use crate::recordings::{self, RecordingLimits, mib};
use crate::serve::{JOB_LOG, TOKEN_FILE, listen_address};
use crate::{Host, Setup, own_config, sandbox_config, shown, without_numbers};
use chitin_config::agents;
use chitin_config::{IssueSeverity, channel_issues, judge};
use chitin_gateway::route::Routing;
use chitin_guard::{Root, SpaceLevel};
use chitin_store::job_log;
use chitin_tools::sandbox::{Sandbox, SandboxLevel};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

/// What only the owner should be able to do.
const OTHERS: u32 = 0o077;
/// How long a server on this machine may take to answer the door.
const KNOCK: Duration = Duration::from_millis(300);
/// How many files a server with many connections has open.
const FILES: u64 = 1_200;

/// Looks around.
pub(super) fn look(host: &Host, setup: &Setup, state: &Path) -> Vec<DoctorCheck> {
    let mut checks = configuration(host, setup);
    checks.extend(workspaces(host, setup));
    checks.extend(home(host, state));
    checks.extend(job_log(host, state));
    checks.push(disk(host, setup, state));
    checks.push(recorded(setup, state));
    checks.push(port(setup));
    checks.push(open_files());
    checks.push(sandbox(host, setup, state));
    checks
}

/// Looks at the list of open jobs, which a running server may have.
fn job_log(host: &Host, state: &Path) -> Vec<DoctorCheck> {
    let area = "job log";
    let found = match job_log::inspect(&state.join(JOB_LOG)) {
        Ok(Some(found)) => found,
        Ok(None) => return Vec::new(),
        Err(error) => {
            let hint = "make it readable and writable for the user that runs `chitin serve`";
            return vec![DoctorCheck::wrong(area, error.to_string(), hint)];
        }
    };
    if let Some(damage) = &found.damage {
        // What a running server writes right now may look torn, never damaged.
        let hint =
            "start `chitin serve`: it sets the file aside, resumes what can be read, and goes on";
        return vec![DoctorCheck::wrong(area, damage.to_string(), hint)];
    }
    let mut checks = vec![DoctorCheck::fine(
        area,
        format!("open jobs: {}", found.open),
    )];
    if let Some(last) = found.set_aside.last() {
        let count = found.set_aside.len();
        let message = format!(
            "the job log was damaged; damaged files that are kept: {count}, the last as `{}`",
            shown(last, host)
        );
        let hint = "check the disk; send messages again that got no reply; then delete the files";
        checks.push(DoctorCheck::odd(area, message, hint));
    }
    checks
}

/// Looks how much room is left for what is accepted.
fn disk(host: &Host, setup: &Setup, state: &Path) -> DoctorCheck {
    let area = "disk";
    let found = recordings::look(state, &setup.configuration);
    let Some(disk) = found.disk else {
        let what = format!("the disk of `{}` cannot be looked at", shown(state, host));
        return DoctorCheck::odd(area, what, "");
    };
    let free = format!(
        "{} are free on the disk of `{}`",
        mib(disk.free),
        shown(state, host)
    );
    let hint = "make room; what stopped begins again by itself";
    match found.level {
        SpaceLevel::Enough => DoctorCheck::fine(area, free),
        SpaceLevel::Low => DoctorCheck::odd(
            area,
            format!(
                "{free}, less than {}: turns are not recorded",
                mib(found.recordings)
            ),
            hint,
        ),
        SpaceLevel::Reserve => DoctorCheck::wrong(
            area,
            format!(
                "{free}, less than {}: `chitin serve` accepts no messages",
                mib(found.intake)
            ),
            hint,
        ),
    }
}

/// Counts what is recorded.
fn recorded(setup: &Setup, state: &Path) -> DoctorCheck {
    let limits = RecordingLimits::of(&setup.configuration);
    let found = recordings::count(state);
    DoctorCheck::fine(
        "recordings",
        format!(
            "recorded sessions: {}, {} of at most {}",
            found.sessions,
            mib(found.bytes),
            mib(limits.max_bytes)
        ),
    )
}

fn configuration(host: &Host, setup: &Setup) -> Vec<DoctorCheck> {
    let area = "configuration";
    let contract = setup.contract().name;
    let mut checks = vec![DoctorCheck::fine(
        area,
        format!("the contract is `{contract}`"),
    )];
    let own = own_config(host).ok().flatten();
    let of_channels: Vec<_> = own.iter().flat_map(channel_issues).collect();
    let own_issues = own.iter().flat_map(|own| &own.issues).chain(&of_channels);
    let openclaw = setup.configuration.openclaw.iter();
    let judged: Vec<_> = openclaw
        .clone()
        .flat_map(|loaded| judge(loaded, &host.env, setup.contract().config))
        .collect();
    let read = openclaw.clone().flat_map(|loaded| &loaded.issues);
    let issues = own_issues.chain(read).chain(&judged);
    for issue in issues.filter(|issue| issue.severity == IssueSeverity::Error) {
        let hint = issue
            .hint
            .clone()
            .unwrap_or_else(|| "`chitin config validate` shows the place".to_owned());
        checks.push(DoctorCheck::odd(area, issue.to_string(), hint));
    }
    let note = Routing::guest_note(setup.configuration.value(), setup.contract());
    checks.extend(note.map(|note| DoctorCheck::fine(area, note)));
    let files = [
        own.as_ref().map(|own| own.path.clone()),
        openclaw.map(|loaded| loaded.path.clone()).next(),
    ];
    for file in files.into_iter().flatten() {
        checks.push(DoctorCheck::fine(
            area,
            format!("`{}` is read", shown(&file, host)),
        ));
    }
    checks
}

fn workspaces(host: &Host, setup: &Setup) -> Vec<DoctorCheck> {
    let area = "workspaces";
    let config = setup.configuration.value();
    let mut found = vec![(setup.agent.clone(), setup.directory.clone())];
    for entry in agents::roster(config, setup.contract()) {
        let known = found.iter().any(|(id, _)| *id == entry.id);
        let directory = setup.configuration.workspace_of(&entry.id, host);
        if let (false, Ok((directory, _))) = (known, directory) {
            found.push((entry.id, directory));
        }
    }
    let checks = found.into_iter().map(|(agent, directory)| {
        let place = shown(&directory, host);
        match Root::open(&directory) {
            Ok(root) if !root.may_write(Path::new("")) => DoctorCheck::odd(
                area,
                format!("`{agent}` cannot write in its workspace `{place}`"),
                "it can answer, but its tools cannot change files",
            ),
            Ok(_) => DoctorCheck::fine(area, format!("`{agent}` has the workspace `{place}`")),
            Err(error) => DoctorCheck::wrong(
                area,
                format!("the workspace of `{agent}` cannot be used: {error}"),
                format!("`chitin init {place}` creates one"),
            ),
        }
    });
    checks.collect()
}

fn home(host: &Host, state: &Path) -> Vec<DoctorCheck> {
    let area = "home";
    let place = shown(state, host);
    let root = match Root::open(state) {
        Ok(root) => root,
        Err(error) if error.is_missing() => {
            return vec![DoctorCheck::fine(
                area,
                format!("`{place}` will be created when needed"),
            )];
        }
        Err(error) => {
            let what = format!("`{place}` cannot be used: {error}");
            return vec![DoctorCheck::wrong(
                area,
                what,
                "set `CHITIN_HOME` to a directory that you own",
            )];
        }
    };
    let mut checks = Vec::new();
    if root.may_write(Path::new("")) {
        checks.push(DoctorCheck::fine(area, format!("`{place}` is writable")));
    } else {
        let hint = "make it writable for the user who runs `chitin`, or set `CHITIN_HOME`";
        checks.push(DoctorCheck::wrong(
            area,
            format!("`{place}` is not writable"),
            hint,
        ));
    }
    for secret in [TOKEN_FILE, CREDENTIALS_FILE] {
        let Some(mode) = root.permissions(Path::new(secret)) else {
            continue;
        };
        let file = format!("{place}/{secret}");
        checks.push(if mode & OTHERS == 0 {
            DoctorCheck::fine(area, format!("`{file}` is readable by its owner only"))
        } else {
            DoctorCheck::wrong(
                area,
                format!("other users can access `{file}`"),
                format!("`chmod 600 {file}`"),
            )
        });
    }
    checks
}

fn port(setup: &Setup) -> DoctorCheck {
    let area = "server";
    let address = match listen_address(&setup.configuration.server, None) {
        Ok(address) => address,
        Err(error) => return DoctorCheck::of_error(area, &error),
    };
    if address.port() == 0 {
        return DoctorCheck::fine(area, "it uses any free port");
    }
    match TcpListener::bind(address) {
        Ok(_) => DoctorCheck::fine(area, format!("`{address}` is free")),
        Err(_) if is_chitin(address) => {
            DoctorCheck::fine(area, format!("`chitin serve` is running on `{address}`"))
        }
        Err(_) if answers(address) => DoctorCheck::wrong(
            area,
            format!("another program listens on `{address}`"),
            "use another port with `server.port` or `--listen`",
        ),
        Err(error) => DoctorCheck::wrong(
            area,
            format!("could not listen on `{address}`: {error}"),
            "use another port with `server.port` or `--listen`",
        ),
    }
}

/// Tells whether what takes connections there is a server of ours.
fn is_chitin(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&address, KNOCK)?;
        stream.set_read_timeout(Some(KNOCK))?;
        write!(
            stream,
            "GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = [0; 1024];
        let mut length = 0;
        while length < answer.len() {
            match stream.read(&mut answer[length..])? {
                0 => break,
                count => length += count,
            }
        }
        std::io::Result::Ok(answer[..length].to_vec())
    };
    let answer = ask().unwrap_or_default();
    let answer = String::from_utf8_lossy(&answer);
    answer.starts_with("HTTP/1.1 ")
        && answer.contains("{\"status\":")
        && answer.contains("\"version\":")
}

/// Tells whether something on this machine takes connections.
pub(super) fn answers(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, KNOCK).is_ok()
}

fn open_files() -> DoctorCheck {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    match limit {
        Some(limit) if limit < FILES => DoctorCheck::odd(
            "server",
            format!("a process may open {limit} files, which may be too few for many connections"),
            "`ulimit -n 8192`, or `LimitNOFILE=` of a systemd unit",
        ),
        Some(limit) => DoctorCheck::fine("server", format!("a process may open {limit} files")),
        None => DoctorCheck::fine("server", "a process may open any number of files"),
    }
}

fn sandbox(host: &Host, setup: &Setup, state: &Path) -> DoctorCheck {
    let area = "sandbox";
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let sandbox = match Sandbox::new(sandbox_config(host, setup, &own.exec, state)) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let error = without_numbers(&error.to_string());
            return DoctorCheck::wrong(area, format!("no sandbox for commands: {error}"), "");
        }
    };
    match sandbox.reach() {
        Ok(report) if report.level == SandboxLevel::None => DoctorCheck::odd(
            area,
            "commands run without any protection, as configured",
            "remove `exec.sandbox` from the configuration",
        ),
        Ok(report) => {
            let gaps = report.gaps.join(" ");
            let gaps = if gaps.is_empty() {
                gaps
            } else {
                format!("; {gaps}")
            };
            DoctorCheck::fine(
                area,
                format!(
                    "commands run in `{}`, with at most {}{gaps}",
                    report.level.name(),
                    report.limits.describe()
                ),
            )
        }
        Err(refusal) => DoctorCheck::wrong(
            area,
            format!("commands cannot run: {refusal}"),
            refusal.hint(),
        ),
    }
}
