//! What a table of keys cannot say, release by release, and which spellings a release still reads.

use crate::shape::{ANY_MAP, ANY_NUMBER, Check, Shape};

/// A spelling that the release turns into the newer one when it reads a file: the dotted pattern, and what may stand there.
pub(crate) type Earlier = (&'static str, Shape);

/// What the command of a release asks of plugins and channels, which its function for configurations does not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandRules {
    /// Whether a channel that nobody knows is excused when `plugins` names it.
    pub plugins_excuse_channels: bool,
    /// Whether a plugin's path that is not there is an error; otherwise what plugins would judge is left alone.
    pub missing_path_is_error: bool,
    /// Whether a plugin in `plugins.deny` has to be known.
    pub denied_plugins_are_known: bool,
    /// Words that a heartbeat may go to besides channels.
    pub heartbeat_targets: &'static [&'static str],
    /// Who can search the web, when the release asks for it.
    pub search_providers: Option<&'static [&'static str]>,
}

pub(super) const COMMAND_4: CommandRules = CommandRules {
    plugins_excuse_channels: false,
    missing_path_is_error: true,
    denied_plugins_are_known: true,
    heartbeat_targets: &["last", "none"],
    search_providers: None,
};

pub(super) const COMMAND_9: CommandRules = CommandRules {
    plugins_excuse_channels: true,
    missing_path_is_error: false,
    denied_plugins_are_known: false,
    heartbeat_targets: &["owner", "last", "none"],
    search_providers: Some(&["gemini", "grok", "minimax", "ollama"]),
};

pub(super) const CHECKS_4: &[(&str, Check)] = &[
    ("", Check::BroadcastAgents),
    (
        "agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes",
        Check::ByteSize,
    ),
    ("agents.defaults.heartbeat", Check::Heartbeat),
    ("agents.defaults.sandbox", Check::Sandbox),
    ("agents.list.*.heartbeat", Check::Heartbeat),
    ("agents.list.*.identity.avatar", Check::Avatar),
    ("agents.list.*.sandbox", Check::Sandbox),
    ("agents.list.*.tools", Check::AllowOrAlsoAllow),
    ("agents.list.*.tools.byProvider.*", Check::AllowOrAlsoAllow),
    (
        "agents.list.*.tools.sandbox|subagents.tools",
        Check::AllowOrAlsoAllow,
    ),
    ("bindings.*", Check::BindingPeer),
    ("browser.profiles.*", Check::BrowserProfile),
    ("cron.runLog.maxBytes", Check::ByteSize),
    ("cron.sessionRetention", Check::Duration),
    ("cron.webhook", Check::WebAddress),
    ("gateway", Check::TailscaleBind),
    ("mcp.servers.*.url", Check::WebAddress),
    ("session.maintenance.highWaterBytes", Check::ByteSize),
    ("session.maintenance.maxDiskBytes", Check::ByteSize),
    ("session.maintenance.pruneAfter", Check::Duration),
    ("session.maintenance.resetArchiveRetention", Check::Duration),
    ("session.maintenance.rotateBytes", Check::ByteSize),
    ("tools", Check::AllowOrAlsoAllow),
    ("tools.byProvider.*", Check::AllowOrAlsoAllow),
    ("tools.sandbox|subagents.tools", Check::AllowOrAlsoAllow),
];

pub(super) const CHECKS_9: &[(&str, Check)] = &[
    ("", Check::BindingAndBroadcastAgents),
    ("agents", Check::Ownership),
    (
        "agents.defaults.compaction.maxActiveTranscriptBytes",
        Check::ByteSize,
    ),
    (
        "agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes",
        Check::ByteSize,
    ),
    ("agents.defaults.heartbeat.activeHours", Check::ActiveHours),
    ("agents.defaults.heartbeat.every", Check::Interval),
    ("agents.defaults.sandbox", Check::Sandbox),
    ("agents.entries.*.heartbeat.activeHours", Check::ActiveHours),
    ("agents.entries.*.heartbeat.every", Check::Interval),
    ("agents.entries.*.identity.avatar", Check::Avatar),
    ("agents.entries.*.sandbox", Check::Sandbox),
    ("agents.entries.*.tools", Check::AllowOrAlsoAllow),
    (
        "agents.entries.*.tools.byProvider.*",
        Check::AllowOrAlsoAllow,
    ),
    ("agents.entries.*.tools.exec", Check::ExecModeAlone),
    (
        "agents.entries.*.tools.sandbox|subagents.tools",
        Check::AllowOrAlsoAllow,
    ),
    (
        "agents.entries.*.tools.toolsBySender.*",
        Check::AllowOrAlsoAllow,
    ),
    ("bindings.*", Check::BindingPeer),
    ("browser.profiles.*", Check::BrowserProfile),
    ("cron.sessionRetention", Check::Duration),
    ("gateway", Check::TailscaleAuth),
    ("gateway", Check::TailscaleBind),
    ("mcp.servers.*", Check::McpServer),
    ("models.providers.*", Check::CustomProvider),
    ("nodeHost.mcp.servers.*", Check::McpServer),
    ("session.maintenance.archiveDashboardAfter", Check::Duration),
    ("session.maintenance.highWaterBytes", Check::ByteSize),
    ("session.maintenance.maxDiskBytes", Check::ByteSize),
    ("session.maintenance.pruneAfter", Check::Duration),
    ("session.maintenance.resetArchiveRetention", Check::Duration),
    ("talk", Check::NamedProvider),
    ("talk.realtime", Check::NamedProvider),
    ("tools", Check::AllowOrAlsoAllow),
    ("tools.byProvider.*", Check::AllowOrAlsoAllow),
    ("tools.exec", Check::ExecModeAlone),
    ("tools.sandbox|subagents.tools", Check::AllowOrAlsoAllow),
    ("tools.toolsBySender.*", Check::AllowOrAlsoAllow),
    ("tools.web.search.*", Check::SearchSettings),
];

