//! What only others can say: the model's provider, the chat channels.

use super::machine::answers;
use super::{DoctorCheck, DoctorVerdict};
use crate::channels::{self, Activation, ChannelPlan};
use crate::{Host, Notes, Setup, resolve_model};
use chitin_model::http::{ModelEndpoint, make_client, without_secrets};
use chitin_net::certificate_problem;
use chitin_workspace::compat::OPENCLAW_PORT;
use futures_util::future::join_all;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// How long a provider may take to answer.
const LONGEST: Duration = Duration::from_secs(10);

/// Asks around.
pub(super) async fn look(
    host: &Host,
    setup: &Setup,
    state: &Path,
    model: Option<&str>,
    offline: bool,
) -> Vec<DoctorCheck> {
    let mut checks = models(host, setup, model, offline).await;
    match channels::plans(host, &setup.configuration, state) {
        Ok(plans) => checks.extend(networks(plans, offline).await),
        Err(error) => checks.push(DoctorCheck::of_error("channels", &error)),
    }
    checks
}

async fn models(
    host: &Host,
    setup: &Setup,
    model: Option<&str>,
    offline: bool,
) -> Vec<DoctorCheck> {
    let area = "model";
    let resolved = match resolve_model(model, host, setup) {
        Ok(resolved) => resolved,
        Err(error) => return vec![DoctorCheck::of_error(area, &error)],
    };
    let id = resolved.id();
    let Some(endpoint) = resolved.endpoint else {
        return vec![DoctorCheck::fine(area, format!("`{id}` needs no network"))];
    };
    let mut checks = Vec::new();
    if endpoint.key.is_none() && endpoint.headers.is_empty() {
        checks.push(DoctorCheck::fine(
            area,
            format!("`{id}` is used without a key"),
        ));
    } else {
        checks.push(DoctorCheck::fine(area, format!("`{id}` has a key")));
    }
    let place = without_secrets(&endpoint.base_url);
    checks.push(if offline {
        DoctorCheck::new(
            area,
            DoctorVerdict::Skipped,
            format!("`{place}` was not contacted"),
            None,
        )
    } else {
        reach(&endpoint, &place).await
    });
    checks
}

/// Asks whether somebody is there. The key is not sent: what is not a question to a model may be logged anywhere.
async fn reach(endpoint: &ModelEndpoint, place: &str) -> DoctorCheck {
    let area = "model";
    let client = match make_client(endpoint) {
        Ok(client) => client,
        Err(error) => {
            return DoctorCheck::wrong(area, format!("could not contact `{place}`: {error}"), "");
        }
    };
    let asking = client.get(&endpoint.base_url).send();
    match tokio::time::timeout(LONGEST, asking).await {
        Ok(Ok(_)) => DoctorCheck::fine(area, format!("`{place}` answers")),
        Ok(Err(error)) if let Some(problem) = certificate_problem(&error) => {
            DoctorCheck::wrong(area, format!("could not contact `{place}`: {problem}"), "")
        }
        Ok(Err(_)) => DoctorCheck::wrong(
            area,
            format!("could not reach `{place}`"),
            "check the connection, the proxy and the provider's address",
        ),
        Err(_) => DoctorCheck::wrong(
            area,
            format!("`{place}` did not answer within {} s", LONGEST.as_secs()),
            "check the connection and the proxy",
        ),
    }
}

async fn networks(plans: Vec<ChannelPlan>, offline: bool) -> Vec<DoctorCheck> {
    let area = "channels";
    let mut checks = Vec::new();
    for plan in plans
        .iter()
        .filter(|plan| plan.activation == Activation::Elsewhere)
    {
        let id = plan.kind.id();
        checks.push(DoctorCheck::new(
            area,
            DoctorVerdict::Skipped,
            format!("{id} is configured and not connected"),
            Some(format!(
                "`chitin channels login {id} --as-configured` connects it"
            )),
        ));
    }
    let wanted: Vec<ChannelPlan> = plans
        .into_iter()
        .filter(|plan| plan.activation == Activation::On)
        .collect();
    let openclaw = SocketAddr::from((Ipv4Addr::LOCALHOST, OPENCLAW_PORT));
    if !wanted.is_empty() && answers(openclaw) {
        checks.push(DoctorCheck::odd(
            area,
            format!("OpenClaw seems to be running here too, on `{openclaw}`"),
            "two programs with the same bot reply twice: switch the channel off in one of them",
        ));
    }
    let tried = if offline {
        offline_checks(&wanted, &mut checks);
        Vec::new()
    } else {
        join_all(wanted.iter().map(channels::probe)).await
    };
    for channel in tried {
        for account in channel.accounts {
            let who = format!("{} ({})", channel.channel, account.account_id);
            for works in account.works {
                checks.push(DoctorCheck::fine(area, format!("{who}: {works}")));
            }
            for lack in account.lacks {
                checks.push(DoctorCheck::wrong(
                    area,
                    format!("{who}: {}", lack.what),
                    lack.hint.unwrap_or_default(),
                ));
            }
        }
    }
    checks
}

/// Says what can be said of networks without asking them.
fn offline_checks(wanted: &[ChannelPlan], checks: &mut Vec<DoctorCheck>) {
    for plan in wanted {
        let id = plan.kind.id();
        match channels::open(plan, None, &Notes::none()) {
            Ok(_) => {
                let what = format!("{id} was not contacted");
                checks.push(DoctorCheck::new(
                    "channels",
                    DoctorVerdict::Skipped,
                    what,
                    None,
                ));
            }
            Err(problems) => checks.extend(problems.into_iter().map(|problem| {
                let what = format!("{id}: {}", problem.message);
                DoctorCheck::new("channels", DoctorVerdict::Wrong, what, problem.hint)
            })),
        }
    }
}
