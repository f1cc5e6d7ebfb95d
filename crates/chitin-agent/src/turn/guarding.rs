//! The workspace's rules at both ends of a turn: refused messages and refused replies.
//!
//! Refused text is not kept: the transcript says that something was refused, by which rule, and how long it was.

use super::conversation;
use super::event_sink::{EventSink, kind_of};
use super::resume::Resumed;
use super::session::SessionHandle;
use super::{Agent, Running, Steer, TurnError, TurnInput, TurnReport};
use crate::compat;
use crate::guard::{Admission, GuardedMessage, MessageOrigin, OriginKind, is_for_now, sentence};
use crate::journal::{RunEnded, RunError, RunStarted, RunSurroundings, TurnMoment};
use chitin_protocol::event::{RefusedPart, RuleRefusal, TurnEvent};
use chitin_protocol::message::{AssistantMessage, Block, Content, StopReason, Usage};
use chitin_protocol::transcript::EntryBody;
use chitin_store::Begin;
use futures_util::future::select_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// A reply that is held back until it is judged.
#[derive(Debug, Default)]
pub(crate) struct HeldReply {
    pub(crate) text: String,
    pub(crate) thinking: String,
}

/// What the rules say of a message.
#[derive(Debug)]
pub struct Judged(pub(super) Result<Admission, Box<RuleRefusal>>);

