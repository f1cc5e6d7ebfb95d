//! The files of a directory surface. One number counts what came in and what went out, so names tell the order.

use super::message::{MOST_BYTES, MessageFile};
use crate::surface::{Address, OutgoingFile, PastMessage};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, ReadPolicy, Root, WriteError, WriteOutcome};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where messages are put.
pub(super) const IN: &str = "in";
/// Where they are once they were taken in.
pub(super) const TAKEN: &str = "taken";
/// Where they are when they cannot be.
pub(super) const REFUSED: &str = "refused";
/// Where words of agents appear.
pub(super) const OUT: &str = "out";
/// How many files each of them may hold.
const MOST_FILES: usize = 100_000;
/// How many messages one look takes.
const MOST_AT_ONCE: usize = 1_000;
/// How many files one question about the past opens.
const MOST_OPENED: usize = 2_000;

/// The files of a directory surface.
#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) root: Root,
    counted: Mutex<Counted>,
}

/// What is there already.
#[derive(Debug, Default)]
struct Counted {
    last: u64,
    /// The names of what went out, by their key's digest.
    keys: HashMap<String, String>,
}

/// Something that went out: a message, or what became of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// `message`, `edit`, `react`, `thread`, or another action's name.
    pub(super) kind: String,
    /// The surface's name for it.
    pub(super) id: String,
    /// The key under which it was sent; the same key is never there twice.
    pub(super) key: String,
    /// Where.
    pub(super) to: Address,
    /// What else there is to say.
    #[serde(flatten)]
    pub(super) rest: serde_json::Map<String, serde_json::Value>,
}

impl Inbox {
    /// Opens a directory, and makes what is not there.
    pub(super) fn open(path: &Path) -> Result<Self, WriteError> {
        let (root, _) = Root::create(path)?;
        for name in [IN, TAKEN, REFUSED, OUT] {
            root.make_directories(Path::new(name))?;
        }
        let inbox = Self {
            root,
            counted: Mutex::default(),
        };
        let mut counted = Counted::default();
        for directory in [TAKEN, OUT] {
            for (number, name) in inbox.numbered(directory)? {
                counted.last = counted.last.max(number);
                if let Some(digest) = digest_in(&name).filter(|_| directory == OUT) {
                    counted.keys.insert(digest.to_owned(), name);
                }
            }
        }
        *inbox.lock() = counted;
        Ok(inbox)
    }

    /// Returns the names of messages that wait, in their order.
    pub(super) fn waiting(&self) -> Result<Vec<String>, WriteError> {
        let mut names: Vec<String> = self
            .names(IN)?
            .into_iter()
            .filter(|name| is_message(name))
            .collect();
        names.sort();
        names.truncate(MOST_AT_ONCE);
        Ok(names)
    }

