//! How far a session's words may go: `tools.message.crossContext`.

use crate::surface::Address;
use chitin_config::agents;
use chitin_contract::Contract;
use chitin_protocol::agent_id::AgentId;
use serde_json::Value;

/// How far a session's words may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageReach {
    /// To other places on the session's own surface.
    pub same_surface: bool,
    /// To other surfaces.
    pub other_surfaces: bool,
}

impl MessageReach {
    /// Reads what holds for an agent: its own entry, then `tools.message`, then the usual: anywhere on its own surface, not
    /// beyond.
    pub fn read(config: &Value, agent_id: &str, contract: &Contract) -> Self {
        let id = AgentId::normalize(agent_id);
        let roster = agents::roster(config, contract);
        let own = roster.iter().find(|entry| entry.id == id);
        let own = own.map_or(&Value::Null, |entry| &entry.settings["tools"]["message"]);
        let all = &config["tools"]["message"];
        let said = |key: &str| {
            let said = |message: &Value| {
                let new = message["crossContext"][key].as_bool();
                // An older word that allowed everything.
                let old = message["allowCrossContextSend"].as_bool();
                new.or_else(|| old.filter(|allowed| *allowed))
            };
            said(own).or_else(|| said(all))
        };
        Self {
            same_surface: said("allowWithinProvider").unwrap_or(true),
            other_surfaces: said("allowAcrossProviders").unwrap_or(false),
        }
    }

    /// Says why a place is too far; a session that speaks from no surface may reach all of them.
    pub fn refusal(self, own: Option<&Address>, to: &Address) -> Option<String> {
        let own = own?;
        if own.channel != to.channel {
            let said = format!(
                "This session speaks on `{}` and may not act on `{}`. The owner can allow it with \
                 `tools.message.crossContext.allowAcrossProviders`.",
                own.channel, to.channel
            );
            return (!self.other_surfaces).then_some(said);
        }
        let said = "This session may act only where it speaks. The owner can allow more with \
                    `tools.message.crossContext.allowWithinProvider`.";
        (!self.same_surface && own.peer != to.peer).then(|| said.to_owned())
    }
}
