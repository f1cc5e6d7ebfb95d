//! What one client listens to.

use chitin_gateway::approvals::Answering;
use chitin_gateway::{ListenerEvent, Subscription, Topic};
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{StreamExt, stream};
use std::collections::{HashMap, HashSet, VecDeque};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many numbers of happenings are remembered, so that none is told twice to who listens to two topics.
const REMEMBERED: usize = 4096;

/// What a client listens to.
#[derive(Default)]
pub(super) struct Listening {
    pub(super) streams: SelectAll<BoxStream<'static, (Topic, ListenerEvent)>>,
    /// Dropped, a topic's stream ends.
    pub(super) topics: HashMap<Topic, DropGuard>,
    /// The topics whose questions for permission the client can answer.
    answering: HashMap<Topic, Answering>,
    told: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Listening {
    pub(super) fn add(&mut self, topic: &Topic, subscription: Subscription) {
        let end = CancellationToken::new();
        let ended = end.clone().cancelled_owned();
        let name = topic.clone();
        let next = |(mut subscription, name): (Subscription, Topic)| async move {
            let heard = subscription.next().await?;
            Some(((name.clone(), heard), (subscription, name)))
        };
        let stream = stream::unfold((subscription, name), next);
        self.streams
            .push(stream.take_until(Box::pin(ended)).boxed());
        self.topics.insert(topic.clone(), end.drop_guard());
    }

    pub(super) fn answer(&mut self, topic: Topic, answering: Option<Answering>) {
        self.answering
            .extend(answering.map(|answering| (topic, answering)));
    }

    pub(super) fn forget(&mut self, topic: &Topic) {
        self.answering.remove(topic);
        self.topics.remove(topic);
    }

    /// Tells whether a happening was not told yet. Only those who listen to several topics can hear one twice.
    pub(super) fn is_new(&mut self, seq: u64) -> bool {
        if !self.told.insert(seq) {
            return false;
        }
        self.order.push_back(seq);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.told.remove(&oldest);
        }
        true
    }
}
