//! Where the words of a turn go: silent ones nowhere, the others in pieces to the place that the job names.
//! `listen.rs` says when.

use super::blocks::Blocks;
use super::live::Live;
use super::reply_to::{Reply, ReplyFilter};
use super::{preview, sent};
use crate::events::EventKind;
use crate::gateway::Inner;
use crate::jobs::{Job, JobKind, JobOutcome, JobStatus, RefusedOutcome};
use crate::queue::busy::Marks;
use crate::surface::{Address, OutgoingMessage, Surface, SurfaceError};
use crate::threads::{self, AnswerThread};
use crate::turns::outage::TurnFailure;
use chitin_agent::turn::Fault;
use chitin_text::TextChunk;
use chitin_text::previews::{self, ReplyStreaming};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::time::Instant;

/// The words of one job on their way.
pub(crate) struct Delivery {
    pub(crate) inner: Arc<Inner>,
    pub(crate) job: Arc<Job>,
    /// Which pieces are out already.
    pub(crate) marks: Marks,
    pub(crate) to: Option<(Arc<dyn Surface>, Address)>,
    /// Which answers point at the message that began the turn.
    replies: Option<ReplyFilter>,
    /// The answer that is being written.
    pub(crate) writing: Writing,
    /// How many blocks of it went out.
    block: usize,
    /// Which answer of the turn it is: one more than the last that was whole.
    pub(crate) answer: u32,
    /// Whether the thread that the words stand in is still to be opened.
    opens: bool,
    /// Whether anything went out.
    said: bool,
    /// When it is shown again that somebody types.
    pub(crate) typing: Option<Instant>,
    pub(crate) began: Instant,
    /// Whether the turn did anything yet: a word, a thought, a call.
    pub(crate) reacted: Arc<AtomicBool>,
    /// Messages that the rules of the workspace refused, and the sentence for their senders.
    pub(crate) refusals: Vec<(String, RefusedOutcome, String)>,
}

/// An answer that is being written.
#[derive(Default)]
pub(crate) enum Writing {
    /// Nothing of it was heard.
    #[default]
    Unheard,
    /// It goes out when it is whole.
    Whole,
    /// It goes out in blocks.
    Blocks(Blocks),
    /// It is seen while it is written.
    Live(Box<Live>),
    /// It goes out when it is whole, and the steps of the work are seen until then.
    Progress(Box<Live>, Vec<String>),
}

impl Delivery {
    pub(crate) fn new(inner: Arc<Inner>, job: Arc<Job>, marks: Marks) -> Self {
        let to = job.deliver.as_ref().and_then(|address| {
            let surface = inner.parts.surfaces.get(&address.channel)?;
            let opened = threads::opened_before(&marks);
            Some((
                Arc::clone(surface),
                opened.unwrap_or_else(|| address.clone()),
            ))
        });
        let replies = to.as_ref().map(|(_, to)| inner.reply_filter(to));
        Self {
            replies,
            writing: Writing::Unheard,
            block: 0,
            answer: 0,
            opens: matches!(job.answer_thread, Some(AnswerThread::Open { .. }))
                && to.as_ref().map(|(_, to)| to) == job.deliver.as_ref(),
            said: !marks.is_empty(),
            typing: None,
            began: Instant::now(),
            reacted: Arc::default(),
            refusals: Vec::new(),
            inner,
            job,
            marks,
            to,
        }
    }

