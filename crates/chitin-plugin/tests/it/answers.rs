//! Whatever a plugin writes, what is used of it is a whole context or none.

use chitin_plugin::protocol::{LONGEST_LINE, LineBuffer, PluginMessage, assembled, parse};
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, Message, ToolCallBlock, ToolResultMessage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn user(text: &str) -> Message {
    Message::user(text, 0)
}

fn call(id: &str) -> Message {
    let block = Block::ToolCall(ToolCallBlock {
        id: id.to_owned(),
        name: "read".to_owned(),
        ..ToolCallBlock::default()
    });
    Message::Assistant(AssistantMessage {
        content: Content::Blocks(vec![block]),
        api: None,
        provider: None,
        model: None,
        usage: None,
        stop_reason: None,
        error_message: None,
        timestamp: None,
        response_id: None,
        extra: Extra::new(),
    })
}

fn result(id: &str) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.to_owned(),
        tool_name: None,
        content: Content::Text("found".to_owned()),
        details: None,
        is_error: false,
        timestamp: None,
        extra: Extra::new(),
    })
}

fn conversation() -> Vec<Message> {
    vec![
        user("a"),
        call("1"),
        result("1"),
        user("b"),
        call("2"),
        result("2"),
        user("c"),
    ]
}

#[test]
fn a_context_is_what_the_engine_chose_of_the_conversation() {
    let given = conversation();
    let answer = json!({"messages": [0, 4, 5, {"role": "user", "content": "note"}, 6]});
    let context = assembled(answer, &given).unwrap();
    let mut expected = vec![given[0].clone(), given[4].clone(), given[5].clone()];
    expected.push(serde_json::from_value(json!({"role": "user", "content": "note"})).unwrap());
    expected.push(given[6].clone());
    assert_eq!(context.messages, expected);
}

#[test]
fn a_context_that_no_provider_would_take_is_refused() {
    let given = conversation();
    for (messages, why) in [
        (json!([]), "last message"),
        (json!([0, 1, 2]), "last message"),
        (json!([6, 0]), "comes after"),
        (json!([6, 6]), "comes after"),
        (json!([0, 1, 6]), "its result is not"),
        (json!([2, 6]), "its call is not"),
        (json!([7]), "no message 7"),
        (json!([-1, 6]), "message 0"),
        (
            json!([{"role": "assistant", "content": "made up"}, 6]),
            "role `user`",
        ),
        (
            json!([{"role": "toolResult", "toolCallId": "9", "content": "x"}, 6]),
            "role `user`",
        ),
        (json!([{"role": "user", "content": 5}, 6]), "role `user`"),
        (json!([{"role": "user", "content": ""}, 6]), "role `user`"),
        (
            json!([{"role": "system", "content": "x"}, 6]),
            "role `user`",
        ),
        (json!([{"content": "x"}, 6]), "no role"),
        (json!([null, 6]), "message 0"),
    ] {
        let error = assembled(json!({"messages": messages.clone()}), &given).unwrap_err();
        assert!(error.contains(why), "{messages}: {error}");
    }
}

/// A good answer, and what becomes of it when bytes are lost, doubled or changed on the way.
fn garbled() -> impl Strategy<Value = Vec<u8>> {
    let answer = json!({"jsonrpc": "2.0", "id": 2, "result":
        {"messages": [0, 1, 2, 6], "systemPromptAddition": "Mind the gap.", "estimatedTokens": 12}});
    let line = serde_json::to_vec(&answer).unwrap();
    let length = line.len();
    prop::collection::vec((0..length, any::<u8>(), 0..4_u8), 0..4).prop_map(move |changes| {
        let mut line = line.clone();
        for (at, byte, how) in changes {
            let at = at.min(line.len().saturating_sub(1));
            match how {
                0 if !line.is_empty() => line.truncate(at),
                1 if !line.is_empty() => drop(line.remove(at)),
                2 => line.insert(at, byte),
                _ if !line.is_empty() => line[at] = byte,
                _ => {}
            }
        }
        line
    })
}

proptest! {
    #[test]
    fn a_garbled_answer_never_gives_half_a_context(line in garbled()) {
        let given = conversation();
        let Ok(PluginMessage::Answer { outcome: Ok(value), .. }) = parse(&line) else {
            return Ok(());
        };
        let Ok(context) = assembled(value.clone(), &given) else {
            return Ok(());
        };
        // What is used is exactly what the line says, all of it.
        let said: Vec<Value> = value["messages"].as_array().unwrap().clone();
        prop_assert_eq!(context.messages.len(), said.len());
        prop_assert_eq!(context.messages.last(), given.last());
        for (item, message) in said.iter().zip(&context.messages) {
            if let Some(at) = item.as_u64() {
                prop_assert_eq!(message, &given[usize::try_from(at).unwrap()]);
            } else {
                prop_assert_eq!(&serde_json::to_value(message).unwrap(), item);
            }
        }
        let addition = value.get("systemPromptAddition").and_then(Value::as_str);
        let addition = addition.filter(|addition| !addition.trim().is_empty());
        prop_assert_eq!(context.system_prompt_addition.as_deref(), addition);
        let results = context.messages.iter().filter(|one| one.role() == "toolResult").count();
        let calls = context.messages.iter().filter(|one| one.role() == "assistant").count();
        prop_assert_eq!(results, calls);
    }

    #[test]
    fn no_bytes_make_the_parser_fail_otherwise_than_with_an_error(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&line);
    }

    #[test]
    fn lines_do_not_depend_on_how_the_bytes_come(
        text in "[a-c\n]{0,60}",
        cuts in prop::collection::vec(0..60_usize, 0..6),
    ) {
        let whole: Vec<Vec<u8>> = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n') && line.len() > 1)
            .map(|line| line.trim_end_matches('\n').as_bytes().to_vec())
            .collect();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut buffer = LineBuffer::default();
        let mut lines = Vec::new();
        for pair in cuts.windows(2) {
            buffer.push(&text.as_bytes()[pair[0]..pair[1]], |line| lines.extend(line));
        }
        prop_assert_eq!(lines, whole);
    }
}

#[test]
fn a_line_of_the_greatest_length_is_a_line_and_a_longer_one_ends_the_stream() {
    let mut buffer = LineBuffer::default();
    let mut lines = Vec::new();
    let mut line = vec![b'x'; LONGEST_LINE];
    line.push(b'\n');
    buffer.push(&line, |line| lines.push(line.map(|line| line.len())));
    buffer.push(&vec![b'x'; LONGEST_LINE + 1], |line| {
        lines.push(line.map(|line| line.len()));
    });
    buffer.push(b"\nmore\n", |line| lines.push(line.map(|line| line.len())));
    assert_eq!(lines, [Some(LONGEST_LINE), None]);
}
