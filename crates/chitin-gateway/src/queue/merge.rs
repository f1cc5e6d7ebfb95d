//! Several messages that waited become one turn.

use super::busy::Marks;
use super::{Batch, QueuedMessage};
use crate::events::EventKind;
use crate::gateway::Inner;
use crate::jobs::Job;
use crate::jobs::log::opening;
use crate::turns::input::origin;
use crate::turns::panics;
use chitin_protocol::origin::add_origins;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Inner {
    /// Runs several messages as one turn. Should putting them together panic, they stay in the job log.
    pub(crate) async fn run_merged(self: &Arc<Self>, key: &str, batch: Batch<Job>) {
        match panics::caught(self.merged(batch)).await {
            Ok(Some(job)) => self.run_caught(job, Marks::new()).await,
            Ok(None) => {}
            Err(panic) => (self.parts.note)(&format!(
                "Internal error: could not merge messages in `{key}` ({panic}). They are kept and run after the next start."
            )),
        }
    }

    /// Takes out of a batch what the rules of the workspace would refuse. Each of these gets a turn of its own afterwards, so
    /// that its sender learns its fate and the others are not refused with it.
    async fn set_apart(&self, batch: &mut Batch<Job>) {
        let [first, _, ..] = batch.items.as_slice() else {
            return;
        };
        // Whatever is wrong with the agent is said when the turn begins.
        let Ok(agent) = self.agent_for(first).await else {
            return;
        };
        let messages = batch.items.iter().map(|job| (job.words(), origin(job)));
        let refused = agent.foresee_refusals(&messages.collect::<Vec<_>>());
        if !refused.contains(&true) {
            return;
        }
        let key = first.session_key.clone();
        let mut busy = self.busy.lock();
        let session = busy.entry(key).or_default();
        let items = std::mem::take(&mut batch.items).into_iter().zip(refused);
        for (job, is_refused) in items {
            if is_refused {
                session.first.push_back((job, Marks::new()));
            } else {
                batch.items.push(job);
            }
        }
    }

    /// Leaves only messages in a batch that are tried again for the same time: a turn of an impatient one would fail the others with it.
    /// From the first that differs on, each gets a turn of its own afterwards, so that they stay in order.
    fn keep_equally_patient(&self, batch: &mut Batch<Job>) {
        let Some(first) = batch.items.first() else {
            return;
        };
        let (key, patience) = (first.session_key.clone(), first.retry_ms);
        let other = batch.items.iter().position(|job| job.retry_ms != patience);
        let Some(others) = other.map(|at| batch.items.split_off(at)) else {
            return;
        };
        let mut busy = self.busy.lock();
        let session = busy.entry(key).or_default();
        session
            .first
            .extend(others.into_iter().map(|job| (job, Marks::new())));
    }

    /// Makes one job of several. They leave the ledger as the one enters it.
    async fn merged(&self, mut batch: Batch<Job>) -> Option<Job> {
        self.set_apart(&mut batch).await;
        self.keep_equally_patient(&mut batch);
        let words = batch.prompt();
        let mut origins = Vec::new();
        for job in &batch.items {
            add_origins(&mut origins, &job.origins);
        }
        let written: Vec<String> = batch.items.iter().flat_map(Job::written).collect();
        let mut jobs = batch.items.into_iter();
        let first = jobs.next()?;
        let others: Vec<Job> = jobs.collect();
        if others.is_empty() {
            return Some(Job {
                words,
                written,
                origins,
                ..first
            });
        }
        let last = others.last().unwrap_or(&first);
        let job = Job {
            id: self.parts.clock.unique(),
            message_id: last.message_id.clone(),
            images: std::iter::once(&first)
                .chain(&others)
                .flat_map(|job| job.images.iter().cloned())
                .collect(),
            words,
            written,
            origins,
            is_answerable: first.is_answerable || others.iter().any(|job| job.is_answerable),
            ..first.clone()
        };
        // Otherwise the next process merges them.
        let _here = self.turnstile.pass().await?;
        let mut changes = vec![opening(&job)];
        let gone = || std::iter::once(&first).chain(&others);
        changes.extend(gone().map(|one| self.merging(one, &job.id)));
        if let Err(error) = self.write(changes).await {
            (self.parts.note)(&format!("could not merge messages: {error}"));
            // Nothing is lost: they are still in the ledger, one by one.
            let mut busy = self.busy.lock();
            let session = busy.entry(first.session_key.clone()).or_default();
            for job in gone() {
                session.first.push_back((job.clone(), Marks::new()));
            }
            return None;
        }
        let count = others.len();
        self.open.fetch_sub(count, Ordering::Relaxed);
        for one in gone() {
            self.tell(&one.session_key, &one.id, || EventKind::Merged {
                into: job.id.clone(),
            });
            self.hub.follow(&one.id, &job.id);
        }
        Some(job)
    }
}
