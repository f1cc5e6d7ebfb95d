//! What only others can say: the model's provider, the chat networks.

use super::house::answers;
use super::{Check, Verdict};
use crate::commands::channels::try_all;
use crate::error::{CliError, Kind};
use chitin_model::http::{Endpoint, certificate_problem, make_client};
use chitin_runtime::channels::{self, Activation, ChannelPlan};
use chitin_runtime::{Host, Notes, Setup, resolve_model};
use chitin_workspace::compat::OPENCLAW_PORT;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// How long a provider may take to answer.
const LONGEST: Duration = Duration::from_secs(10);

/// Asks around.
pub(super) fn look(
    host: &Host,
    setup: &Setup,
    state: &Path,
    model: Option<&str>,
    offline: bool,
) -> Result<Vec<Check>, CliError> {
    let mut checks = models(host, setup, model, offline)?;
    match channels::plans(host, &setup.configuration, state) {
        Ok(plans) => checks.extend(networks(plans, offline)?),
        Err(error) => checks.push(Check::of_error("channels", &error.into())),
    }
    Ok(checks)
}

fn models(
    host: &Host,
    setup: &Setup,
    model: Option<&str>,
    offline: bool,
) -> Result<Vec<Check>, CliError> {
    let area = "model";
    let resolved = match resolve_model(model, host, setup) {
        Ok(resolved) => resolved,
        Err(error) => return Ok(vec![Check::of_error(area, &error.into())]),
    };
    let id = resolved.id();
    let Some(endpoint) = resolved.endpoint else {
        return Ok(vec![Check::fine(area, format!("`{id}` needs no network"))]);
    };
    let mut checks = Vec::new();
    if endpoint.key.is_none() && endpoint.headers.is_empty() {
        checks.push(Check::fine(area, format!("`{id}` is asked without a key")));
    } else {
        checks.push(Check::fine(area, format!("`{id}` has a key")));
    }
    let place = shown_place(&endpoint);
    checks.push(if offline {
        Check::new(
            area,
            Verdict::Skipped,
            format!("`{place}` was not asked"),
            None,
        )
    } else {
        runtime()?.block_on(reach(&endpoint, &place))
    });
    Ok(checks)
}

/// Asks whether somebody is there. The key is not sent: what is not a question to a model may be logged anywhere.
async fn reach(endpoint: &Endpoint, place: &str) -> Check {
    let area = "model";
    let client = match make_client(endpoint) {
        Ok(client) => client,
        Err(error) => return Check::wrong(area, format!("`{place}` cannot be asked: {error}"), ""),
    };
    let asking = client.get(&endpoint.base_url).send();
    match tokio::time::timeout(LONGEST, asking).await {
        Ok(Ok(_)) => Check::fine(area, format!("`{place}` answers")),
        Ok(Err(error)) if let Some(problem) = certificate_problem(&error) => {
            Check::wrong(area, format!("`{place}` cannot be asked: {problem}"), "")
        }
        Ok(Err(_)) => Check::wrong(
            area,
            format!("`{place}` cannot be reached"),
            "look at the connection, at a proxy, and at the provider's address",
        ),
        Err(_) => Check::wrong(
            area,
            format!("`{place}` did not answer within {} s", LONGEST.as_secs()),
            "look at the connection, and at a proxy",
        ),
    }
}

/// Returns the address without anything that could be a secret.
fn shown_place(endpoint: &Endpoint) -> String {
    let url = &endpoint.base_url;
    let rest = url.split(['?', '#']).next().unwrap_or_default();
    match (rest.split_once("://"), rest.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => rest.to_owned(),
    }
}

fn networks(plans: Vec<ChannelPlan>, offline: bool) -> Result<Vec<Check>, CliError> {
    let area = "channels";
    let mut checks = Vec::new();
    for plan in plans
        .iter()
        .filter(|plan| plan.activation == Activation::Elsewhere)
    {
        let id = plan.kind.id();
        checks.push(Check::new(
            area,
            Verdict::Skipped,
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
        checks.push(Check::odd(
            area,
            format!("OpenClaw seems to run here too, on `{openclaw}`"),
            "two programs on one bot answer twice: switch the channel off in one of them",
        ));
    }
    let tried = if offline {
        offline_checks(&wanted, &mut checks);
        Vec::new()
    } else if wanted.is_empty() {
        Vec::new()
    } else {
        try_all(&wanted)?.channels
    };
    for channel in tried {
        for account in channel.accounts {
            let who = format!("{} ({})", channel.channel, account.account_id);
            for works in account.works {
                checks.push(Check::fine(area, format!("{who}: {works}")));
            }
            for lack in account.lacks {
                checks.push(Check::wrong(
                    area,
                    format!("{who}: {}", lack.what),
                    lack.hint.unwrap_or_default(),
                ));
            }
        }
    }
    Ok(checks)
}

/// Says what can be said of networks without asking them.
fn offline_checks(wanted: &[ChannelPlan], checks: &mut Vec<Check>) {
    for plan in wanted {
        let id = plan.kind.id();
        match channels::open(plan, None, &Notes::none()) {
            Ok(_) => {
                let what = format!("{id} was not asked");
                checks.push(Check::new("channels", Verdict::Skipped, what, None));
            }
            Err(problems) => checks.extend(problems.into_iter().map(|problem| {
                let what = format!("{id}: {}", problem.message);
                Check::new("channels", Verdict::Wrong, what, problem.hint)
            })),
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    let made = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    made.map_err(|error| {
        CliError::new(Kind::Internal, "The network cannot be used.").caused_by(error)
    })
}