impl Agent {
    /// Lets the rules judge the message of a turn that has not begun. One that is refused only for now, because so many of its sender
    /// are under way, waits until it is its time or `cancel` stops it; `waits` is called when that begins.
    pub async fn judge(
        &self,
        input: &TurnInput,
        cancel: &CancellationToken,
        waits: impl FnOnce() + Send,
    ) -> Judged {
        let mut waits = Some(waits);
        loop {
            let bells = self.parts.guard.bells();
            // They are heard from here on: a message that is done before the next line rings for this one.
            let ringing = bells.iter().map(|bell| {
                let mut ringing = Box::pin(bell.notified());
                ringing.as_mut().enable();
                ringing
            });
            let ringing: Vec<_> = ringing.collect();
            match self.admit(input) {
                Err(refusal)
                    if is_for_now(&refusal) && !ringing.is_empty() && !cancel.is_cancelled() =>
                {
                    if let Some(waits) = waits.take() {
                        waits();
                    }
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => return Judged(Err(refusal)),
                        _ = select_all(ringing) => {}
                    }
                }
                judged => return Judged(judged),
            }
        }
    }

    /// Admits a message, or returns why not. If its turn began earlier, it is in the transcript already and goes on.
    pub(super) fn admit(&self, input: &TurnInput) -> Result<Admission, Box<RuleRefusal>> {
        let parts = &self.parts;
        let message = GuardedMessage {
            whole: &input.words,
            origin: &input.origin,
            agent: &parts.source.definition(),
            now_ms: parts.clock.now_ms(),
            joins: false,
        };
        parts.guard.admit(&message).or_else(|refusal| {
            let began = input.key.as_deref().is_some_and(|key| {
                let mut measure = conversation::measure(parts, Some(key));
                let branch = parts.store.read_measured(&input.session_key, &mut measure);
                let older = measure.end().turn;
                branch.is_ok_and(|branch| {
                    let records = [&branch.entries, &older];
                    let mut found = records
                        .iter()
                        .map(|records| Resumed::find(records, key, message.now_ms));
                    found.any(|found| found.is_some())
                })
            });
            if began {
                Ok(Admission::default())
            } else {
                Err(refusal)
            }
        })
    }

    /// Returns which of several messages the rules would refuse if one turn took them together, and not only for now. Nothing is
    /// counted.
    pub fn foresee_refusals(&self, messages: &[(&str, MessageOrigin)]) -> Vec<bool> {
        let parts = &self.parts;
        let agent = parts.source.definition();
        let now_ms = parts.clock.now_ms();
        let guarded: Vec<GuardedMessage<'_>> = messages
            .iter()
            .map(|(whole, origin)| GuardedMessage {
                whole,
                origin,
                agent: &agent,
                now_ms,
                joins: false,
            })
            .collect();
        let foreseen = parts.guard.foresee(&guarded);
        let is_final = |refusal: &RuleRefusal| !is_for_now(refusal);
        foreseen
            .iter()
            .map(|one| one.as_ref().is_some_and(is_final))
            .collect()
    }

    /// Tells whether the rules would refuse a message that takes the place of its session's running turn. Nothing is counted.
    pub fn foresee_refusal_of_interrupt(&self, text: &str, origin: &MessageOrigin) -> bool {
        let parts = &self.parts;
        let message = GuardedMessage {
            whole: text,
            origin,
            agent: &parts.source.definition(),
            now_ms: parts.clock.now_ms(),
            joins: true,
        };
        parts.guard.foresee(&[message]).iter().any(Option::is_some)
    }

    /// Ends a turn whose message was refused. No model is asked, and nothing of the message is kept.
    pub(super) async fn refuse(
        &self,
        input: &TurnInput,
        by: RuleRefusal,
        sink: EventSink,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let parts = &self.parts;
        let candidate = parts.models.first().ok_or(TurnError::NoModel)?;
        let now_ms = parts.clock.now_ms();
        let now = crate::clock::iso(now_ms);
        let begin = Begin {
            workspace: &parts.workspace.to_string_lossy(),
            now: &now,
            now_ms,
            // A refused message starts no new session either.
            new_session: false,
        };
        let mut measure = conversation::measure(parts, None);
        let key = &input.session_key;
        let mut session = SessionHandle::open(parts, key, &begin, cancel, &mut measure).await?;
        let open = session.get()?;
        let (session_id, transcript) = (open.header().id.clone(), open.transcript());
        let run_id = parts.clock.unique();
        sink.tell(TurnEvent::TurnStarted {
            run_id: run_id.clone(),
            session_key: input.session_key.clone(),
            session_id: session_id.clone(),
            model: candidate.full_name(),
            contract: parts.contract.name.to_owned(),
        })
        .await;
        let part = RefusedPart::Message;
        let length = length_of(&input.origin, &input.words);
        let record = record(part, &by, length, input.key.as_deref(), now_ms);
        for entry in session.append(vec![record], now).await? {
            sink.tell(TurnEvent::Stored {
                kind: kind_of(&entry),
                entry_id: entry.id,
            })
            .await;
        }
        let text = sentence(part, &by);
        let mut journal = (parts.journal)();
        if !journal.is_off() {
            journal.observe(TurnMoment::RunStarted(&RunStarted {
                run_id: &run_id,
                session_id: &session_id,
                session_key: &input.session_key,
                agent_id: &parts.agent_id,
                workspace: &parts.workspace,
                session_file: Some(&transcript),
                provider: candidate.model.provider(),
                model: candidate.model.name(),
                api: candidate.model.api(),
                thinking: candidate.thinking.as_deref(),
                tools: &self.specs,
                trigger: input.occasion.trigger.as_str(),
                channel: input.occasion.channel.as_deref(),
                contract: parts.contract.name,
                surroundings: &RunSurroundings {
                    version: &parts.surroundings.version,
                    invocation: &parts.surroundings.invocation,
                    ..RunSurroundings::default()
                },
            }));
            journal.observe(TurnMoment::Refused { part, by: &by });
            journal.observe(TurnMoment::RunEnded(&RunEnded {
                stop_reason: Some(&StopReason::Error),
                stopped: None,
                error: Some(RunError {
                    source: "permissions",
                    message: &text,
                }),
                prompt: "",
                messages: &[],
                spending: None,
            }));
        }
        sink.tell(TurnEvent::Refused {
            part,
            by: by.clone(),
            text: text.clone(),
            key: input.key.clone(),
        })
        .await;
        sink.tell(TurnEvent::TurnFinished {
            stop_reason: StopReason::Error,
            text: String::new(),
            usage: Usage::default(),
            tokens_unknown: false,
            cost_unknown: false,
            calls: 0,
            context_tokens: None,
            context_window: candidate.context_window,
            error: Some(text.clone()),
        })
        .await;
        Ok(TurnReport {
            stop_reason: StopReason::Error,
            text: String::new(),
            usage: Usage::default(),
            error: Some(text),
            refused: Some((part, by)),
            origins: Vec::new(),
        })
    }
}

