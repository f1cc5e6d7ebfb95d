//! Asks a channel whether its tokens are good and what the bots may do.

use super::open::open;
use super::plan::ChannelPlan;
use crate::notes::Notes;
use chitin_gateway::surface::{Lack, Probed};
use chitin_protocol::agent_id::DEFAULT_ACCOUNT;
use serde::Serialize;
use std::time::Duration;

/// How long a channel may take to answer.
const LONGEST: Duration = Duration::from_secs(30);

/// What one channel answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbedChannel {
    /// The channel's id.
    pub channel: &'static str,
    /// Each account: what works and what it lacks.
    pub accounts: Vec<Probed>,
}

/// Asks a channel. Nothing is sent that people there see. A channel that cannot be opened lacks what opening needs.
pub async fn probe(plan: &ChannelPlan) -> ProbedChannel {
    let lacking = |what: String, hint: Option<String>| Probed {
        account_id: DEFAULT_ACCOUNT.to_owned(),
        name: None,
        works: Vec::new(),
        lacks: vec![Lack { what, hint }],
    };
    let accounts = match open(plan, None, &Notes::none()) {
        Err(problems) => problems
            .into_iter()
            .map(|problem| lacking(problem.message, problem.hint))
            .collect(),
        Ok(opened) => {
            let probing = opened.network.probe();
            match tokio::time::timeout(LONGEST, probing).await {
                Ok(probed) => probed,
                Err(_) => vec![lacking(
                    format!(
                        "{} did not answer within {} s.",
                        plan.kind.title(),
                        LONGEST.as_secs()
                    ),
                    Some("check the internet connection and the proxy".to_owned()),
                )],
            }
        }
    };
    ProbedChannel {
        channel: plan.kind.id(),
        accounts,
    }
}
