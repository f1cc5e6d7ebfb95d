//! Secrets in what older versions recorded below Chitin's home: results of tools in transcripts, recorded turns, logs. They are found, and
//! taken out if that is asked for. Nothing else is looked at, and nothing of OpenClaw's.

use super::{DoctorCheck, DoctorFix, named};
use crate::Host;
use chitin_agent::journal::{self, JournalRedactor};
use chitin_guard::{
    ClaimKind, DirectoryEntryKind, Expected, LinkPolicy, ReadPolicy, Root, commit_all,
};
use chitin_tools::redact::Redactor;
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

const AREA: &str = "recordings";
/// A larger file is not looked at.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// More names in one directory are not listed.
const MOST_NAMES: usize = 100_000;
/// Logs are in directories no deeper than this.
const MOST_DEPTH: usize = 4;
/// What a recorded turn's file ends with, where it lies beside transcripts.
const TRAJECTORY_ENDING: &str = ".trajectory.jsonl";

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// A conversation: only what tools gave is looked at. What people and the model said is theirs.
    Transcript,
    /// A recording or a log.
    Recording,
}

#[derive(Debug, Default)]
struct Tally {
    lines: usize,
    files: Vec<PathBuf>,
    /// Files that another process has open, which are left alone.
    busy: Vec<PathBuf>,
    /// Files that could not be looked at or written, and why.
    failed: Vec<String>,
}

/// Looks for secrets in recordings, and takes them out if asked to.
pub(super) fn look(host: &Host, state: &Path, fix: DoctorFix) -> Vec<DoctorCheck> {
    let Ok(home) = Root::open(state) else {
        return Vec::new();
    };
    let mut tally = Tally::default();
    for (path, kind) in recordings(&home) {
        if let Err(why) = look_at(&home, &path, kind, &host.secrets, fix, &mut tally) {
            tally.failed.push(format!("`{}`: {why}", path.display()));
        }
    }
    tally.checks(fix)
}

/// Lists the files that may hold recorded secrets.
fn recordings(home: &Root) -> Vec<(PathBuf, FileKind)> {
    let mut files = Vec::new();
    for (agent, kind) in names(home, Path::new("agents")) {
        let sessions = agent.join("sessions");
        if kind != DirectoryEntryKind::Directory {
            continue;
        }
        for (path, kind) in names(home, &sessions) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if kind != DirectoryEntryKind::File {
                continue;
            }
            if name.ends_with(TRAJECTORY_ENDING) {
                files.push((path, FileKind::Recording));
            } else if name.ends_with(".jsonl") || name.contains(".jsonl.") {
                files.push((path, FileKind::Transcript));
            }
        }
    }
    let mut directories = vec![(PathBuf::from("logs"), 0)];
    while let Some((directory, depth)) = directories.pop() {
        for (path, kind) in names(home, &directory) {
            match kind {
                DirectoryEntryKind::File => files.push((path, FileKind::Recording)),
                DirectoryEntryKind::Directory if depth < MOST_DEPTH => {
                    directories.push((path, depth + 1));
                }
                _ => {}
            }
        }
    }
    files.sort_by(|one, two| one.0.cmp(&two.0));
    files
}

/// Lists a directory; one that is not there is empty. Links are not followed.
fn names(home: &Root, directory: &Path) -> Vec<(PathBuf, DirectoryEntryKind)> {
    let entries = home.list(directory, &LinkPolicy::Refuse, MOST_NAMES);
    let entries = entries.unwrap_or_default().into_iter();
    entries
        .map(|entry| (directory.join(&entry.name), entry.kind))
        .collect()
}

fn look_at(
    home: &Root,
    path: &Path,
    kind: FileKind,
    secrets: &Redactor,
    fix: DoctorFix,
    tally: &mut Tally,
) -> Result<(), String> {
    // The lock with which a running session keeps its transcript, and a log its lines. Whoever waits for it finds the new file.
    let lock = match fix {
        DoctorFix::Nothing => None,
        DoctorFix::All => match home.claim(path, ClaimKind::AloneNow) {
            Ok(Some(lock)) => Some(lock),
            Ok(None) => {
                tally.busy.push(path.to_owned());
                return Ok(());
            }
            Err(error) => return Err(error.to_string()),
        },
    };
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        ..ReadPolicy::inside(MOST_BYTES)
    };
    let read = home
        .read(path, &policy)
        .map_err(|error| error.to_string())?;
    let found = if journal::is_recording(&read.bytes) {
        let secrets = secrets.clone();
        let redactor = JournalRedactor::new(move |text| Cow::Owned(secrets.redact(text)));
        journal::cleaned(&read.bytes, &redactor)
    } else {
        cleaned(&read.bytes, kind, secrets)
    };
    let Some((text, lines)) = found else {
        return Ok(());
    };
    if lock.is_some() {
        let expected = Expected::Unchanged(read.fingerprint);
        home.prepare_write(path, &text, expected, read.mode)
            .and_then(|prepared| commit_all(vec![prepared]))
            .map_err(|error| error.to_string())?;
    }
    tally.lines += lines;
    tally.files.push(path.to_owned());
    Ok(())
}

