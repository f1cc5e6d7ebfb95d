//! Providers that are known by name.

use crate::request::Api;

/// A provider that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// What stands before the slash.
    pub id: &'static str,
    /// The wire format.
    pub api: Api,
    /// Where it is.
    pub base_url: &'static str,
    /// Whether it asks for a key.
    pub keys: Keys,
    /// The environment variables that hold a key, the first that is set.
    pub variables: &'static [&'static str],
    /// The environment variable that says where it is.
    pub base_url_variable: Option<&'static str>,
    /// The model that is used when a key is there and no model is named.
    pub default_model: Option<&'static str>,
}

/// Whether a provider asks for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Nothing works without.
    Required,
    /// A server of the user's own, which may ask for one.
    Optional,
}

impl Provider {
    const fn new(
        id: &'static str,
        api: Api,
        base_url: &'static str,
        variables: &'static [&'static str],
    ) -> Self {
        Self {
            id,
            api,
            base_url,
            keys: Keys::Required,
            variables,
            base_url_variable: None,
            default_model: None,
        }
    }

    /// Speaks Chat Completions.
    const fn compatible(
        id: &'static str,
        base_url: &'static str,
        variables: &'static [&'static str],
    ) -> Self {
        Self::new(id, Api::OpenaiCompletions, base_url, variables)
    }

    const fn local(self) -> Self {
        Self {
            keys: Keys::Optional,
            ..self
        }
    }

    const fn model(self, name: &'static str) -> Self {
        Self {
            default_model: Some(name),
            ..self
        }
    }

    const fn address(self, variable: &'static str) -> Self {
        Self {
            base_url_variable: Some(variable),
            ..self
        }
    }
}

/// The providers, in the order in which their keys are looked for when no model is named.
#[rustfmt::skip]
pub const TABLE: &[Provider] = &[
    Provider::new("anthropic", Api::AnthropicMessages, "https://api.anthropic.com", &["ANTHROPIC_API_KEY"])
        .address("ANTHROPIC_BASE_URL").model("claude-sonnet-5-5"),
    Provider::new("openai", Api::OpenaiResponses, "https://api.openai.com/v1", &["OPENAI_API_KEY"])
        .address("OPENAI_BASE_URL").model("gpt-6.1-sol"),
    Provider::compatible("openrouter", "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]).model("openrouter/auto"),
    Provider::compatible("google", "https://generativelanguage.googleapis.com/v1beta/openai", &["GEMINI_API_KEY", "GOOGLE_API_KEY"])
        .model("gemini-3.8-flash"),
    Provider::compatible("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]).model("mistral-large-4"),
    Provider::compatible("deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]).model("deepseek-v4-flash"),
    Provider::compatible("xai", "https://api.x.ai/v1", &["XAI_API_KEY"]),
    Provider::compatible("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    Provider::compatible("cerebras", "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"]),
    Provider::compatible("together", "https://api.together.xyz/v1", &["TOGETHER_API_KEY"]),
    Provider::compatible("fireworks", "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"]),
    Provider::compatible("moonshot", "https://api.moonshot.ai/v1", &["MOONSHOT_API_KEY"]),
    Provider::compatible("zai", "https://api.z.ai/api/paas/v4", &["ZAI_API_KEY", "Z_AI_API_KEY"]),
    Provider::compatible("qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", &["DASHSCOPE_API_KEY"]),
    Provider::compatible("nvidia", "https://integrate.api.nvidia.com/v1", &["NVIDIA_API_KEY"]),
    Provider::compatible("huggingface", "https://router.huggingface.co/v1", &["HF_TOKEN"]),

    // On the user's own machine.
    Provider::new("ollama", Api::Ollama, "http://127.0.0.1:11434", &["OLLAMA_API_KEY"]).address("OLLAMA_HOST").local(),
    Provider::compatible("lmstudio", "http://127.0.0.1:1234/v1", &["LMSTUDIO_API_KEY"]).local(),
    Provider::compatible("llamacpp", "http://127.0.0.1:8080/v1", &["LLAMA_API_KEY"]).local(),
    Provider::compatible("vllm", "http://127.0.0.1:8000/v1", &["VLLM_API_KEY"]).local(),
    Provider::compatible("litellm", "http://127.0.0.1:4000/v1", &["LITELLM_API_KEY"]).local(),
];

/// Finds a provider by its name.
pub fn find(id: &str) -> Option<&'static Provider> {
    TABLE.iter().find(|provider| provider.id == id)
}
