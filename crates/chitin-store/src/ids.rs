//! Where names of sessions and records come from.

use chitin_contract::RecordIds;
use uuid::Uuid;

/// Gives names. Implemented by [`RandomIds`], and by tests that want the same names each time. An implementor promises not
/// to give the same name twice.
pub trait Ids: Send + Sync {
    /// Returns a name for a session or a run.
    fn session(&self) -> String;

    /// Returns a name for a record.
    fn record(&self, form: RecordIds) -> String;
}

/// Random names, from the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn session(&self) -> String {
        Uuid::new_v4().to_string()
    }

    fn record(&self, form: RecordIds) -> String {
        let id = Uuid::new_v4();
        match form {
            RecordIds::Uuid => id.to_string(),
            RecordIds::ShortHex => {
                let [a, b, c, d, ..] = id.into_bytes();
                format!("{a:02x}{b:02x}{c:02x}{d:02x}")
            }
        }
    }
}