/// Returns a file without secrets, and how many lines had some; nothing if none had. All other lines stay as they are.
fn cleaned(bytes: &[u8], kind: FileKind, secrets: &Redactor) -> Option<(Vec<u8>, usize)> {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut changed = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (body, end) = match line.strip_suffix(b"\n") {
            Some(body) => (body, b"\n".as_slice()),
            None => (line, b"".as_slice()),
        };
        match cleaned_line(body, kind, secrets) {
            Some(text) => {
                changed += 1;
                clean.extend_from_slice(text.as_bytes());
                clean.extend_from_slice(end);
            }
            None => clean.extend_from_slice(line),
        }
    }
    (changed > 0).then_some((clean, changed))
}

fn cleaned_line(line: &[u8], kind: FileKind, secrets: &Redactor) -> Option<String> {
    // What is no text holds no line of ours.
    let line = std::str::from_utf8(line).ok()?;
    let Ok(before) = serde_json::from_str::<Value>(line) else {
        // A torn line of a transcript is evidence, and repaired by nobody but the store.
        let text = secrets.redact(line);
        return (kind == FileKind::Recording && text != line).then_some(text);
    };
    let mut after = before.clone();
    match kind {
        FileKind::Recording => secrets.redact_value(&mut after),
        FileKind::Transcript => {
            let message = after.get_mut("message")?;
            if message.get("role").and_then(Value::as_str) != Some("toolResult") {
                return None;
            }
            for part in ["content", "details"] {
                if let Some(part) = message.get_mut(part) {
                    secrets.redact_value(part);
                }
            }
        }
    }
    (after != before).then(|| after.to_string())
}

impl Tally {
    fn checks(self, fix: DoctorFix) -> Vec<DoctorCheck> {
        let mut checks = Vec::new();
        let lines = if self.lines == 1 { "1 line" } else { "lines" };
        let lines = match self.lines {
            1 => lines.to_owned(),
            many => format!("{many} {lines}"),
        };
        let files = named(&self.files);
        match (self.files.is_empty(), fix) {
            (true, _) => checks.push(DoctorCheck::fine(
                AREA,
                "no secrets in transcripts' tool results, recordings and logs",
            )),
            (false, DoctorFix::Nothing) => checks.push(DoctorCheck::odd(
                AREA,
                format!("older recordings hold secrets: {lines} of {files}"),
                "`chitin doctor --fix` takes them out; renew keys that others may have seen",
            )),
            (false, DoctorFix::All) => checks.push(DoctorCheck::odd(
                AREA,
                format!("took secrets out of {lines} of {files}"),
                "renew keys that others may have seen",
            )),
        }
        if !self.busy.is_empty() {
            checks.push(DoctorCheck::odd(
                AREA,
                format!(
                    "not cleaned, because a process uses it: {}",
                    named(&self.busy)
                ),
                "stop `chitin serve`, or try again when no turn runs",
            ));
        }
        if !self.failed.is_empty() {
            checks.push(DoctorCheck::odd(
                AREA,
                format!("could not be cleaned: {}", self.failed.join("; ")),
                "see that the files are yours and regular, and that the disk has room",
            ));
        }
        checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_without_secrets_keep_every_byte_and_those_with_them_stay_json() {
        let secrets = Redactor::new(["hunter2-hunter2".into()]);
        let result = |text: &str| json!({"type": "message", "message": {"role": "toolResult", "content": [{"type": "text", "text": text}]}});
        let user =
            json!({"type": "message", "message": {"role": "user", "content": "hunter2-hunter2"}});
        let odd =
            "{ \"type\" : \"message\", \"message\":{\"role\":\"toolResult\",\"content\":[]} }";
        let before = format!(
            "{user}\n{odd}\n{}\n{}",
            result("a hunter2-hunter2 b"),
            "{\"torn hunter2-hunter2"
        );
        let (after, lines) = cleaned(before.as_bytes(), FileKind::Transcript, &secrets).unwrap();
        let expected = format!(
            "{user}\n{odd}\n{}\n{}",
            result("a [redacted] b"),
            "{\"torn hunter2-hunter2"
        );
        assert_eq!((String::from_utf8(after).unwrap(), lines), (expected, 1));
        let (after, lines) = cleaned(before.as_bytes(), FileKind::Recording, &secrets).unwrap();
        assert!(!String::from_utf8(after).unwrap().contains("hunter2"));
        assert_eq!(lines, 3);
        assert_eq!(cleaned(odd.as_bytes(), FileKind::Recording, &secrets), None);
    }
}
