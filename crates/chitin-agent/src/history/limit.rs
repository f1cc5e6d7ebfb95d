//! How many turns are sent again (C60).

use chitin_contract::TurnLimit;
use chitin_protocol::message::Message;

/// Returns where the messages begin that are sent again: at the first of the last `limit` turns, or somewhat before.
/// Messages up to `start`, and then those that are neither the user's nor the model's, stay in any case where the rule
/// says so.
pub fn limit_start(messages: &[Message], limit: usize, rule: TurnLimit) -> LimitedHistory {
    limit_start_after(0, messages, limit, rule)
}

/// The same, of messages that so many of the user's come before; there are more than `limit` among those that are here.
pub(super) fn limit_start_after(
    older: usize,
    messages: &[Message],
    limit: usize,
    rule: TurnLimit,
) -> LimitedHistory {
    let everything = LimitedHistory {
        prelude: 0,
        from: 0,
    };
    let talks = |message: &Message| matches!(message.role(), "user" | "assistant");
    let prelude = match rule {
        TurnLimit::Exact => 0,
        TurnLimit::Batches => match messages.iter().position(talks) {
            Some(first) => first,
            None => return everything,
        },
    };
    let users: Vec<usize> = (prelude..messages.len())
        .filter(|at| messages[*at].role() == "user")
        .collect();
    let keep = match rule {
        TurnLimit::Exact => limit,
        TurnLimit::Batches => {
            let most = limit.saturating_add(limit.div_ceil(2));
            let count = users.len() + older;
            if count <= most {
                return everything;
            }
            limit + (count - limit) % (most - limit + 1)
        }
    };
    match users.len().checked_sub(keep) {
        Some(first) if limit > 0 && first > 0 => LimitedHistory {
            prelude,
            from: users[first],
        },
        Some(_) | None => everything,
    }
}

/// What of a conversation is sent again: messages before `prelude`, and those from `from` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitedHistory {
    /// The messages before this one stay.
    pub prelude: usize,
    /// The messages from this one on stay.
    pub from: usize,
}

impl LimitedHistory {
    /// Tells whether a message stays.
    pub const fn keeps(&self, at: usize) -> bool {
        at < self.prelude || at >= self.from
    }
}
