//! When a session is reset (R20): what `openclaw.json` says, and over it what `chitin.json5` says.

use crate::host::Host;
use crate::setup::Setup;
use chitin_agent::turn::ResetAsk;
use chitin_protocol::session_key;
use chitin_protocol::settings::SessionSettings;
use chitin_store::reset::{self, ResetType, SessionTimes};
use serde_json::{Value, json};
use std::sync::Arc;

/// Decides whether a session is too old to go on with.
type Decide = Arc<dyn Fn(&ResetAsk<'_>) -> bool + Send + Sync>;

/// Returns what decides.
pub(crate) fn policy(host: &Arc<Host>, setup: &Setup, own: &SessionSettings) -> Decide {
    let host = Arc::clone(host);
    let rules = setup.contract().runtime.reset;
    let config = laid_over(setup.configuration.value().get("session"), own);
    Arc::new(move |ask| {
        let channel = session_key::conversation(ask.session_key).map(|found| found.channel);
        let policy = reset::policy(
            &config,
            ResetType::of_key(ask.session_key),
            channel.as_deref(),
            &rules,
        );
        let times = SessionTimes {
            updated_at: ask.updated_at,
            ..SessionTimes::default()
        };
        let now = jiff::Timestamp::from_millisecond(ask.now_ms).unwrap_or_default();
        !reset::freshness(&policy, &times, now, &host.zone(), &rules).fresh
    })
}

/// Puts what `chitin.json5` says into what `openclaw.json` says.
fn laid_over(openclaw: Option<&Value>, own: &SessionSettings) -> Value {
    let mut config = match openclaw {
        Some(Value::Object(fields)) => fields.clone(),
        Some(_) | None => serde_json::Map::new(),
    };
    if let Some(reset) = &own.reset {
        config.insert("reset".to_owned(), json!(reset));
    }
    for (name, set) in [
        ("resetByType", &own.reset_by_type),
        ("resetByChannel", &own.reset_by_channel),
    ] {
        if !set.is_empty() {
            config.insert(name.to_owned(), json!(set));
        }
    }
    Value::Object(config)
}