/// How text is streamed was said with other keys, by the channels that could.
const STREAMING: Shape = Shape::Either(&[Shape::Flag, Shape::Text]);

const BIND_ALIASES: Shape = Shape::OneOf(&[
    "0.0.0.0",
    "::",
    "[::]",
    "*",
    "127.0.0.1",
    "localhost",
    "::1",
    "[::1]",
]);

pub(super) const EARLIER_4: &[Earlier] = &[
    ("agents.defaults.sandbox.perSession", Shape::Flag),
    ("agents.list.*.sandbox.perSession", Shape::Flag),
    ("channels.*.accounts.*.threadBindings.ttlHours", ANY_NUMBER),
    ("channels.*.threadBindings.ttlHours", ANY_NUMBER),
    (
        "channels.discord|slack|telegram.accounts.*.blockStreaming",
        Shape::Flag,
    ),
    (
        "channels.discord|slack|telegram.accounts.*.blockStreamingCoalesce|draftChunk",
        ANY_MAP,
    ),
    (
        "channels.discord|slack|telegram.accounts.*.chunkMode|streamMode",
        Shape::Text,
    ),
    (
        "channels.discord|slack|telegram.accounts.*.nativeStreaming",
        Shape::Flag,
    ),
    (
        "channels.discord|slack|telegram.accounts.*.streaming",
        STREAMING,
    ),
    (
        "channels.discord|slack|telegram.blockStreaming",
        Shape::Flag,
    ),
    (
        "channels.discord|slack|telegram.blockStreamingCoalesce|draftChunk",
        ANY_MAP,
    ),
    (
        "channels.discord|slack|telegram.chunkMode|streamMode",
        Shape::Text,
    ),
    (
        "channels.discord|slack|telegram.nativeStreaming",
        Shape::Flag,
    ),
    ("channels.discord|slack|telegram.streaming", STREAMING),
    ("channels.telegram.groupMentionsOnly", Shape::Flag),
    ("gateway.bind", BIND_ALIASES),
    ("heartbeat|memorySearch", ANY_MAP),
    ("messages.tts.edge|elevenlabs|microsoft|openai", ANY_MAP),
    ("session.threadBindings.ttlHours", ANY_NUMBER),
    ("tools.web.fetch.firecrawl", ANY_MAP),
    ("tools.web.search.apiKey", Shape::Any),
    (
        "tools.web.search.brave|duckduckgo|exa|firecrawl|gemini|grok|kimi|minimax|ollama|perplexity|searxng",
        ANY_MAP,
    ),
    ("tools.web.x_search.apiKey", Shape::Any),
];

pub(super) const EARLIER_9: &[Earlier] = &[
    ("agents.defaults.contextTokens", Shape::Any),
    ("agents.entries|list.*.contextTokens", Shape::Any),
    ("models.providers.*.contextTokens|contextWindow", Shape::Any),
    (
        "plugins.entries.github-copilot.config.discovery.enabled",
        Shape::Any,
    ),
];

/// Providers that 2026.9 brings; all others say where they are and what they have.
pub(crate) const BUILT_IN_PROVIDERS: &[&str] = &[
    "amazon-bedrock",
    "amazon-bedrock-mantle",
    "anthropic",
    "anthropic-vertex",
    "arcee",
    "azure-openai-responses",
    "byteplus",
    "byteplus-plan",
    "cerebras",
    "chutes",
    "claude-cli",
    "clawrouter",
    "cloudflare-ai-gateway",
    "codex",
    "comfy",
    "copilot-proxy",
    "dashscope",
    "deepinfra",
    "deepseek",
    "fal",
    "fireworks",
    "github-copilot",
    "gmi",
    "gmi-cloud",
    "gmicloud",
    "google",
    "google-antigravity",
    "google-gemini-cli",
    "google-vertex",
    "groq",
    "huggingface",
    "kilocode",
    "kimi",
    "kimi-coding",
    "litellm",
    "lmstudio",
    "meta",
    "microsoft-foundry",
    "minimax",
    "minimax-portal",
    "mistral",
    "modelstudio",
    "moonshot",
    "moonshot-ai",
    "moonshotai",
    "nvidia",
    "novita",
    "novita-ai",
    "novitaai",
    "ollama",
    "ollama-cloud",
    "openai",
    "opencode",
    "opencode-go",
    "openrouter",
    "qianfan",
    "qwen",
    "qwen-token-plan",
    "qwencloud",
    "sglang",
    "stepfun",
    "stepfun-plan",
    "synthetic",
    "tencent-tokenhub",
    "tencent-tokenplan",
    "together",
    "venice",
    "vercel-ai-gateway",
    "vllm",
    "volcengine",
    "volcengine-plan",
    "vydra",
    "x-ai",
    "xai",
    "xiaomi",
    "xiaomi-token-plan",
    "z.ai",
    "z-ai",
    "zai",
];

/// What 2026.9 refuses in `tools.web.search` since it belongs to plugins.
pub(crate) const SEARCH_PROVIDERS: &[&str] = &[
    "brave",
    "duckduckgo",
    "exa",
    "firecrawl",
    "gemini",
    "grok",
    "kimi",
    "minimax",
    "ollama",
    "perplexity",
    "searxng",
    "tavily",
];
