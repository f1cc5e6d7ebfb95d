//! Trying again, with growing pauses and an end.

use super::failure::{Failure, Retry};
use crate::options::Retries;
use crate::progress::{ProgressListener, TransferEvent};
use chitin_pack::{Digest, PackError};

/// How much patience is left with one thing.
#[derive(Debug)]
pub(crate) struct Patience {
    rules: Retries,
    failures: u32,
}

impl Patience {
    pub(crate) const fn new(rules: Retries) -> Self {
        Self { rules, failures: 0 }
    }

    /// Starts over: something got further.
    pub(crate) const fn renew(&mut self) {
        self.failures = 0;
    }

    /// Waits before the next try, or gives up with the error.
    pub(crate) async fn wait(
        &mut self,
        failure: Failure,
        about: Option<(&dyn ProgressListener, Digest)>,
    ) -> Result<(), PackError> {
        let usual = self.rules.first_delay * 2_u32.saturating_pow(self.failures.min(16));
        let delay = match failure.retry {
            Retry::Never => return Err(failure.error),
            Retry::Soon => usual,
            Retry::After(asked) => asked.max(usual),
        };
        if self.failures >= self.rules.attempts {
            return Err(failure.error);
        }
        self.failures += 1;
        let delay = delay.min(self.rules.longest_delay);
        if let Some((progress, digest)) = about {
            progress.event(TransferEvent::Retrying { digest, delay });
        }
        tokio::time::sleep(delay).await;
        Ok(())
    }
}
