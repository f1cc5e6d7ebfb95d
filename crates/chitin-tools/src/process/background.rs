//! The commands in the background of all sessions of an agent, as far as untrusted text has to do with them.

use super::job::CommandProcess;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The commands in the background of all sessions of an agent.
#[derive(Debug, Default)]
pub struct BackgroundCommands(Mutex<Vec<Running>>);

#[derive(Debug)]
struct Running {
    command: Weak<CommandProcess>,
    /// When it began, as files are stamped.
    since: i64,
}

impl BackgroundCommands {
    /// Takes a command in that goes to the background, and began at a moment.
    pub(crate) fn add(&self, command: &Arc<CommandProcess>, since: i64) {
        let command = Arc::downgrade(command);
        self.running(|all| all.push(Running { command, since }));
    }

    /// Names one that is running and is not held for the sake of untrusted text: what it finds in files can steer it.
    pub fn unheld(&self) -> Option<String> {
        self.running(|all| {
            let mut commands = all.iter().filter_map(|one| one.command.upgrade());
            let first = commands.find(|command| !command.text.keeps_own);
            first.map(|command| super::tool::one_line(&command.command))
        })
    }

    /// Returns since when one is running that follows untrusted text: what changed since then may be its doing.
    pub fn held_since(&self) -> Option<i64> {
        self.running(|all| {
            let is_held = |one: &&Running| {
                let command = one.command.upgrade();
                command.is_some_and(|command| command.text.keeps_own)
            };
            all.iter().filter(is_held).map(|one| one.since).min()
        })
    }

    /// Forgets those that ended.
    fn running<R>(&self, work: impl FnOnce(&mut Vec<Running>) -> R) -> R {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = |command: Arc<CommandProcess>| command.ending().is_none();
        all.retain(|one| one.command.upgrade().is_some_and(is_running));
        work(&mut all)
    }
}
