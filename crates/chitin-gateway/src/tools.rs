//! Tools that need the gateway: those about other sessions, about surfaces and about schedules.
//!
//! Each is in the folder of its feature; this is the list. A tool knows who calls it by [`chitin_tools::CallContext::session_key`] and holds the gateway weakly, so
//! that a gateway that nobody else holds ends.

use crate::cron::tool as cron;
use crate::delivery::message_tool as message;
use crate::gateway::{Gateway, WeakGateway};
use crate::sessions::{sessions_history, sessions_list, sessions_send};
use crate::subagents::{agents_list, sessions_spawn, subagents_tool};
use crate::surface::SurfaceCapabilities;
use chitin_contract::Contract;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::{Tool, ToolOffer, ToolOutcome};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Says which tools of the gateway the sessions of a channel have: the same ones whenever the same channel is asked for. For
/// [`Gateway::offer_tools`].
pub fn offers(
    gateway: &Gateway,
) -> impl Fn(Option<&str>) -> Arc<Vec<ToolOffer>> + Send + Sync + use<> {
    let gateway = gateway.downgrade();
    let made: Mutex<HashMap<Option<String>, Arc<Vec<ToolOffer>>>> = Mutex::default();
    move |channel| {
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        // Channels are those of the surfaces: whatever else is named has the tools of none.
        let known = gateway.get().is_some_and(|gateway| {
            channel.is_some_and(|channel| gateway.parts().surfaces.get(channel).is_some())
        });
        let channel = channel.filter(|_| known);
        let offers = made
            .entry(channel.map(str::to_owned))
            .or_insert_with(|| Arc::new(all(&gateway, channel)));
        Arc::clone(offers)
    }
}

/// Makes the tools for sessions of a channel. A tool more is a line more.
fn all(gateway: &WeakGateway, channel: Option<&str>) -> Vec<ToolOffer> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(sessions_spawn::SessionsSpawn::new(gateway, channel)),
        Arc::new(sessions_list::SessionsList::new(gateway)),
        Arc::new(sessions_history::SessionsHistory::new(gateway)),
        Arc::new(sessions_send::SessionsSend::new(gateway)),
        Arc::new(subagents_tool::Subagents::new(gateway)),
        Arc::new(agents_list::AgentsList::new(gateway)),
    ];
    if let Some(gateway) = gateway.get() {
        let message = message::MessageTool::new(&gateway, channel);
        tools.extend(message.map(|tool| Arc::new(tool) as Arc<dyn Tool>));
        let cron = cron::CronTool::new(&gateway);
        tools.extend(cron.map(|tool| Arc::new(tool) as Arc<dyn Tool>));
    }
    tools.into_iter().map(ToolOffer::Own).collect()
}

/// The names of the tools that [`definitions`] describes, in no order that matters.
pub const NAMES: [&str; 7] = [
    "sessions_spawn",
    "sessions_list",
    "sessions_history",
    "sessions_send",
    "subagents",
    "agents_list",
    "message",
];

/// Returns what a model is told of the gateway's tools where a surface is the only one and nothing is scheduled, as in `chitin run`. No
/// gateway is made. `workspaces` are those that sessions may be begun in.
pub fn definitions(
    contract: &Contract,
    surface: &SurfaceCapabilities,
    workspaces: &[String],
) -> Vec<ToolSpec> {
    let none = WeakGateway::none();
    vec![
        sessions_spawn::definition(&contract.runtime.subagents.tool, Some(surface), workspaces),
        sessions_list::SessionsList::new(&none).spec().clone(),
        sessions_history::SessionsHistory::new(&none).spec().clone(),
        sessions_send::SessionsSend::new(&none).spec().clone(),
        subagents_tool::Subagents::new(&none).spec().clone(),
        agents_list::AgentsList::new(&none).spec().clone(),
        message::MessageTool::definition(surface),
    ]
}

/// Makes an outcome that the model reads as JSON, and that programs find in the details.
pub(crate) fn outcome(value: &impl Serialize) -> ToolOutcome {
    ToolOutcome::json(serde_json::to_value(value).unwrap_or_default())
}

/// Makes an outcome that says that something could not be done.
pub(crate) fn refused(error: impl Into<String>) -> ToolOutcome {
    outcome(&serde_json::json!({"status": "error", "error": error.into()}))
}

/// Does what waits for the disk where it is in nobody's way.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

/// Returns the gateway, or says that it has ended under the tool.
pub(crate) fn alive(gateway: &WeakGateway) -> Result<Gateway, String> {
    gateway
        .get()
        .ok_or_else(|| "The gateway has ended.".to_owned())
}
