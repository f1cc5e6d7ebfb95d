//! From the operating system's events to what they mean for a workspace.

use super::change::Hint;
use super::inbox::Inbox;
use super::scope::Scope;
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{Event, EventKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Listens on the operating system's thread: sorts, and leaves the work to ours.
#[derive(Debug)]
pub(super) struct Ear {
    pub(super) root: PathBuf,
    pub(super) scope: Arc<Scope>,
    pub(super) inbox: Arc<Inbox>,
}

/// What an event says of one path.
#[derive(Debug, Clone, Copy)]
struct Meaning {
    hint: Hint,
    /// Whether another thing may stand at the path now, so that watches have to follow.
    moves: bool,
}

impl notify::EventHandler for Ear {
    fn handle_event(&mut self, event: notify::Result<Event>) {
        match event {
            Ok(event) if event.need_rescan() => self.lose(),
            Ok(event) => {
                for (index, path) in event.paths.iter().enumerate() {
                    if let Some(meaning) = meaning(event.kind, index) {
                        self.hear(path, meaning);
                    }
                }
            }
            Err(_) => self.lose(),
        }
    }
}

impl Ear {
    /// Events were lost, so both the caller and the watches start over.
    fn lose(&self) {
        self.inbox.rescan();
        self.inbox.follow_root();
    }

    fn hear(&self, path: &Path, meaning: Meaning) {
        match path.strip_prefix(&self.root) {
            Ok(relative) if !relative.as_os_str().is_empty() => {
                if meaning.moves && self.scope.follows(relative) {
                    self.inbox.follow(relative);
                }
                if self.scope.reports(relative) {
                    self.inbox.touch(relative, meaning.hint);
                }
            }
            Ok(_) if meaning.moves => self.inbox.follow_root(),
            // The permissions of the root decide what a load can see.
            Ok(_) => self.inbox.rescan(),
            // Its neighbours are nobody's business; what stands above it is.
            Err(_) if meaning.moves && self.root.starts_with(path) => self.inbox.follow_root(),
            Err(_) => {}
        }
    }
}

fn meaning(kind: EventKind, index: usize) -> Option<Meaning> {
    let moves = |hint| Some(Meaning { hint, moves: true });
    let stays = Some(Meaning {
        hint: Hint::Written,
        moves: false,
    });
    match kind {
        EventKind::Create(_) => moves(Hint::Appeared),
        EventKind::Remove(_) => moves(Hint::Gone),
        EventKind::Modify(ModifyKind::Name(mode)) => match mode {
            RenameMode::From => moves(Hint::Gone),
            RenameMode::Both if index == 0 => moves(Hint::Gone),
            RenameMode::To | RenameMode::Both => moves(Hint::Appeared),
            RenameMode::Any | RenameMode::Other => moves(Hint::Written),
        },
        EventKind::Modify(
            ModifyKind::Any | ModifyKind::Data(_) | ModifyKind::Metadata(_) | ModifyKind::Other,
        )
        // A program that wrote through a memory map is only heard when it closes the file.
        | EventKind::Access(AccessKind::Close(AccessMode::Write)) => stays,
        // Reading is no change; our own loads would wake us otherwise.
        EventKind::Access(_) => None,
        EventKind::Any | EventKind::Other => moves(Hint::Written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::WatchOptions;
    use crate::watch::inbox::Task;
    use notify::EventHandler as _;
    use notify::event::Flag;
    use std::time::{Duration, Instant};

    #[test]
    fn lost_events_start_everything_over() {
        let options = WatchOptions {
            debounce: Duration::ZERO,
            ..WatchOptions::default()
        };
        let far = Instant::now() + Duration::from_mins(1);
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        for event in [Ok(overflow), Err(notify::Error::generic("broken"))] {
            let inbox = Arc::new(Inbox::new(&options));
            let mut ear = Ear {
                root: "/a".into(),
                scope: Arc::new(Scope::new(&[]).unwrap()),
                inbox: inbox.clone(),
            };
            ear.handle_event(event);
            assert!(matches!(inbox.wait(far), Task::Deliver(change) if change.rescan));
            assert!(matches!(inbox.wait(far), Task::FollowRoot));
        }
    }
}
