//! What the tests of the wire formats are given: a conversation with everything in it, and an answer per format.

use chitin_contract::ProviderRules;
use chitin_model::stream::StreamEvent;
use chitin_model::wire;
use chitin_model::{Api, ModelError, ModelRequest, Retention};
use chitin_protocol::message::{AssistantMessage, Message};
use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value, json};

pub(crate) const APIS: [Api; 4] = [
    Api::AnthropicMessages,
    Api::OpenaiCompletions,
    Api::OpenaiResponses,
    Api::Ollama,
];

pub(crate) const RULES: [&ProviderRules; 3] = [
    &ProviderRules::CANONICAL,
    &ProviderRules::OPENCLAW_2026_4,
    &ProviderRules::OPENCLAW_2026_9,
];

/// An answer with thoughts, text and two calls: one good, one broken. The text has letters of two and four bytes.
pub(crate) fn answer(api: Api) -> &'static str {
    match api {
        Api::AnthropicMessages => concat!(
            "\u{feff}: hello\n",
            "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_9\",",
            "\"usage\":{\"input_tokens\":7,\"output_tokens\":1,\"cache_read_input_tokens\":100,",
            "\"cache_creation_input_tokens\":20}}}\r\n\r\n",
            "event: ping\ndata: {\"type\": \"ping\"}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\r\ndata: ",
            "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":",
            "{\"type\":\"thinking_delta\",\"thinking\":\"Hmm\"}}\r\r",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":",
            "{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":1,",
            "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":1,",
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"Größe \"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":1,",
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"😀\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":",
            "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"read\",\"input\":{}}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":",
            "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"path\\\":\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":",
            "{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"a\\\"}\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":",
            "{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"read\",\"input\":{}}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":",
            "{\"type\":\"input_json_delta\",\"partial_json\":\"{path: a\"}}\n\n",
            "data: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},",
            "\"usage\":{\"output_tokens\":30}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
        Api::OpenaiCompletions => concat!(
            "data: {\"id\":\"c9\",\"choices\":[{\"index\":0,\"delta\":",
            "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"Hmm\"}}]}\n\n",
            ": keep-alive\n\n",
            "data: {\"id\":\"c9\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Größe \"}}]}\n\n",
            "data: {\"id\":\"c9\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"😀\"}}]}\r\n\r\n",
            "data: {\"id\":\"c9\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,",
            "\"id\":\"call_1\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\"}}]}}]}\n\n",
            "data: {\"id\":\"c9\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,",
            "\"id\":\"call_2\",\"function\":{\"name\":\"read\",\"arguments\":\"{path: a\"}}]}}]}\n\n",
            "data: {\"id\":\"c9\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,",
            "\"function\":{\"arguments\":\"\\\"a\\\"}\"}}]}}]}\n\n",
            "data: {\"id\":\"c9\",\"choices\":[{\"index\":0,\"delta\":{},",
            "\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: {\"id\":\"c9\",\"choices\":[],\"usage\":{\"prompt_tokens\":127,",
            "\"completion_tokens\":30,\"prompt_tokens_details\":{\"cached_tokens\":100,",
            "\"cache_write_tokens\":20}}}\n\n",
            "data: [DONE]\n\n",
        ),
        Api::OpenaiResponses => concat!(
            "event: response.created\n",
            "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_9\"}}\n\n",
            "data: {\"type\":\"response.output_item.added\",\"output_index\":0,",
            "\"item\":{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}}\n\n",
            "data: {\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,",
            "\"delta\":\"Hmm\"}\n\n",
            "data: {\"type\":\"response.reasoning_summary_part.done\",\"output_index\":0}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":",
            "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"encrypted_content\":\"c2ln\",",
            "\"summary\":[{\"type\":\"summary_text\",\"text\":\"Hmm\"}]}}\n\n",
            "data: {\"type\":\"response.output_item.added\",\"output_index\":1,",
            "\"item\":{\"type\":\"message\",\"id\":\"m1\",\"content\":[]}}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,",
            "\"delta\":\"Größe \"}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,",
            "\"delta\":\"😀\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":",
            "\"message\",\"id\":\"m1\",\"content\":[{\"type\":\"output_text\",\"text\":\"Größe 😀\"}]}}\n\n",
            "data: {\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"type\":",
            "\"function_call\",\"id\":\"fc_1\",\"call_id\":\"call_1\",\"name\":\"read\",\"arguments\":\"\"}}\n\n",
            "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,",
            "\"delta\":\"{\\\"path\\\":\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"type\":",
            "\"function_call\",\"id\":\"fc_1\",\"call_id\":\"call_1\",\"name\":\"read\",",
            "\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":3,\"item\":{\"type\":",
            "\"function_call\",\"id\":\"fc_2\",\"call_id\":\"call_2\",\"name\":\"read\",",
            "\"arguments\":\"{path: a\"}}\n\n",
            "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_9\",\"status\":\"completed\",",
            "\"usage\":{\"input_tokens\":127,\"output_tokens\":30,",
            "\"input_tokens_details\":{\"cached_tokens\":120}}}}\n\n",
        ),
        Api::Ollama => concat!(
            "{\"created_at\":\"t1\",\"message\":{\"role\":\"assistant\",\"content\":\"\",",
            "\"thinking\":\"Hmm\"},\"done\":false}\n",
            "{\"created_at\":\"t2\",\"message\":{\"role\":\"assistant\",\"content\":\"Größe \"},",
            "\"done\":false}\r\n\n",
            "{\"created_at\":\"t3\",\"message\":{\"role\":\"assistant\",\"content\":\"😀\"},",
            "\"done\":false}\n",
            "{\"created_at\":\"t4\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[",
            "{\"function\":{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}},",
            "{\"function\":{\"name\":\"read\",\"arguments\":\"{path: a\"}}]},\"done\":false}\n",
            "{\"created_at\":\"t5\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,",
            "\"done_reason\":\"stop\",\"prompt_eval_count\":127,\"eval_count\":30}\n",
        ),
        Api::Offline | Api::Scripted => "",
    }
}

