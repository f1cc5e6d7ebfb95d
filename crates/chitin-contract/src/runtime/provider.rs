//! How requests to model providers are built (P1–P12), and what an answer leaves in the transcript.

use schemars::JsonSchema;
use serde::Serialize;

/// How requests to model providers are built (P1–P12).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRules {
    /// The order in which tools are told (P7).
    pub tool_order: ToolOrder,
    /// Whether a request without tools says so with an empty list. Ollama never gets one.
    pub lists_no_tools: bool,
    /// What stands for a tool's result that has no text and no picture.
    pub empty_result: &'static str,
    /// Where the line about program, machine and model goes, if the system prompt marks it as movable.
    pub runtime_line: RuntimeLine,
    /// Whether text that comes with calls of tools is marked as commentary.
    pub marks_commentary: bool,
    /// Anthropic's Messages (P1–P3, P10–P12).
    pub anthropic: AnthropicRules,
    /// Chat Completions (P4).
    pub completions: CompletionsRules,
    /// Responses (P5).
    pub responses: ResponsesRules,
    /// Ollama's chat (P6).
    pub ollama: OllamaRules,
}

/// The order in which tools are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolOrder {
    /// As they are given.
    Given,
    /// By name, so that the prefix of the request stays the same.
    ByName,
}

/// Where the line about program, machine and model goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeLine {
    /// It stays where it is; nothing is marked.
    InPlace,
    /// To the end of the first message in Chat Completions, which know no breakpoints, so that sessions share a system prompt; it stays
    /// where it is in every other format. The marks go in any case.
    FirstMessage,
}

/// Which block of the conversation ends the part that shall be cached (P12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MessageBreakpoint {
    /// The last block of the last message, if that message is the user's.
    LastMessage,
    /// The last text or picture of the user; and the last result of a tool after it, while four breakpoints last.
    LastUserBlocks,
}

/// When the end of a call is announced. The message at the end of the answer holds every call in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallEnds {
    /// As soon as it is known.
    AtOnce,
    /// When the answer is complete.
    Last,
    /// Not at all.
    Never,
}

/// Anthropic's Messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnthropicRules {
    /// The beta features that are asked for (P1).
    pub betas: &'static [&'static str],
    /// Which block of the conversation is a breakpoint (P12).
    pub message_breakpoint: MessageBreakpoint,
    /// Whether the last tool is a breakpoint (P12).
    pub tool_breakpoint: bool,
    /// Whether long retention is only asked of hosts that are known to offer it (P11).
    pub long_only_at_known_hosts: bool,
    /// Whether signed thoughts are sent again although their text is blank.
    pub sends_blank_thoughts: bool,
    /// Whether the answer is announced before anything of it is known to be good.
    pub starts_at_once: bool,
    /// When the end of a call is announced.
    pub call_ends: CallEnds,
}

/// Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompletionsRules {
    /// What joins the texts of one answer when it is sent again.
    pub text_joint: &'static str,
    /// Whether `tool_choice` says `auto` where there are tools; the tools then stand before the limit.
    pub chooses_tools: bool,
    /// Whether the end of a text or a thought is announced.
    pub announces_text_ends: bool,
    /// When the end of a call is announced.
    pub call_ends: CallEnds,
    /// The field of a call that keeps the arguments as they came, if they are kept.
    pub arguments_kept_as: Option<&'static str>,
}

/// Responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResponsesRules {
    /// Whether every message says that it is one, and has a list of parts.
    pub types_messages: bool,
    /// Whether what the model said is sent again with the names that the provider gave to its parts.
    pub sends_item_ids: bool,
    /// The field of a call that keeps the arguments as they came, if they are kept.
    pub arguments_kept_as: Option<&'static str>,
}

/// Ollama's chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OllamaRules {
    /// Whether `num_ctx` is sent.
    pub sends_window: bool,
    /// The `num_ctx` of a model whose window is not known.
    pub window_unless_known: Option<u64>,
    /// Whether the server is told to refuse what is too long, rather than to cut it.
    pub forbids_cutting: bool,
    /// Whether calls and their results carry the name of the call.
    pub sends_call_ids: bool,
    /// Whether thoughts are sent again.
    pub sends_thoughts: bool,
    /// Whether an answer that ran out of room says so; calls in it are then dropped.
    pub knows_length: bool,
    /// Whether calls are announced. The message at the end of the answer holds them in any case.
    pub announces_calls: bool,
    /// Whether the answer is announced only when there is something of it to show.
    pub starts_late: bool,
}