impl Running<'_> {
    /// Judges a reply. One that passes is reported if it was held back; otherwise a refusal is reported and
    /// kept, and none of its tool calls run.
    pub(super) async fn judged(
        &mut self,
        mut answer: AssistantMessage,
    ) -> (AssistantMessage, Option<EntryBody>) {
        let guard = &self.agent.parts.guard;
        let held = self.judgement.held.take();
        let text = answer.content.text();
        let streamed = held.as_ref().map_or("", |held| held.text.as_str());
        let refusal = guard.reply(&text).or_else(|| guard.reply(streamed));
        let Some(by) = refusal else {
            if let Some(held) = held {
                self.tell_held(held, &mut answer).await;
            }
            return (answer, None);
        };
        let part = RefusedPart::Reply;
        let now_ms = self.agent.parts.clock.now_ms();
        let length = text.chars().count().max(streamed.chars().count());
        let record = record(part, &by, length, None, now_ms);
        let said = sentence(part, &by);
        answer.content = Content::Blocks(vec![Block::text(said.clone())]);
        // The reply as the provider stored it is not what this conversation holds.
        answer.response_id = None;
        if !matches!(
            answer.stop_reason,
            Some(StopReason::Aborted | StopReason::Error)
        ) {
            answer.stop_reason = Some(StopReason::Stop);
        }
        self.open_journal();
        self.journal.observe(TurnMoment::Refused { part, by: &by });
        self.sink
            .tell(TurnEvent::Refused {
                part,
                by: by.clone(),
                text: said.clone(),
                key: None,
            })
            .await;
        self.sink.tell(TurnEvent::TextDelta { delta: said }).await;
        self.judgement.refused = Some((part, by));
        (answer, Some(record))
    }

    /// Reports a reply that was held back and passed. Thoughts are judged too: refused ones are not shown.
    async fn tell_held(&self, held: HeldReply, answer: &mut AssistantMessage) {
        if !held.thinking.is_empty() {
            if self.agent.parts.guard.reply(&held.thinking).is_none() {
                let delta = held.thinking;
                self.sink.tell(TurnEvent::ThinkingDelta { delta }).await;
            } else if answer.tool_calls().next().is_none()
                && let Content::Blocks(blocks) = &mut answer.content
            {
                // A provider wants its thoughts back only together with calls that are answered next.
                blocks.retain(|block| !matches!(block, Block::Thinking(_)));
            }
        }
        if !held.text.is_empty() {
            let delta = held.text;
            self.sink.tell(TurnEvent::TextDelta { delta }).await;
        }
    }

    /// Judges a message that arrived during the turn; returns a record if it is refused.
    pub(super) async fn judge_steered(
        &mut self,
        steer: &Steer,
        input: &TurnInput,
    ) -> Option<EntryBody> {
        let now_ms = self.agent.parts.clock.now_ms();
        let origin = MessageOrigin {
            kind: match steer.provenance {
                Some(_) => OriginKind::Internal,
                None => input.origin.kind,
            },
            written: steer.written.clone().into_iter().collect(),
            ..input.origin.clone()
        };
        let message = GuardedMessage {
            whole: &steer.words,
            origin: &origin,
            agent: &self.identity.definition,
            now_ms,
            joins: true,
        };
        let by = self.agent.parts.guard.admit(&message).err()?;
        let part = RefusedPart::Message;
        let text = sentence(part, &by);
        self.open_journal();
        self.journal.observe(TurnMoment::Refused { part, by: &by });
        self.sink.note(&text).await;
        let length = length_of(&origin, &steer.words);
        let record = record(part, &by, length, steer.key.as_deref(), now_ms);
        self.sink
            .tell(TurnEvent::Refused {
                part,
                by: *by,
                text,
                key: steer.key.clone(),
            })
            .await;
        Some(record)
    }
}

/// Returns how many characters were written.
fn length_of(origin: &MessageOrigin, words: &str) -> usize {
    match origin.written.as_slice() {
        [] => words.chars().count(),
        written => written.iter().map(|text| text.chars().count()).sum(),
    }
}

/// Makes the record of a refusal, which is not sent to any model.
fn record(
    part: RefusedPart,
    by: &RuleRefusal,
    characters: usize,
    key: Option<&str>,
    now_ms: i64,
) -> EntryBody {
    let mut data = json!({"timestamp": now_ms, "part": part, "characters": characters});
    if let (Some(data), serde_json::Value::Object(by)) = (data.as_object_mut(), json!(by)) {
        data.extend(by);
        if let Some(key) = key {
            data.insert("key".to_owned(), key.into());
        }
    }
    EntryBody::Custom {
        custom_type: compat::REFUSED_RECORD.to_owned(),
        data: Some(data),
    }
}
