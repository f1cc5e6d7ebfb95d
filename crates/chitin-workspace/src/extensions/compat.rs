//! Names that other programs chose: keys, policy names, variables, endpoints.
//!
//! Policy names, variables and `llmModel` are in the recorded cases of the Atmosphere bridge (August 2026). The other
//! properties, the default model and the endpoints are facts of its public source, and no recorded case shows them.

/// The version that every policy of a `PERMISSIONS.md` carries.
pub(super) const POLICY_VERSION: &str = "embedded";
/// The name of the kill switch, which is the same for every agent.
pub(super) const KILL_SWITCH: &str = "kill-switch";

/// System properties and variables that an operator overrides a setting with.
pub(super) const MODE_OVERRIDES: [&str; 2] = ["org.atmosphere.ai.llmMode", "LLM_MODE"];
pub(super) const MODEL_OVERRIDES: [&str; 2] = ["org.atmosphere.ai.llmModel", "LLM_MODEL"];
pub(super) const KEY_OVERRIDES: [&str; 4] = [
    "org.atmosphere.ai.llmApiKey",
    "LLM_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
];
pub(super) const URL_OVERRIDES: [&str; 2] = ["org.atmosphere.ai.llmBaseUrl", "LLM_BASE_URL"];

pub(super) const DEFAULT_MODE: &str = "remote";
/// The model of an agent that names none.
pub const DEFAULT_MODEL: &str = "gemini-2.5-flash";
pub(super) const FAKE_URL: &str = "fake";
pub(super) const LOCAL_URL: &str = "http://localhost:11434/v1";
pub(super) const OPENAI_URL: &str = "https://api.openai.com/v1";
pub(super) const GEMINI_URL: &str = "https://generativelanguage.googleapis.com/v1beta/openai";
/// Models whose names begin so are served by OpenAI when no URL is set.
pub(super) const OPENAI_MODELS: [&str; 3] = ["gpt-", "o1", "o3"];
