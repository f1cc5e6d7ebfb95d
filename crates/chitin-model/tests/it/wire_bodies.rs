//! Requests become bodies, by every contract.

use crate::wire_given::{APIS, Given, RULES};
use chitin_contract::ProviderRules;
use chitin_model::cost::TokenPrices;
use chitin_model::wire::{self, cache};
use chitin_model::{Api, ModelError, ModelRequest, Retention};
use chitin_protocol::message::Usage;
use serde_json::{Map, Value, json};

const CANONICAL: &ProviderRules = &ProviderRules::CANONICAL;
const OLD: &ProviderRules = &ProviderRules::OPENCLAW_2026_4;
const NEW: &ProviderRules = &ProviderRules::OPENCLAW_2026_9;

#[test]
fn anthropic_gets_blocks_and_breakpoints() {
    let api = Api::AnthropicMessages;
    let body = Given::whole(api).json(api, CANONICAL);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        body["system"],
        json!([
            {"type": "text", "text": "Stable.", "cache_control": mark},
            {"type": "text", "text": "Changing."},
        ])
    );
    let image = |data: &str, media_type: &str| {
        json!({"type": "image", "source":
            {"type": "base64", "media_type": media_type, "data": data}})
    };
    let mut last = image("BBBB", "image/jpeg");
    last["cache_control"] = mark;
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [
                {"type": "text", "text": "One."},
                {"type": "tool_use", "id": "call_1_fc_1", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "call_2_fc_2", "name": "read", "input": {"path": "b"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1_fc_1", "content": "A\nB", "is_error": false},
                {"type": "tool_result", "tool_use_id": "call_2_fc_2", "content": [
                    {"type": "text", "text": "(see attached image)"},
                    image("AAAA", "image/png"),
                ], "is_error": true},
            ]},
            {"role": "user", "content": [{"type": "text", "text": "And this?"}, last]},
        ])
    );
}

#[test]
fn completions_get_messages() {
    let api = Api::OpenaiCompletions;
    let body = Given::whole(api).json(api, CANONICAL);
    let call = |id: &str, arguments: &str| {
        json!({"id": id, "type": "function",
            "function": {"name": "read", "arguments": arguments}})
    };
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let words = body["messages"][5]["content"][0].clone();
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Stable.\nChanging."},
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": "One.", "tool_calls": [
                call("call_1", "{\"path\":\"a\"}"),
                call("call_2", "{\"path\":\"b\"}"),
            ]},
            {"role": "tool", "content": "A\nB", "tool_call_id": "call_1"},
            {"role": "tool", "content": "(see attached image)", "tool_call_id": "call_2"},
            {"role": "user", "content": [words, image("data:image/png;base64,AAAA")]},
            {"role": "user", "content": [
                {"type": "text", "text": "And this?"},
                image("data:image/jpeg;base64,BBBB"),
            ]},
        ])
    );
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(body["max_completion_tokens"], 4000);
}

#[test]
fn responses_get_items() {
    let api = Api::OpenaiResponses;
    let given = Given::whole(api);
    let body = given.json(api, OLD);
    assert_eq!(
        body["input"][2],
        json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "One.", "annotations": []}],
            "status": "completed", "id": "msg_1"})
    );
    assert_eq!(
        body["input"][3],
        json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read",
            "arguments": "{\"path\":\"a\"}"})
    );
    assert_eq!(
        body["input"][6],
        json!({"type": "function_call_output", "call_id": "call_2", "output": [
            {"type": "input_text", "text": "(see attached image)"},
            {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA"},
        ]})
    );
    assert_eq!(body["store"], false);
    let body = given.json(api, CANONICAL);
    assert!(body["input"][3].get("id").is_none(), "{body:#}");
}

