//! What a channel wants to hear of heartbeats: `channels.<id>.heartbeat`, then `channels.defaults.heartbeat`.

use serde_json::Value;

/// What a channel wants to hear of heartbeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visibility {
    /// That all is well.
    pub ok: bool,
    /// What needs attention.
    pub alerts: bool,
    /// A sign that somebody looked.
    pub indicator: bool,
}

impl Visibility {
    /// Reads what a channel wants to hear: by itself alerts, and no word when all is well.
    pub fn read(config: &Value, channel: &str) -> Self {
        let own = &config["channels"][channel]["heartbeat"];
        let all = &config["channels"]["defaults"]["heartbeat"];
        let wants = |key: &str, usual| {
            let said = own[key].as_bool().or_else(|| all[key].as_bool());
            said.unwrap_or(usual)
        };
        Self {
            ok: wants("showOk", false),
            alerts: wants("showAlerts", true),
            indicator: wants("useIndicator", true),
        }
    }

    /// Tells whether the channel wants to hear nothing at all.
    pub const fn is_nothing(self) -> bool {
        !self.ok && !self.alerts && !self.indicator
    }
}
