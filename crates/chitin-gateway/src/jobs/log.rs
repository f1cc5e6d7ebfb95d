//! Changes of the job log: a job opens before anybody hears that it was taken in, and closes when it is over.

use super::Job;
use crate::gateway::Inner;
use chitin_store::{JobChange, StoreError};
use std::future::Future;

impl Inner {
    /// Writes changes of the ledger, and waits for the disk.
    pub(crate) async fn write(&self, changes: Vec<JobChange>) -> Result<(), StoreError> {
        self.submit(changes).await
    }

    /// Gives changes to the ledger, at once; what it returns waits for the disk.
    pub(crate) fn submit(
        &self,
        changes: Vec<JobChange>,
    ) -> impl Future<Output = Result<(), StoreError>> + use<> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.parts.ledger.submit(changes, move |written| {
            let _ = sender.send(written);
        });
        async move {
            receiver.await.unwrap_or_else(|_| {
                Err(StoreError::Damaged {
                    path: "ledger".into(),
                    reason: "its writer has stopped".to_owned(),
                })
            })
        }
    }
}

/// Makes the change that opens a job.
pub(crate) fn opening(job: &Job) -> JobChange {
    JobChange::Open {
        id: job.id.clone(),
        body: serde_json::to_value(job).unwrap_or_default(),
    }
}

/// Makes the change that closes a job.
pub(crate) fn closing(job_id: &str) -> JobChange {
    JobChange::Close {
        id: job_id.to_owned(),
    }
}