impl ProviderRules {
    /// What the seed documents say.
    pub const CANONICAL: Self = Self {
        tool_order: ToolOrder::Given,
        lists_no_tools: false,
        empty_result: NO_OUTPUT,
        runtime_line: RuntimeLine::InPlace,
        marks_commentary: false,
        anthropic: AnthropicRules {
            betas: BETAS,
            message_breakpoint: MessageBreakpoint::LastMessage,
            tool_breakpoint: false,
            long_only_at_known_hosts: false,
            sends_blank_thoughts: true,
            starts_at_once: false,
            call_ends: CallEnds::AtOnce,
        },
        completions: CompletionsRules {
            text_joint: "\n",
            chooses_tools: false,
            announces_text_ends: true,
            call_ends: CallEnds::AtOnce,
            arguments_kept_as: None,
        },
        responses: ResponsesRules {
            types_messages: true,
            sends_item_ids: false,
            arguments_kept_as: None,
        },
        ollama: OllamaRules {
            sends_window: true,
            window_unless_known: None,
            forbids_cutting: true,
            sends_call_ids: true,
            sends_thoughts: true,
            knows_length: true,
            announces_calls: true,
            starts_late: false,
        },
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        tool_order: ToolOrder::Given,
        lists_no_tools: true,
        empty_result: "",
        runtime_line: RuntimeLine::InPlace,
        marks_commentary: false,
        anthropic: AnthropicRules {
            betas: BETAS,
            message_breakpoint: MessageBreakpoint::LastMessage,
            tool_breakpoint: false,
            long_only_at_known_hosts: true,
            sends_blank_thoughts: false,
            starts_at_once: true,
            call_ends: CallEnds::AtOnce,
        },
        completions: CompletionsRules {
            text_joint: "",
            chooses_tools: false,
            announces_text_ends: false,
            call_ends: CallEnds::Never,
            arguments_kept_as: Some("partialArgs"),
        },
        responses: ResponsesRules {
            types_messages: false,
            sends_item_ids: true,
            arguments_kept_as: Some("partialJson"),
        },
        ollama: OllamaRules {
            sends_window: true,
            window_unless_known: Some(65_536),
            forbids_cutting: false,
            sends_call_ids: false,
            sends_thoughts: false,
            knows_length: false,
            announces_calls: false,
            starts_late: true,
        },
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        tool_order: ToolOrder::ByName,
        lists_no_tools: false,
        empty_result: NO_OUTPUT,
        runtime_line: RuntimeLine::FirstMessage,
        marks_commentary: true,
        anthropic: AnthropicRules {
            betas: &[],
            message_breakpoint: MessageBreakpoint::LastUserBlocks,
            tool_breakpoint: true,
            long_only_at_known_hosts: false,
            sends_blank_thoughts: true,
            starts_at_once: false,
            call_ends: CallEnds::Last,
        },
        completions: CompletionsRules {
            text_joint: "\n",
            chooses_tools: true,
            announces_text_ends: false,
            call_ends: CallEnds::Last,
            arguments_kept_as: None,
        },
        responses: ResponsesRules {
            types_messages: true,
            sends_item_ids: false,
            arguments_kept_as: None,
        },
        ollama: OllamaRules {
            sends_window: false,
            window_unless_known: None,
            forbids_cutting: true,
            sends_call_ids: true,
            sends_thoughts: true,
            knows_length: true,
            announces_calls: true,
            starts_late: true,
        },
    };
}

/// The beta features of Anthropic's Messages that 2026.4 asks for.
const BETAS: &[&str] = &[
    "fine-grained-tool-streaming-2025-05-14",
    "interleaved-thinking-2025-05-14",
];

/// What stands for a result without text.
const NO_OUTPUT: &str = "(no output)";
