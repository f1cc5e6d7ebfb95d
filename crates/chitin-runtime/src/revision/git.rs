//! The `git` program, asked with plumbing only and kept from running anything that a repository names.

use crate::Host;
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use chitin_guard::{ProgramOrder, ProgramSearch};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What of the user's environment reaches `git`: where programs and the user's own settings are, and how far up a
/// repository is looked for. `GIT_DIR` and its kin are not among it: the repository is the one that holds the directory.
const KEPT: [&str; 10] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "DEVELOPER_DIR",
    "SUDO_UID",
];

/// No lock, no question, no network, no replaced object; messages in one language.
const SET: [(&str, &str); 7] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // Releases that do not know the line above fetch by a protocol, and none of that name exists.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
];

/// Settings of a repository that name programs, and repositories that hide in the files of another.
const OVERRIDDEN: [&str; 3] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "safe.bareRepository=explicit",
];

/// The `git` program, looking at one directory.
#[derive(Debug)]
pub(super) struct Git<'a> {
    program: PathBuf,
    directory: &'a Path,
    host: &'a Host,
}

/// What `git` said.
#[derive(Debug)]
pub(super) enum GitOutput {
    Yes(Vec<u8>),
    /// Its complaint, fit for a terminal.
    No(String),
}

impl<'a> Git<'a> {
    /// Finds the program. What lies in the workspace does not count: whoever wrote it would run at the next comparison.
    pub(super) fn find(host: &'a Host, directory: &'a Path) -> Result<Self, RuntimeError> {
        let search = ProgramSearch {
            path: host.env.get("PATH").unwrap_or_default(),
            order: ProgramOrder::SystemOnPath,
            never_in: &[directory.to_path_buf()],
        };
        let found = search.find("git");
        let Some(program) = found.path else {
            let error = RuntimeError::new(
                ErrorKind::Usage,
                "A git revision needs the `git` program, which is not in `PATH`.",
            );
            let error = found
                .refused
                .iter()
                .fold(error, |error, refused| error.hint(refused.to_string()));
            return Err(error.hint("install git, or name a directory or a contract"));
        };
        Ok(Self {
            program,
            directory,
            host,
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(SET).stdin(Stdio::null());
        for name in KEPT {
            if let Some(value) = self.host.env.get(name) {
                command.env(name, value);
            }
        }
        command.arg("--no-pager");
        for setting in OVERRIDDEN {
            command.args(["-c", setting]);
        }
        command.arg("-C").arg(self.directory);
        command
    }

    /// Asks for something short.
    pub(super) fn ask<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<GitOutput, RuntimeError> {
        let output = self
            .command()
            .args(arguments)
            .output()
            .map_err(|error| self.failed(error))?;
        if output.status.success() {
            return Ok(GitOutput::Yes(output.stdout));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or_default();
        let first = first.strip_prefix("fatal: ").unwrap_or(first);
        Ok(GitOutput::No(plain(first, '\u{fffd}')))
    }

    /// Asks for a list whose items end with NUL, and takes them one by one.
    pub(super) fn each(
        &self,
        arguments: &[&str],
        max_bytes: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), RuntimeError>,
    ) -> Result<(), RuntimeError> {
        let mut running = self.start(self.command().args(arguments))?;
        let mut reader = BufReader::new(running.output()?).take(max_bytes);
        let mut item = Vec::new();
        loop {
            item.clear();
            let read = reader.read_until(0, &mut item);
            if read.map_err(|error| self.failed(error))? == 0 {
                break;
            }
            // Without its end it is half an item: the limit was met, or the program died.
            if item.pop() != Some(0) {
                return Err(self.broken());
            }
            take(&item)?;
        }
        let whole = running.child.wait().map_err(|error| self.failed(error))?;
        if whole.success() {
            Ok(())
        } else {
            Err(self.broken())
        }
    }

    /// Starts reading objects.
    pub(super) fn objects(&self) -> Result<Objects<'_>, RuntimeError> {
        let mut command = self.command();
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped());
        let mut running = self.start(&mut command)?;
        let output = BufReader::new(running.output()?);
        let input = running.child.stdin.take().ok_or_else(|| self.broken())?;
        Ok(Objects {
            git: self,
            input,
            output,
            _running: running,
        })
    }

    fn start(&self, command: &mut Command) -> Result<Running, RuntimeError> {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| self.failed(error))?;
        Ok(Running { child })
    }

    fn failed(&self, error: io::Error) -> RuntimeError {
        // Never by `From`: a pipe to `git` that breaks is a failure, unlike that to the reader of our output.
        let program = self.program.display();
        RuntimeError::new(ErrorKind::Internal, format!("`{program}` cannot be used."))
            .caused_by(error)
    }

    fn broken(&self) -> RuntimeError {
        let directory = plain(&self.directory.to_string_lossy(), '\u{fffd}');
        RuntimeError::new(
            ErrorKind::User,
            format!("Could not read the git repository of `{directory}`."),
        )
        .hint("`git fsck` checks a repository")
    }
}

/// A process that does not outlive its owner.
struct Running {
    child: Child,
}

impl Running {
    fn output(&mut self) -> Result<ChildStdout, RuntimeError> {
        let missing = || RuntimeError::new(ErrorKind::Internal, "`git` has no output.");
        self.child.stdout.take().ok_or_else(missing)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that hands out objects one by one.
pub(super) struct Objects<'a> {
    git: &'a Git<'a>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _running: Running,
}

impl Objects<'_> {
    /// Reads a blob of a size that is known and was judged. The bytes are those that were committed: no filter runs.
    pub(super) fn read(&mut self, id: &str, size: u64) -> Result<Vec<u8>, RuntimeError> {
        let git = self.git;
        self.input
            .write_all(format!("{id}\n").as_bytes())
            .and_then(|()| self.input.flush())
            .map_err(|error| git.failed(error))?;
        let mut header = Vec::new();
        (&mut self.output)
            .take(256)
            .read_until(b'\n', &mut header)
            .map_err(|error| git.failed(error))?;
        if header != format!("{id} blob {size}\n").as_bytes() {
            return Err(git.broken());
        }
        let length = usize::try_from(size).map_err(|_| git.broken())?;
        let mut bytes = vec![0; length + 1];
        self.output
            .read_exact(&mut bytes)
            .map_err(|error| git.failed(error))?;
        bytes.truncate(length);
        Ok(bytes)
    }
}