    /// Returns what says whether the turn did anything yet.
    pub(crate) fn reacted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.reacted)
    }

    /// Returns how a message ended that went into the turn: as the turn did, unless a rule refused it.
    pub(crate) fn outcome_of(&self, job_id: &str, outcome: &JobOutcome) -> JobOutcome {
        let mut refusals = self.refusals.iter();
        match refusals.find(|(key, ..)| key == job_id) {
            Some((_, refused, text)) => JobOutcome {
                status: JobStatus::Failed,
                text: String::new(),
                error: Some(text.clone()),
                input_tokens: 0,
                output_tokens: 0,
                runtime_ms: outcome.runtime_ms,
                origins: Vec::new(),
                refused: Some(Box::new(refused.clone())),
            },
            None => outcome.clone(),
        }
    }

    /// Returns which pieces are out.
    pub(crate) fn into_marks(self) -> Marks {
        self.marks
    }

    /// Hears some of an answer; blocks of it go out where that is wanted.
    pub(crate) async fn hear(&mut self, delta: &str) {
        let Some((surface, address)) = &self.to else {
            return;
        };
        if matches!(self.writing, Writing::Unheard) {
            self.writing = match preview::showing(&self.inner, &**surface, address) {
                ReplyStreaming::Whole | ReplyStreaming::Progress => Writing::Whole,
                ReplyStreaming::Blocks => Blocks::begin(&self.inner, &**surface, address)
                    .map_or(Writing::Whole, Writing::Blocks),
                // The same words may have been said by a tool, which shows only when all are there.
                ReplyStreaming::Live { .. } if self.a_tool_spoke() => Writing::Whole,
                ReplyStreaming::Live { step } => {
                    let (part, surface) = (self.answer.to_string(), Arc::clone(surface));
                    Writing::Live(Box::new(self.draft(&part, &*surface, step)))
                }
            };
        }
        let now = self.now();
        let ready = match &mut self.writing {
            Writing::Unheard | Writing::Whole | Writing::Progress(..) => Vec::new(),
            Writing::Blocks(blocks) => blocks.hear(delta, now),
            Writing::Live(live) => {
                live.hear(delta, now);
                Vec::new()
            }
        };
        for block in ready {
            self.send_block(&block).await;
        }
    }

    /// Hears of a step of the work, which is shown where that is wanted.
    pub(crate) fn step(&mut self, name: &str) {
        let now = self.now();
        if matches!(self.writing, Writing::Unheard) {
            let Some((surface, address)) = self.to.clone() else {
                return;
            };
            if preview::showing(&self.inner, &*surface, &address) != ReplyStreaming::Progress {
                return;
            }
            let part = self.answer.to_string();
            let live = self.draft(&part, &*surface, 1);
            self.writing = Writing::Progress(Box::new(live), Vec::new());
        }
        if let Writing::Progress(live, steps) = &mut self.writing {
            steps.push(name.to_owned());
            live.show_instead(previews::progress(steps), now);
        }
    }

    /// Tells whether a tool of the turn said anything where people read it.
    fn a_tool_spoke(&self) -> bool {
        let before = self.marks.iter().any(|mark| mark.starts_with(sent::SAID));
        before || self.inner.a_tool_spoke(&self.job.session_key)
    }

    /// One answer is whole. What of it went out in blocks is not said again.
    pub(crate) async fn answered(&mut self, index: u32, text: &str) {
        let part = self.answer.to_string();
        let left = match std::mem::take(&mut self.writing) {
            Writing::Live(live) | Writing::Progress(live, _) => {
                self.say(&part, text, Some(*live)).await;
                None
            }
            Writing::Blocks(blocks) => {
                let left = blocks.end();
                if left.is_none() {
                    self.say(&part, text, None).await;
                }
                left
            }
            Writing::Unheard | Writing::Whole => {
                self.say(&part, text, None).await;
                None
            }
        };
        if let Some(left) = left {
            for block in left {
                self.send_block(&block).await;
            }
            // After a crash this answer counts as said, whole.
            self.note(format!("{part}:all"));
        }
        self.block = 0;
        self.answer = index + 1;
    }

    /// A rule of the workspace refused a message. Its sender is told, where one waits for a reply.
    pub(crate) async fn refused(&mut self, key: &str, text: &str) {
        if matches!(self.job.kind, JobKind::Message | JobKind::SessionSend) {
            self.say(&format!("refused-{key}"), text, None).await;
        }
    }

    pub(crate) async fn send_block(&mut self, block: &str) {
        // No two blocks of a turn have the same name.
        let part = format!("{}-block-{}", self.answer, self.block);
        self.block += 1;
        self.pieces(&part, block, None).await;
    }

    /// Tells whether only the last answer is for people: nobody follows a turn that a clock began.
    pub(crate) fn waits_for_the_end(&self) -> bool {
        matches!(self.job.kind, JobKind::Heartbeat | JobKind::Cron)
    }

    /// The turn is over. A person who waits hears when nothing came of it. Returns what was to be said at the end of a turn
    /// that a clock began.
    pub(crate) async fn end(&mut self, outcome: &JobOutcome) -> Option<String> {
        if self.waits_for_the_end() {
            let words = match self.job.kind {
                JobKind::Heartbeat => self.inner.beat_words(&self.job, &outcome.text),
                _ => self.inner.shown(&outcome.text),
            };
            let words = words.filter(|_| outcome.status == JobStatus::Ok)?;
            self.pieces("end", &words, None).await;
            return Some(words);
        }
        // An answer that was broken off stays as far as it was seen.
        match std::mem::take(&mut self.writing) {
            Writing::Live(live) if live.is_out() => {
                let (part, text) = (self.answer.to_string(), live.so_far().to_owned());
                self.say(&part, &text, Some(*live)).await;
            }
            // The work is over, and nothing came of it.
            Writing::Progress(live, _) => self.take_back(*live).await,
            Writing::Live(_) | Writing::Unheard | Writing::Whole | Writing::Blocks(_) => {}
        }
        let waits = match self.job.kind {
            JobKind::Message | JobKind::SessionSend => true,
            // Nobody else tells people of a child that posts its own reply.
            JobKind::Subagent => {
                let rules = &self.inner.parts.contract.runtime.subagents;
                let child = self.job.child.as_deref();
                child.is_some_and(|run| !run.expects_completion && run.posts_own_reply(rules))
            }
            JobKind::Announce | JobKind::Heartbeat | JobKind::Cron => false,
        };
        match (&outcome.status, &outcome.error) {
            (JobStatus::Failed, Some(error)) if waits && outcome.refused.is_none() => {
                let text = format!("This did not work: {error}");
                self.say("error", &text, None).await;
            }
            (JobStatus::TimedOut, _) if waits && !self.said => {
                self.say("error", "This took too long and was stopped.", None)
                    .await;
            }
            _ => {}
        }
        None
    }

    /// Tells whether parts of an answer went out that was not completed: another attempt would repeat them.
    pub(crate) const fn is_cut_short(&self) -> bool {
        self.block > 0
    }

    /// The turn is tried again. What was seen of an answer that broke off is taken back, and a person who waits hears of it once.
    pub(crate) async fn delayed(&mut self, failure: &TurnFailure) {
        match std::mem::take(&mut self.writing) {
            Writing::Live(live) | Writing::Progress(live, _) => self.take_back(*live).await,
            Writing::Unheard | Writing::Whole | Writing::Blocks(_) => {}
        }
        // The machine may be well again in a moment; a model was asked several times already.
        let waits = match self.job.kind {
            JobKind::Message | JobKind::SessionSend => failure.fault == Fault::Model,
            JobKind::Subagent | JobKind::Announce | JobKind::Heartbeat | JobKind::Cron => false,
        };
        if waits && !self.is_out("delayed", 0) {
            let reason = &failure.text;
            let text =
                format!("The reply is delayed: {reason}. Your message is kept and tried again.");
            self.say("delayed", &text, None).await;
        }
    }

    /// Sends what people see of a text. Messages that show some of it already are made to show the whole.
    async fn say(&mut self, part: &str, text: &str, live: Option<Live>) {
        if self.marks.contains(&format!("{part}:all")) {
            return;
        }
        match self.inner.shown(text) {
            Some(text) => self.pieces(part, &text, live).await,
            None => {
                if let Some(live) = live {
                    self.take_back(live).await;
                }
            }
        }
    }

    /// Sends a text, piece by piece.
    async fn pieces(&mut self, part: &str, text: &str, live: Option<Live>) {
        let Some((surface, address)) = self.to.clone() else {
            return;
        };
        self.said = true;
        let live = match live {
            Some(live) => live,
            None => self.draft(part, &*surface, 1),
        };
        let heard = sent::said(&address, text);
        if self.marks.contains(&heard) || self.inner.was_said(&self.job.session_key, &heard) {
            return self.take_back(live).await;
        }
        if let Some((surface, address)) = self.place().await {
            let pieces = self.inner.cut(&*surface, &address, text);
            self.finish(part, live, pieces).await;
        }
    }

    /// Returns where words go. The thread that they stand in is opened if need be.
    pub(crate) async fn place(&mut self) -> Option<(Arc<dyn Surface>, Address)> {
        if std::mem::take(&mut self.opens)
            && let Some((surface, beside)) = self.to.take()
        {
            let address = self.inner.open_thread(&self.job, &surface, &beside).await;
            // What stands in a thread under a message need not point at it.
            self.replies = None;
            self.to = Some((surface, address));
        }
        self.to.clone()
    }

    /// Makes a message of a piece.
    pub(crate) fn outgoing(
        &mut self,
        part: &str,
        piece: usize,
        text: &TextChunk,
    ) -> OutgoingMessage {
        OutgoingMessage {
            key: format!("{}:{part}:{piece}", self.job.id),
            plain: text.plain.clone().unwrap_or_else(|| text.body.clone()),
            text: text.body.clone(),
            reply_to: self.reply_to(),
            ..OutgoingMessage::default()
        }
    }

    /// Tells whether a piece is out as it should be.
    pub(crate) fn is_out(&self, part: &str, piece: usize) -> bool {
        self.marks.contains(&format!("{part}:{piece}"))
    }

    /// Remembers and tells what became of a piece.
    pub(crate) fn told(
        &mut self,
        part: &str,
        piece: usize,
        address: &Address,
        text: TextChunk,
        done: Result<String, SurfaceError>,
    ) {
        let to = address.to_string();
        let what = match done {
            Ok(message_id) => {
                self.note(format!("{part}:{piece}"));
                EventKind::Delivered {
                    to,
                    message_id,
                    text: text.plain.unwrap_or(text.body),
                }
            }
            Err(error) => {
                let note = &self.inner.parts.note;
                note(&format!("could not deliver a message to `{to}`: {error}"));
                let reason = error.to_string();
                EventKind::NotDelivered { to, reason }
            }
        };
        self.inner
            .tell(&self.job.session_key, &self.job.id, || what);
    }

    /// Returns the message that the next piece points at.
    pub(crate) fn reply_to(&mut self) -> Option<String> {
        let reply = Reply {
            to: self.job.message_id.as_deref(),
            explicit: false,
            notice: false,
        };
        let filter = self.replies.as_mut()?;
        filter.apply(reply).map(str::to_owned)
    }
}
