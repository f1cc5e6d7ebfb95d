//! From an event to the gateway: each message once, with names, files and whether it is for us.

use crate::account::{Account, Me};
use crate::compat::ID;
use crate::event::{Happened, SlackChannelKind, SlackEvent, SlackMessageEvent};
use crate::mrkdwn;
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::{Addressed, Gateway, IncomingMessage, IntakeRefusal, Noticed};
use chitin_protocol::session_key::ChatType;
use std::time::Duration;

/// How long it may take to take a message in, with all its files.
const LONGEST: Duration = Duration::from_mins(3);

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceivedEvent {
    /// It is dealt with: taken in and on the disk, or not for us. Slack need not tell it again.
    Settled,
    /// It may be dealt with later: Slack is to tell it again.
    Later,
}

impl Account {
    /// Hears an event. The same one told again, or the same message in another event, is heard once.
    pub(crate) async fn hear(&self, gateway: &Gateway, happened: &Happened) -> ReceivedEvent {
        let event_id = happened.event_id.as_deref();
        if event_id.is_some_and(|id| self.seen.knows(id)) {
            return ReceivedEvent::Settled;
        }
        let hearing = self.hear_once(gateway, happened);
        let heard = tokio::time::timeout(LONGEST, hearing).await;
        let heard = heard.unwrap_or_else(|_| {
            self.complain("a message could not be taken in within minutes");
            ReceivedEvent::Later
        });
        if let (ReceivedEvent::Settled, Some(id)) = (heard, event_id) {
            self.seen.put(id, ());
        }
        heard
    }

    async fn hear_once(&self, gateway: &Gateway, happened: &Happened) -> ReceivedEvent {
        let message = match &happened.event {
            SlackEvent::Message(message) => message,
            SlackEvent::Revoked => {
                let hint = "Install the app again and use the new token";
                let reason = "The app was taken out of the workspace.".to_owned();
                self.fail(reason, Some(hint.to_owned()));
                return ReceivedEvent::Settled;
            }
            SlackEvent::Other(_) => return ReceivedEvent::Settled,
        };
        let name = message_name(&message.channel, &message.ts);
        if self.seen.knows(&name) {
            return ReceivedEvent::Settled;
        }
        let me = match self.me().await {
            Ok(me) => me,
            Err(error) => {
                self.complain(&error.reason());
                return ReceivedEvent::Later;
            }
        };
        if is_own(message, me) {
            return ReceivedEvent::Settled;
        }
        let noticed = self.noticed(message, me, happened.team_id.as_deref()).await;
        match gateway.notice(noticed).await {
            Ok(_) => {}
            Err(refusal) => {
                self.complain(&format!("a message was not taken in: {refusal}"));
                if may_pass(&refusal) {
                    return ReceivedEvent::Later;
                }
            }
        }
        self.seen.put(name, ());
        ReceivedEvent::Settled
    }

    async fn noticed(&self, message: &SlackMessageEvent, me: &Me, team: Option<&str>) -> Noticed {
        let kind = match message.kind {
            Some(kind) => kind,
            None => self.kind_of(&message.channel).await,
        };
        let (chat, peer) = match (kind, &message.user) {
            (SlackChannelKind::Direct, Some(user)) => {
                self.direct.put(user.clone(), message.channel.clone());
                (ChatType::Direct, user)
            }
            (SlackChannelKind::Direct, None) => (ChatType::Direct, &message.channel),
            (SlackChannelKind::Group, _) => (ChatType::Group, &message.channel),
            (SlackChannelKind::Channel, _) => (ChatType::Channel, &message.channel),
        };
        let person = match &message.user {
            Some(user) => self.person(user).await,
            None => None,
        };
        let room = match kind {
            SlackChannelKind::Channel => self.room(&message.channel).await,
            SlackChannelKind::Direct | SlackChannelKind::Group => None,
        };
        let room_name = room.and_then(|room| room.name.clone());
        let (images, files) = self.look_at(&message.files).await;
        let mut sender_names = Vec::new();
        if let Some(person) = &person {
            // What somebody calls themselves is no name to trust: only what the workspace gave them counts.
            sender_names.extend(person.handle.clone());
            sender_names.extend(person.email.clone());
        }
        let is_program = person.as_ref().is_some_and(|person| person.is_program);
        Noticed {
            incoming: IncomingMessage {
                inbound: Inbound {
                    channel: ID.to_owned(),
                    account_id: Some(self.id.clone()),
                    peer: Some(Peer {
                        kind: chat,
                        id: peer.clone(),
                    }),
                    team_id: team.map(str::to_owned).or_else(|| me.team_id.clone()),
                    thread_id: message.thread().map(str::to_owned),
                    sender_id: message.user.clone(),
                    ..Inbound::default()
                },
                text: self.readable(&message.text, Some(&me.user_id)).await,
                images,
                message_id: Some(message.ts.clone()),
                sender_name: person.map(|person| person.shown.clone()),
                ..IncomingMessage::default()
            },
            addressed: self.addressed(message, me, kind).await,
            from_program: message.bot_id.is_some() || is_program,
            sender_names,
            room_names: room_name.clone().into_iter().collect(),
            room_name: room_name.map(|name| format!("#{name}")),
            guild_names: me.team.clone().into_iter().collect(),
            files,
        }
    }

    async fn addressed(
        &self,
        message: &SlackMessageEvent,
        me: &Me,
        kind: SlackChannelKind,
    ) -> Addressed {
        if message.named || mrkdwn::names(&message.text, &me.user_id) {
            return Addressed::Named;
        }
        let Some(thread) = message.thread() else {
            return Addressed::No;
        };
        let began = message.parent_user.as_deref() == Some(&me.user_id);
        if began
            || (kind != SlackChannelKind::Direct && self.is_in(&message.channel, thread, me).await)
        {
            return Addressed::Replied;
        }
        Addressed::No
    }

    /// Tells whether we have a part in a thread. Slack is asked once for a thread.
    async fn is_in(&self, channel: &str, thread: &str, me: &Me) -> bool {
        let name = message_name(channel, thread);
        if let Some(known) = self.threads.get(&name) {
            return known;
        }
        let arguments = [("channel", channel), ("ts", thread), ("limit", "1")];
        let Ok(body) = self.call("conversations.replies", &arguments).await else {
            return false;
        };
        let root = &body["messages"][0];
        let repliers = root["reply_users"].as_array().into_iter().flatten();
        let part = std::iter::once(&root["user"])
            .chain(repliers)
            .any(|user| user.as_str() == Some(&me.user_id));
        self.threads.put(name, part);
        part
    }

    pub(crate) fn complain(&self, what: &str) {
        (self.note)(&format!("slack account `{}`: {what}", self.id));
    }
}

/// Names a message: its time is unique in its channel.
pub(crate) fn message_name(channel: &str, ts: &str) -> String {
    format!("{channel} {ts}")
}

fn is_own(message: &SlackMessageEvent, me: &Me) -> bool {
    message.user.as_deref() == Some(&me.user_id)
        || (message.bot_id.is_some() && message.bot_id == me.bot_id)
}

/// Tells whether a message that was refused may be taken in later.
fn may_pass(refusal: &IntakeRefusal) -> bool {
    matches!(
        refusal,
        IntakeRefusal::Closing
            | IntakeRefusal::Restarting
            | IntakeRefusal::Full { .. }
            | IntakeRefusal::TooMuch
            | IntakeRefusal::NoSpace { .. }
            | IntakeRefusal::QueueFull { .. }
            | IntakeRefusal::Store(_)
            | IntakeRefusal::Host(_)
    )
}