    /// Reads a message that waits.
    pub(super) fn read_note(&self, name: &str) -> Result<MessageFile, String> {
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            ..ReadPolicy::inside(MOST_BYTES)
        };
        let read = self.root.read(&Path::new(IN).join(name), &policy);
        let read = read.map_err(|error| format!("It cannot be read: {error}."))?;
        MessageFile::read(&read.bytes, name.trim_end_matches(".json"))
    }

    /// Returns the next number.
    pub(super) fn count(&self) -> u64 {
        let mut counted = self.lock();
        counted.last += 1;
        counted.last
    }

    /// Puts a message away that was taken in.
    pub(super) fn put_away(&self, name: &str, number: u64) -> Result<(), WriteError> {
        let to = Path::new(TAKEN).join(format!("{number:08}-{name}"));
        self.root.rename_new(&Path::new(IN).join(name), &to)?;
        Ok(())
    }

    /// Puts a message away that cannot be taken in, and says why beside it.
    pub(super) fn refuse(&self, name: &str, reason: &str) -> Result<(), WriteError> {
        let from = Path::new(IN).join(name);
        for count in 0..MOST_FILES {
            let kept = match count {
                0 => name.to_owned(),
                _ => format!("{count}-{name}"),
            };
            let to = Path::new(REFUSED).join(&kept);
            if self.root.rename_new(&from, &to)? == WriteOutcome::Created {
                let said = Path::new(REFUSED).join(format!("{kept}.reason.txt"));
                self.root.replace(&said, format!("{reason}\n").as_bytes())?;
                break;
            }
        }
        Ok(())
    }

    /// Writes something that goes out, whole; what is there already under that key is left as it is. Returns its id.
    pub(super) fn put_out(
        &self,
        kind: &str,
        key: &str,
        to: &Address,
        mut rest: serde_json::Map<String, serde_json::Value>,
        files: &[OutgoingFile],
    ) -> Result<String, WriteError> {
        let digest = digest(key);
        let mut counted = self.lock();
        let id = format!("out-{digest}");
        if counted.keys.contains_key(&digest) {
            return Ok(id);
        }
        if counted.keys.len() >= MOST_FILES {
            return Err(WriteError::Io {
                path: self.root.path().join(OUT),
                source: std::io::Error::other("too many files; move some of them elsewhere"),
            });
        }
        // Before the record, so that whoever sees it finds them.
        if !files.is_empty() {
            rest.insert("files".to_owned(), self.put_files(&digest, files)?);
        }
        let number = counted.last + 1;
        let record = Record {
            kind: kind.to_owned(),
            id: id.clone(),
            key: key.to_owned(),
            to: to.clone(),
            rest,
        };
        let mut bytes = serde_json::to_vec_pretty(&record).unwrap_or_default();
        bytes.push(b'\n');
        let name = format!("{number:08}-{digest}.json");
        self.root.write_new(&Path::new(OUT).join(&name), &bytes)?;
        counted.last = number;
        counted.keys.insert(digest, name);
        Ok(id)
    }

    /// Returns what was said at a place, the newest last, with what edits made of it.
    pub(super) fn past(
        &self,
        place: &Address,
        limit: usize,
        before: Option<&str>,
    ) -> Result<Vec<PastMessage>, WriteError> {
        let mut files: Vec<(u64, PathBuf)> = Vec::new();
        for directory in [TAKEN, OUT] {
            let numbered = self.numbered(directory)?.into_iter();
            files.extend(numbered.map(|(n, name)| (n, Path::new(directory).join(name))));
        }
        files.sort_unstable_by(|one, other| other.cmp(one));
        let mut edits: HashMap<String, String> = HashMap::new();
        let mut said = Vec::new();
        let mut skip = before.is_some();
        for (_, path) in files.into_iter().take(MOST_OPENED) {
            if said.len() >= limit {
                break;
            }
            let Some((at, mut past)) = self.look(&path, &mut edits) else {
                continue;
            };
            if at.peer != place.peer || at.thread_id != place.thread_id {
                continue;
            }
            if skip {
                skip = before != Some(past.message_id.as_str());
                continue;
            }
            if let Some(edited) = edits.remove(&past.message_id) {
                past.text = edited;
            }
            said.push(past);
        }
        said.reverse();
        Ok(said)
    }

    /// Reads one file of the past: a message and its place. The newest edit of a message is kept aside.
    fn look(
        &self,
        path: &Path,
        edits: &mut HashMap<String, String>,
    ) -> Option<(Address, PastMessage)> {
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            ..ReadPolicy::inside(MOST_BYTES)
        };
        let bytes = self.root.read(path, &policy).ok()?.bytes;
        if path.starts_with(TAKEN) {
            let name = path.file_name()?.to_str()?;
            let name = name.split_once('-').map_or(name, |(_, name)| name);
            let note = MessageFile::read(&bytes, name.trim_end_matches(".json")).ok()?;
            let (sender, name) = note.who();
            let place = Address {
                channel: String::new(),
                account_id: None,
                peer: note.peer(),
                thread_id: note.thread.clone(),
            };
            let past = PastMessage {
                message_id: note.id.unwrap_or_default(),
                sender: name.or(sender),
                own: false,
                text: note.text,
                at: None,
            };
            return Some((place, past));
        }
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        let text = |name: &str| record.rest.get(name)?.as_str().map(str::to_owned);
        match record.kind.as_str() {
            "message" => {
                let past = PastMessage {
                    text: text("text").unwrap_or_default(),
                    message_id: record.id.clone(),
                    sender: None,
                    own: true,
                    at: None,
                };
                Some((record.to.clone(), past))
            }
            "edit" => {
                if let (Some(id), Some(text)) = (text("messageId"), text("text")) {
                    edits.entry(id).or_insert(text);
                }
                None
            }
            _ => None,
        }
    }

    /// Returns the files of a directory that have a number, with it.
    fn numbered(&self, directory: &str) -> Result<Vec<(u64, String)>, WriteError> {
        let names = self.names(directory)?.into_iter();
        Ok(names
            .filter_map(|name| {
                let (number, _) = name.split_once('-')?;
                Some((number.parse().ok()?, name))
            })
            .collect())
    }

    fn names(&self, directory: &str) -> Result<Vec<String>, WriteError> {
        let path = Path::new(directory);
        let listed = self.root.list(path, &LinkPolicy::Refuse, MOST_FILES);
        let listed = listed.map_err(|error| WriteError::Io {
            path: self.root.path().join(directory),
            source: std::io::Error::other(error.to_string()),
        })?;
        Ok(listed
            .into_iter()
            .filter(|entry| entry.kind != DirectoryEntryKind::Directory)
            .filter_map(|entry| entry.name.into_string().ok())
            .collect())
    }

    /// Returns the name of the record that has an id.
    pub(super) fn record_of(&self, id: &str) -> Option<String> {
        let digest = id.strip_prefix("out-")?;
        self.lock().keys.get(digest).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether a name is one of a message that is whole: hidden names and other endings are still being written.
fn is_message(name: &str) -> bool {
    name.strip_suffix(".json")
        .is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.'))
}

/// Returns the digest in the name of something that went out.
fn digest_in(name: &str) -> Option<&str> {
    name.strip_suffix(".json")?.split_once('-').map(|(_, d)| d)
}

/// Makes a short name of a key that can be the name of a file.
pub(super) fn digest(key: &str) -> String {
    hex::encode(&Sha256::digest(key)[..12])
}
