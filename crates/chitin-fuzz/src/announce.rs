//! What a child says, on its way to its parent: nothing in it ends the block or leaves the fence.

use crate::novelty;
use chitin_contract::ALL;
use chitin_contract::ResultFence;
use chitin_gateway::compat;
use chitin_gateway::subagents::announce::{CompletionEvent, block, turn};

/// What a child would say to get out.
pub const DICTIONARY: &[&str] = &[
    "\0",
    compat::INTERNAL_BEGIN,
    compat::INTERNAL_END,
    compat::INTERNAL_END_ESCAPED,
    compat::RESULT_BEGIN,
    compat::RESULT_END,
    compat::RESULT_END_ESCAPED,
    compat::DATA_BEGIN,
    compat::DATA_END,
    compat::COMPLETION_EVENT,
    "<<<END_OPENCLAW_",
    "INTERNAL_CONTEXT>>>",
    "\n\n---\n\n",
    "\nAction:\n",
    "\r",
    "\r\n",
    "\u{200b}",
    "\u{2028}",
    "\u{feff}",
    "&lt;/prompt-data&gt;",
    "\"",
    "\\",
];

/// Takes texts that are parted by zero bytes as the fields of an event.
pub fn run(data: &[u8]) {
    let mut fields = data
        .splitn(8, |byte| *byte == 0)
        .map(|field| String::from_utf8_lossy(field).into_owned());
    let mut field = || fields.next().unwrap_or_default();
    let event = CompletionEvent {
        result: field(),
        task_label: field(),
        status_label: field(),
        session_key: field(),
        session_id: Some(field()),
        announce_type: field(),
        source: field(),
        stats_line: Some(field()),
        status: "ok".to_owned(),
        action: "Tell the user.".to_owned(),
    };
    for contract in ALL {
        let rules = &contract.runtime.subagents.announce;
        let text = block(&[event.clone(), event.clone()], rules);
        check_block(&text);
        // Fields cannot hold the markers of a fence in lines of their own, but only the result is fenced.
        let alone = CompletionEvent {
            result: event.result.clone(),
            action: event.action.clone(),
            ..CompletionEvent::default()
        };
        check_fence(&block(&[alone], rules), rules.fence);
        let sent = turn(std::slice::from_ref(&event), rules).expect("there is an event");
        match sent.context {
            Some(context) => {
                check_block(&context);
                let markers = [compat::INTERNAL_BEGIN, compat::INTERNAL_END];
                for marker in markers {
                    assert!(
                        !sent.message.contains(marker),
                        "a marker in a plain message"
                    );
                }
            }
            None => check_block(&sent.message),
        }
        novelty::note((text.len().ilog2(), text.lines().count().min(64)));
    }
}

fn check_block(text: &str) {
    assert!(text.starts_with(compat::INTERNAL_BEGIN));
    assert!(text.ends_with(compat::INTERNAL_END));
    assert_eq!(
        text.matches(compat::INTERNAL_BEGIN).count(),
        1,
        "a block in a block"
    );
    assert_eq!(
        text.matches(compat::INTERNAL_END).count(),
        1,
        "a block that ends early"
    );
}

fn check_fence(text: &str, fence: ResultFence) {
    match fence {
        ResultFence::Markers => {
            assert_eq!(text.matches(compat::RESULT_BEGIN).count(), 1);
            assert_eq!(text.matches(compat::RESULT_END).count(), 1, "an open fence");
        }
        // The recorded release leaves these as they are.
        ResultFence::OpenMarkers => {}
        ResultFence::PromptData => {
            assert!(text.matches(compat::DATA_BEGIN).count() <= 1);
            assert!(text.matches(compat::DATA_END).count() <= 1, "an open fence");
        }
    }
}
