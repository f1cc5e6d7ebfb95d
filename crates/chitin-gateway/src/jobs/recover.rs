//! What was open when the last process ended is taken up again.

use super::{Job, JobKind};
use crate::gateway::{Gateway, Inner};
use crate::queue::busy::Marks;
use crate::route::bindings::{self, Bound};
use crate::subagents::announce::settle::Aftermath;
use crate::subagents::tree::{self, GOES, Leaving, RunNode, WAITS, WaitingRun};
use chitin_store::OpenItem;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Gateway {
    /// Takes up again what was open when the last process ended. To be called once, inside a runtime.
    pub fn recover(&self, open: Vec<OpenItem>) -> usize {
        let inner = &self.0;
        let mut jobs: Vec<(Job, Marks)> = Vec::new();
        let mut leaving: Vec<Leaving> = Vec::new();
        for item in open {
            let OpenItem { id, body, marks } = item;
            if id.starts_with(bindings::PREFIX) {
                if let Some(bound) = inner.understand::<Bound>(&id, body) {
                    inner.bindings.put(bound);
                }
            } else if id.starts_with(WAITS) {
                if let Some(waiting) = inner.understand::<WaitingRun>(&id, body) {
                    let key = waiting.child_key.clone();
                    inner.tree.lock().put(&key, RunNode::from(waiting));
                }
            } else if id.starts_with(GOES) {
                leaving.extend(inner.understand::<Leaving>(&id, body));
            } else if let Some(job) = inner.understand::<Job>(&id, body) {
                jobs.push((job, marks.into_iter().collect()));
            }
        }
        // All books are kept before the first turn runs.
        for (job, marks) in &jobs {
            let mut nodes = inner.tree.lock();
            match (job.kind, &job.about) {
                (JobKind::Subagent, _) => {
                    nodes.put_job(job, marks.contains(tree::STOPPED_QUIETLY));
                }
                (_, Some(about)) => nodes.put_told(about),
                (_, None) => {}
            }
        }
        let count = jobs.len();
        inner.open.fetch_add(count, Ordering::Relaxed);
        for session in leaving {
            inner.take_away(session);
        }
        for (job, marks) in jobs {
            // Handed in again, it is the same.
            inner.remember(&job.id);
            inner.put_later(job, marks);
        }
        inner.settle_ripe();
        count
    }
}

impl Inner {
    fn understand<T: DeserializeOwned>(&self, id: &str, body: Value) -> Option<T> {
        serde_json::from_value(body)
            .inspect_err(|error| {
                (self.parts.note)(&format!("could not parse the open job `{id}`: {error}"));
            })
            .ok()
    }

    /// Tells of runs that wait for nothing any more.
    fn settle_ripe(self: &Arc<Self>) {
        let mut after = Aftermath::default();
        let mut nodes = self.tree.lock();
        for key in nodes.ripe() {
            self.settle(&mut nodes, &key, &mut after);
        }
        let mut changes = after.changes.clone();
        changes.extend(after.jobs.iter().map(crate::jobs::log::opening));
        if !changes.is_empty() {
            self.parts.ledger.note(changes);
        }
        drop(nodes);
        self.open.fetch_add(after.jobs.len(), Ordering::Relaxed);
        self.go_on(after, Marks::new());
    }
}