/// Reads an answer in pieces of some length.
pub(crate) fn read(
    api: Api,
    rules: &ProviderRules,
    bytes: &[u8],
    piece: usize,
) -> (Vec<StreamEvent>, Result<(), ModelError>) {
    let mut decoder = wire::of(api).decoder_by("acme", "m", rules);
    let mut events = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        if let Err(error) = decoder.feed(piece, &mut events) {
            return (events, Err(error));
        }
    }
    let end = decoder.finish(&mut events);
    (events, end)
}

/// Returns the message that ends an answer.
pub(crate) fn last(events: &[StreamEvent]) -> &AssistantMessage {
    match events.last() {
        Some(StreamEvent::Done(message) | StreamEvent::Failed(message)) => message,
        other => panic!("no end: {other:?}"),
    }
}

/// Returns the names of events, repeats once.
pub(crate) fn names(events: &[StreamEvent]) -> Vec<&'static str> {
    let mut names: Vec<_> = events.iter().map(StreamEvent::name).collect();
    names.dedup();
    names
}

/// What a request borrows from.
pub(crate) struct Given {
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) extra: Map<String, Value>,
    pub(crate) system: String,
    pub(crate) thinking: Option<&'static str>,
    pub(crate) retention: Retention,
}

impl Given {
    /// A conversation given as JSON.
    pub(crate) fn new(messages: Value) -> Self {
        Self {
            messages: serde_json::from_value(messages).expect("messages"),
            tools: Vec::new(),
            extra: Map::new(),
            system: String::new(),
            thinking: None,
            retention: Retention::Short,
        }
    }

    /// A conversation with everything in it, held with the model `m` of an API.
    pub(crate) fn whole(api: Api) -> Self {
        let mut given = Self::new(json!([
            {"role": "user", "content": "Look."},
            {"role": "assistant", "api": api.name(), "model": "m", "content": [
                {"type": "text", "text": "  "},
                {"type": "text", "text": "One."},
                {"type": "toolCall", "id": "call_1|fc_1", "name": "read", "arguments": {"path": "a"}},
                {"type": "toolCall", "id": "call_2|fc_2", "name": "read", "arguments": "{\"path\":\"b\"}"},
            ]},
            {"role": "toolResult", "toolCallId": "call_1|fc_1", "toolName": "read",
             "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]},
            {"role": "toolResult", "toolCallId": "call_2|fc_2", "toolName": "read", "isError": true,
             "content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]},
            {"role": "bashExecution", "command": "ls"},
            {"role": "user", "content": [
                {"type": "text", "text": " "},
                {"type": "text", "text": "And this?"},
                {"type": "image", "data": "BBBB", "mimeType": "image/jpeg"},
            ]},
        ]));
        given.system = String::from("Stable.\n<!-- OPENCLAW_CACHE_BOUNDARY -->\nChanging.");
        given.tools = ["read", "exec"]
            .map(|name| ToolSpec {
                name: name.to_owned(),
                description: format!("Does {name}."),
                parameters: json!({"type": "object", "properties": {}, "required": []}),
            })
            .to_vec();
        given
    }

    pub(crate) fn request<'a>(&'a self, rules: &'a ProviderRules) -> ModelRequest<'a> {
        ModelRequest {
            model: "m",
            system: &self.system,
            messages: &self.messages,
            tools: &self.tools,
            max_tokens: 4000,
            context_window: Some(8192),
            thinking: self.thinking,
            retention: self.retention,
            extra: &self.extra,
            rules,
        }
    }

    /// Returns the body as text.
    pub(crate) fn body(&self, api: Api, rules: &ProviderRules) -> String {
        let body = wire::of(api).body(&self.request(rules)).expect("a body");
        String::from_utf8(body).expect("text")
    }

    /// Returns the body as JSON.
    pub(crate) fn json(&self, api: Api, rules: &ProviderRules) -> Value {
        serde_json::from_str(&self.body(api, rules)).expect("JSON")
    }
}