#[test]
fn ollama_gets_plain_texts() {
    let api = Api::Ollama;
    let body = Given::whole(api).json(api, OLD);
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Stable.\nChanging."},
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": "  One.", "tool_calls": [
                {"function": {"name": "read", "arguments": {"path": "a"}}},
                {"function": {"name": "read", "arguments": {"path": "b"}}},
            ]},
            {"role": "tool", "content": "A\nB", "tool_name": "read"},
            {"role": "tool", "content": "(see attached image)", "images": ["AAAA"], "tool_name": "read"},
            {"role": "user", "content": " And this?", "images": ["BBBB"]},
        ])
    );
    assert_eq!(
        body["options"],
        json!({"num_ctx": 8192, "num_predict": 4000})
    );
    let body = Given::whole(api).json(api, NEW);
    assert_eq!(body["options"], json!({"num_predict": 4000}));
    assert_eq!(
        (&body["truncate"], &body["shift"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(body["messages"][4]["tool_call_id"], "call_2|fc_2");
}

#[test]
fn fields_stand_in_the_order_of_the_recorded_requests() {
    let keys = |api: Api, rules| -> Vec<String> {
        let body: Map<String, Value> =
            serde_json::from_str(&Given::whole(api).body(api, rules)).expect("an object");
        body.keys().cloned().collect()
    };
    let expected = [
        "model",
        "messages",
        "max_tokens",
        "stream",
        "system",
        "tools",
    ];
    assert_eq!(keys(Api::AnthropicMessages, OLD), expected);
    let expected = [
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "tool_choice",
        "max_completion_tokens",
    ];
    assert_eq!(keys(Api::OpenaiCompletions, NEW), expected);
    let expected = [
        "model",
        "input",
        "stream",
        "max_output_tokens",
        "tools",
        "store",
    ];
    assert_eq!(keys(Api::OpenaiResponses, OLD), expected);
    let expected = [
        "model", "messages", "stream", "tools", "options", "truncate", "shift",
    ];
    assert_eq!(keys(Api::Ollama, NEW), expected);
}

#[test]
fn thoughts_go_back_to_whoever_thought_them() {
    let conversation = |api: Api, model: &str| {
        Given::new(json!([
            {"role": "user", "content": "Think."},
            {"role": "assistant", "api": api.name(), "model": model, "content": [
                {"type": "thinking", "thinking": "Signed.", "thinkingSignature": "c2ln"},
                {"type": "thinking", "thinking": "Unsigned."},
                {"type": "thinking", "thinking": "x", "thinkingSignature": "c2VhbA==", "redacted": true},
                {"type": "thinking", "thinking": "", "thinkingSignature": "Ymxhbms="},
                {"type": "text", "text": "Well."},
            ]},
        ]))
    };
    let api = Api::AnthropicMessages;
    let blocks = |given: &Given, rules| given.json(api, rules)["messages"][1]["content"].clone();
    let own = conversation(api, "m");
    assert_eq!(
        blocks(&own, OLD),
        json!([
            {"type": "thinking", "thinking": "Signed.", "signature": "c2ln"},
            {"type": "text", "text": "Unsigned."},
            {"type": "redacted_thinking", "data": "c2VhbA=="},
            {"type": "text", "text": "Well."},
        ])
    );
    assert_eq!(
        blocks(&own, CANONICAL)[3],
        json!({"type": "thinking", "thinking": "", "signature": "Ymxhbms="})
    );
    for foreign in [conversation(api, "other"), conversation(Api::Ollama, "m")] {
        assert_eq!(
            blocks(&foreign, CANONICAL),
            json!([
                {"type": "text", "text": "Signed."},
                {"type": "text", "text": "Unsigned."},
                {"type": "text", "text": "Well."},
            ])
        );
    }
}

#[test]
fn thoughts_of_completions_go_back_to_their_field() {
    let api = Api::OpenaiCompletions;
    let given = |field: &str| {
        let given = Given::new(json!([
            {"role": "assistant", "api": api.name(), "model": "m", "content": [
                {"type": "thinking", "thinking": "Hm.", "thinkingSignature": field},
                {"type": "text", "text": "Well."},
            ]},
        ]));
        given.json(api, CANONICAL)["messages"][0].clone()
    };
    assert_eq!(given("reasoning")["reasoning"], "Hm.");
    // A signature of another kind is not the name of a field.
    let odd = given("role");
    assert_eq!(odd, json!({"role": "assistant", "content": "Well."}));
}

#[test]
fn sealed_thoughts_of_responses_go_back_whole_and_others_take_the_names_with_them() {
    let api = Api::OpenaiResponses;
    let items = |item: Value| {
        let given = Given::new(json!([
            {"role": "assistant", "api": api.name(), "model": "m", "content": [
                {"type": "thinking", "thinking": "Hm.", "thinkingSignature": item.to_string()},
                {"type": "text", "text": "Well.",
                 "textSignature": "{\"v\":1,\"id\":\"m1\",\"phase\":\"commentary\"}"},
                {"type": "toolCall", "id": "c|fc_1", "name": "x", "arguments": {}},
            ]},
        ]));
        given.json(api, OLD)["input"].clone()
    };
    let sealed = json!({"type": "reasoning", "id": "rs", "encrypted_content": "x", "summary": []});
    let items_of_sealed = items(sealed.clone());
    assert_eq!(items_of_sealed[0], sealed);
    assert_eq!(items_of_sealed[1]["id"], "m1");
    assert_eq!(items_of_sealed[1]["phase"], "commentary");
    assert_eq!(items_of_sealed[2]["id"], "fc_1");
    let open = items(json!({"type": "reasoning", "id": "rs", "summary": []}));
    assert_eq!(open[0]["id"], "msg_0");
    assert!(open[1].get("id").is_none(), "{open:#}");
}

#[test]
fn failed_answers_are_not_sent_again() {
    let given = Given::new(json!([
        {"role": "user", "content": "One?"},
        {"role": "assistant", "stopReason": "aborted", "content": [
            {"type": "text", "text": "Half"},
            {"type": "toolCall", "id": "lost", "name": "x", "arguments": {}},
        ]},
        {"role": "toolResult", "toolCallId": "lost", "content": "never"},
        {"role": "assistant", "stopReason": "error", "content": []},
        {"role": "user", "content": "Two?"},
    ]));
    for api in APIS {
        for rules in RULES {
            let body = given.body(api, rules);
            assert!(!body.contains("Half"), "{body}");
            assert!(!body.contains("never"), "{body}");
            assert!(body.contains("One?") && body.contains("Two?"), "{body}");
        }
    }
}

#[test]
fn nothing_to_say_is_not_sent_to_anthropic() {
    let given = Given::new(json!([
        {"role": "user", "content": " \u{feff}\n"},
        {"role": "assistant", "content": [{"type": "text", "text": ""}]},
    ]));
    let wire = wire::of(Api::AnthropicMessages);
    let error = wire.body(&given.request(CANONICAL)).expect_err("nothing");
    assert!(matches!(error, ModelError::Unbuildable(_)), "{error}");
}

#[test]
fn the_users_own_fields_are_laid_over() {
    let mut given = Given::whole(Api::Ollama);
    let Value::Object(extra) =
        json!({"options": {"temperature": 0}, "keep_alive": "5m", "shift": true})
    else {
        unreachable!()
    };
    given.extra = extra;
    let body = given.json(Api::Ollama, CANONICAL);
    assert_eq!(
        body["options"],
        json!({"num_ctx": 8192, "num_predict": 4000, "temperature": 0})
    );
    assert_eq!(
        (&body["keep_alive"], &body["shift"]),
        (&json!("5m"), &json!(true))
    );
}

#[test]
fn deep_thought_is_asked_for_in_each_formats_words() {
    let mut given = Given::whole(Api::AnthropicMessages);
    given.thinking = Some("medium");
    let body = given.json(Api::AnthropicMessages, CANONICAL);
    assert_eq!(
        body["thinking"],
        json!({"type": "enabled", "budget_tokens": 4000 - 1024}),
        "there is room for the answer"
    );
    let adaptive = |model: &'static str| {
        let request = ModelRequest {
            model,
            ..given.request(CANONICAL)
        };
        let wire = wire::of(Api::AnthropicMessages);
        let body: Value =
            serde_json::from_slice(&wire.body(&request).expect("a body")).expect("JSON");
        let headers = wire.headers(&request);
        assert_eq!(
            headers
                .iter()
                .any(|(_, value)| value.contains("interleaved")),
            body["thinking"]["type"] == "enabled",
            "{model}"
        );
        body["thinking"]["type"] == "adaptive"
    };
    assert!(
        adaptive("claude-opus-4-6")
            && adaptive("claude-sonnet-5")
            && adaptive("x/claude-opus-4.10")
    );
    assert!(!adaptive("claude-opus-4-5-20251101") && !adaptive("claude-sonnet-4-20250514"));
    let body = given.json(Api::OpenaiCompletions, CANONICAL);
    assert_eq!(body["reasoning_effort"], "medium");
    let body = given.json(Api::OpenaiResponses, CANONICAL);
    assert_eq!(body["reasoning"]["effort"], "medium");
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(given.json(Api::Ollama, CANONICAL)["think"], true);
}

#[test]
fn breakpoints_follow_the_contract() {
    let payload = json!({
        "system": [{"type": "text", "text": "S"}, {"type": "image"}],
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "tool_use"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "r"}]},
        ],
    });
    let set = |rules: &ProviderRules, retention| {
        let mut body = payload.as_object().cloned().expect("an object");
        cache::set_breakpoints(&mut body, retention, &rules.anthropic);
        Value::Object(body)
    };
    let mark = json!({"type": "ephemeral"});
    let body = set(OLD, Retention::Short);
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"][0]["content"], "q");
    let body = set(NEW, Retention::Short);
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(set(NEW, Retention::None), payload);
    let at = |base_url| cache::retention_at(Retention::Long, base_url, &OLD.anthropic);
    assert_eq!(at("https://api.anthropic.com:443/x"), Retention::Long);
    assert_eq!(at("https://eu-aiplatform.googleapis.com"), Retention::Long);
    assert_eq!(
        at("https://api.anthropic.com.example.org"),
        Retention::Short
    );
    assert_eq!(
        at("https://api.anthropic.com@example.org/"),
        Retention::Short
    );
}

