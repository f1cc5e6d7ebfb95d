//! Head, marker, tail: what is left of a file over its bound (W23–W25).

use crate::body::Body;
use crate::compat::{compact_marker, full_marker};
use crate::fragment::FragmentPiece;
use chitin_contract::PairRule;
use chitin_protocol::text::{utf16_len, utf16_prefix};

/// The least room beside a full marker that makes it worth its length.
const LEAST_ROOM: usize = 16;

/// Which marker stands between head and tail.
#[derive(Clone, Copy)]
enum Marker {
    Full,
    Compact,
}

/// How much is kept, and the marker that says so.
struct Plan {
    head: usize,
    tail: usize,
    marker: String,
}

impl Marker {
    fn plan(self, name: &str, head: usize, tail: usize, length: usize) -> Plan {
        let marker = match self {
            Self::Full => full_marker(name, head, tail, length),
            Self::Compact => compact_marker(head, tail, length),
        };
        Plan { head, tail, marker }
    }

    /// One newline on each side that has text, for the full marker.
    const fn separators(self, plan: &Plan) -> usize {
        match self {
            Self::Full => (plan.head > 0) as usize + (plan.tail > 0) as usize,
            Self::Compact => 0,
        }
    }

    fn length(self, plan: &Plan) -> usize {
        plan.head + plan.tail + utf16_len(&plan.marker) + self.separators(plan)
    }
}

/// Cuts a text that is longer than `limit` so that it fits.
pub(super) fn fitted(text: &Body, name: &str, limit: usize, pairs: PairRule) -> Body {
    let length = text.units;
    let bare = utf16_len(&full_marker(name, 0, 0, length)) + 2;
    let kind = if limit.saturating_sub(bare) >= LEAST_ROOM {
        Marker::Full
    } else {
        Marker::Compact
    };
    let mut plan = kind.plan(name, 0, 0, length);
    // The marker holds the counts, so its length depends on them: three rounds settle it.
    for _ in 0..3 {
        let room = limit.saturating_sub(utf16_len(&plan.marker) + kind.separators(&plan));
        let next = kind.plan(name, room * 3 / 4, room / 4, length);
        let settled = next.head == plan.head
            && next.tail == plan.tail
            && utf16_len(&next.marker) == utf16_len(&plan.marker);
        if settled {
            break;
        }
        plan = next;
    }
    while kind.length(&plan) > limit && (plan.head > 0 || plan.tail > 0) {
        let over = kind.length(&plan) - limit;
        plan = if plan.tail > 0 {
            kind.plan(name, plan.head, plan.tail.saturating_sub(over), length)
        } else {
            kind.plan(name, plan.head.saturating_sub(over), 0, length)
        };
    }
    if plan.head == 0 && plan.tail == 0 {
        let one = kind.plan(name, 1, 0, length);
        if kind.length(&one) <= limit {
            plan = one;
        }
    }
    if plan.head == 0 && plan.tail == 0 && utf16_len(&plan.marker) > limit {
        return Body::of(FragmentPiece::made(utf16_prefix(&plan.marker, limit)));
    }
    let separated = kind.separators(&plan) > 0;
    let mut cut = text.head(plan.head, pairs);
    if separated && plan.head > 0 {
        cut.push(FragmentPiece::ours("\n"));
    }
    cut.push(FragmentPiece::made(plan.marker));
    if separated && plan.tail > 0 {
        cut.push(FragmentPiece::ours("\n"));
    }
    cut.append(text.tail(plan.tail, pairs));
    cut
}

/// Keeps seven and two tenths of the limit, whatever comes out.
pub(super) fn fixed_shares(text: &Body, name: &str, limit: usize, pairs: PairRule) -> Body {
    let (head, tail) = (share(limit, 0.7), share(limit, 0.2));
    let mut cut = text.head(head, pairs);
    cut.push(FragmentPiece::ours("\n"));
    cut.push(FragmentPiece::made(full_marker(
        name, head, tail, text.units,
    )));
    cut.push(FragmentPiece::ours("\n"));
    // The recorded release asks for the last zero units and gets all of them.
    let tail = if tail == 0 { text.units } else { tail };
    cut.append(text.tail(tail, pairs));
    cut
}

/// Returns a share of a limit, rounded down, as IEEE doubles have it: 90 × 0.7 is 62.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the recorded programs reckon in doubles; limits are far below 2^53"
)]
pub(super) fn share(limit: usize, part: f64) -> usize {
    (limit as f64 * part).floor() as usize
}
