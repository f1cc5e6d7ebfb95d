//! `sessions_spawn`: begins a session for a task (R30–R36).

use super::request::not_taken;
use super::{SpawnRefusal, SpawnRequest};
use crate::gateway::WeakGateway;
use crate::surface::{SurfaceCapabilities, Threads};
use crate::tools::{ended, outcome};
use chitin_contract::{SpawnToolRules, ThreadParameter};
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::{arguments, spec_on_file};
use chitin_tools::{CallContext, Tool, ToolOutcome};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

const DESCRIPTION: &str = "Gives a task to a new session that works beside this one. It answers at once; the result comes to you as a message when the task is done, so do not poll. Good for what takes long or stands for itself: the child knows only its task and the files of its workspace.";

chitin_tools::schema_on_file!(SpawnRequest, "sessions_spawn.json");

/// Begins a session for a task.
#[derive(Debug)]
pub(crate) struct SessionsSpawn {
    spec: ToolSpec,
    gateway: WeakGateway,
}

impl SessionsSpawn {
    pub(crate) fn new(gateway: &WeakGateway, channel: Option<&str>) -> Self {
        let spec = match gateway.get() {
            Some(gateway) => {
                let parts = gateway.parts();
                let surface = channel.and_then(|channel| parts.surfaces.get(channel));
                let surface = surface.map(|surface| surface.capabilities());
                let workspaces = parts.host.spawn_workspaces();
                definition(&parts.contract.runtime.subagents.tool, surface, &workspaces)
            }
            None => spec_on_file("sessions_spawn", DESCRIPTION, PARAMETERS),
        };
        Self {
            spec,
            gateway: gateway.clone(),
        }
    }
}

/// Returns what a model on a surface is told of the tool.
pub(crate) fn definition(
    rules: &SpawnToolRules,
    surface: Option<&SurfaceCapabilities>,
    workspaces: &[String],
) -> ToolSpec {
    let mut spec = spec_on_file("sessions_spawn", DESCRIPTION, PARAMETERS);
    let has_threads = surface.is_some_and(|surface| surface.threads != Threads::None);
    leave_out(&mut spec.parameters, rules, has_threads);
    offer_workspaces(&mut spec.parameters, workspaces);
    spec
}

/// Takes out of the schema what the contract does not tell of.
fn leave_out(schema: &mut Value, rules: &SpawnToolRules, has_threads: bool) {
    let Some(properties) = schema["properties"].as_object_mut() else {
        return;
    };
    for name in rules.untold {
        properties.shift_remove(*name);
    }
    if rules.thread == ThreadParameter::WhereThereAreThreads && !has_threads {
        properties.shift_remove("thread");
        properties.shift_remove("mode");
    }
}

/// Says which workspaces a child may have, or takes the parameter out where there are none.
fn offer_workspaces(schema: &mut Value, allowed: &[String]) {
    let Some(properties) = schema["properties"].as_object_mut() else {
        return;
    };
    if allowed.is_empty() {
        properties.shift_remove("workspace");
    } else if let Some(workspace) = properties.get_mut("workspace") {
        workspace["enum"] = allowed.into();
    }
}

impl Tool for SessionsSpawn {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        given: Value,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        async move {
            let Some(gateway) = self.gateway.get() else {
                return ended();
            };
            if let Some(name) = not_taken(&given) {
                return outcome(&SpawnRefusal::error(format!(
                    "`{name}` is not taken here: a child speaks through this session. To send something somewhere, use `message` or `sessions_send`."
                )));
            }
            let request: SpawnRequest = match arguments(&self.spec, given) {
                Ok(request) => request,
                Err(problem) => return problem,
            };
            match gateway.spawn(context.session_key, request).await {
                Ok(spawned) => outcome(&spawned),
                Err(refusal) => outcome(&refusal),
            }
        }
        .boxed()
    }
}