#[test]
fn never_more_than_four_breakpoints() {
    let mut given = Given::whole(Api::AnthropicMessages);
    given.messages.pop();
    let text = given.body(Api::AnthropicMessages, NEW);
    assert_eq!(text.matches("cache_control").count(), 4, "{text}");
}

#[test]
fn base_urls_are_joined_however_they_are_written() {
    let url = |api, base| wire::url(wire::of(api), base);
    for base in ["https://h", "https://h/", "https://h/v1", "https://h/v1/"] {
        assert_eq!(url(Api::AnthropicMessages, base), "https://h/v1/messages");
        assert_eq!(
            url(Api::OpenaiCompletions, base),
            "https://h/v1/chat/completions"
        );
        assert_eq!(url(Api::OpenaiResponses, base), "https://h/v1/responses");
        assert_eq!(url(Api::Ollama, base), "https://h/api/chat");
    }
    let odd = "https://h/openai/deployments";
    assert_eq!(
        url(Api::OpenaiCompletions, odd),
        "https://h/openai/deployments/chat/completions"
    );
}

#[test]
fn tokens_cost_what_the_prices_say() {
    let prices = TokenPrices {
        input: 3.0,
        output: 15.0,
        cache_read: 0.3,
        cache_write: 3.75,
    };
    let mut usage = Usage {
        input: 1_000_000,
        output: 200_000,
        cache_read: 10_000_000,
        cache_write: 0,
        ..Usage::default()
    };
    prices.apply(&mut usage);
    let cost = usage.cost;
    assert!((cost.input - 3.0).abs() < 1e-9 && (cost.output - 3.0).abs() < 1e-9);
    assert!((cost.cache_read - 3.0).abs() < 1e-9 && cost.cache_write == 0.0);
    assert!((cost.total - 9.0).abs() < 1e-9);
}
