//! The work of a gateway goes to the gateway of the next process, and nobody who sends messages notices.
//!
//! The books are always kept by one: the one that has the job log. The predecessor lets go of it between two changes, and from then on
//! only ends the turns that it had begun, or leaves them where they can be continued: before their next request to the model. The
//! successor hears how they ended, or finds in the transcript how far they came, as after a crash; their sessions are its own as soon
//! as the predecessor says so, or is gone.
//! `docs/design/020-restart.md` has the whole, with all that can happen in between.
//!
//! | file | does |
//! |---|---|
//! | `turnstile.rs` | what must not happen while the work goes over waits, and learns whether it has |
//! | `leave.rs` | the predecessor's side |
//! | `arrive.rs` | the successor's side |
//! | `ends.rs` | how jobs end in the successor, for those who wait in the predecessor |

mod arrive;
mod ends;
mod leave;
mod turnstile;

pub use arrive::Predecessor;
pub use ends::{HowItEnded, JobEnd, JobEnds};
pub use leave::HandOver;

pub(crate) use arrive::Elsewhere;
pub(crate) use leave::Left;
pub(crate) use turnstile::{Here, Turnstile};

use crate::jobs::{Job, JobOutcome};
use chitin_store::JobChange;
use serde::{Deserialize, Serialize};

/// What a predecessor tells its successor.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FromPredecessor {
    /// Changes of the job log that turns still make, such as a chunk that was sent.
    Changes(Vec<JobChange>),
    /// A turn is over and delivered.
    Ended(Box<EndedTurn>),
    /// No turn of it runs in this session any more.
    Free(String),
}

/// A turn that is over and delivered, and that the books do not know of yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedTurn {
    pub(crate) job: Job,
    /// Jobs whose words it heard, and how each ended.
    pub(crate) steered: Vec<(Job, JobOutcome)>,
    pub(crate) outcome: JobOutcome,
    /// What was delivered.
    pub(crate) words: Option<String>,
    /// When the session of a heartbeat was used before.
    pub(crate) used_before: Option<i64>,
    /// Which parts of its reply were sent.
    pub(crate) marks: Vec<String>,
}
