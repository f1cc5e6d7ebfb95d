//! `sessions_spawn`: begins a session for a task (R30–R36).

use super::{SpawnRefusal, SpawnRequest};
use crate::gateway::WeakGateway;
use crate::surface::{SurfaceCapabilities, Threads};
use crate::tools::{alive, outcome};
use chitin_contract::{SpawnToolRules, ThreadParameter};
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::spec_on_file;
use chitin_tools::{CallContext, ToolOutcome, TypedTool};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

const DESCRIPTION: &str = "Gives a task to a new session that works beside this one. It answers at once; the result comes to you as a message when the task is done, so do not poll. Good for what takes long or stands for itself: the child knows only its task and the files of its workspace.";

chitin_tools::schema_on_file!(SpawnRequest, "sessions_spawn.json");

/// Names that say where words go. A child has its place from its parent, so that a spawn cannot send words anywhere.
const NOT_TAKEN: [&str; 8] = [
    "target",
    "transport",
    "channel",
    "to",
    "threadId",
    "thread_id",
    "replyTo",
    "reply_to",
];

/// What a model sends: a request, unless it has a name that a spawn does not take (R30).
pub(crate) struct Asked(Result<SpawnRequest, SpawnRefusal>);

impl<'de> Deserialize<'de> for Asked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let named = NOT_TAKEN.into_iter().find(|name| given.get(name).is_some());
        if let Some(name) = named {
            return Ok(Self(Err(SpawnRefusal::error(format!(
                "`{name}` is not taken here: a child speaks through this session. To send something somewhere, use `message` or `sessions_send`."
            )))));
        }
        let request = SpawnRequest::deserialize(given).map_err(D::Error::custom)?;
        Ok(Self(Ok(request)))
    }
}

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

impl TypedTool for SessionsSpawn {
    type Arguments = Asked;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, asked: Asked, context: &CallContext<'_>) -> Result<ToolOutcome, String> {
        let gateway = alive(&self.gateway)?;
        let spawned = match asked.0 {
            Ok(request) => {
                let key = context.session_key;
                let origins = context.rights.untrusted.of_this_session(key);
                gateway
                    .spawn(key, SpawnRequest { origins, ..request })
                    .await
            }
            Err(refusal) => Err(refusal),
        };
        Ok(match spawned {
            Ok(spawned) => outcome(&spawned),
            Err(refusal) => outcome(&refusal),
        })
    }
}
