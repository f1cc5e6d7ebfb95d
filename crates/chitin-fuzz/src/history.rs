//! Records of a session as JSON lines, turned into what a model is sent, and planned into a summary.

use crate::recipe::Recipe;
use crate::{novelty, records};
use chitin_agent::history::{
    Assembling, Author, FailedResults, PlanOptions, WrittenSummary, messages_for_model,
    plan_compaction, prefix_changes, repair,
};
use chitin_contract::{HistoryRules, SummaryRules};
use chitin_protocol::message::{Block, Message};
use chitin_protocol::text::utf16_len;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};

/// What session files are made of.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n",
    "{\"type\":\"message\",\"id\":\"b\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"t\",\"name\":\"read\",\"arguments\":{\"path\":\"f\"}}],\"stopReason\":\"toolUse\"}}\n",
    "{\"type\":\"message\",\"id\":\"c\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"y\"}],\"isError\":true}}\n",
    "{\"type\":\"compaction\",\"id\":\"d\",\"summary\":\"s\",\"firstKeptEntryId\":\"b\",\"tokensBefore\":1}\n",
    "{\"type\":\"custom_message\",\"id\":\"e\",\"content\":\"n\"}\n",
    "\"stopReason\":\"aborted\"",
    "\"stopReason\":\"error\"",
    "\"type\":\"image\"",
    "\"role\":\"bashExecution\"",
    "\"role\":\"branchSummary\"",
    "\"content\":null",
    "\"toolCallId\":\"\"",
    "\"usage\":{\"totalTokens\":99999999}",
    "[media attached 1/2: x]",
    "\\ud83d\\ude00",
];

/// Reads the lines that are records, and holds every promise of the history against them, by every set of rules. An input that
/// begins with a one is choices for a tree of records.
pub fn run(data: &[u8]) {
    let text = match data.split_first() {
        Some((1, choices)) => records::lines(&mut Recipe::new(choices)).into(),
        Some(_) | None => String::from_utf8_lossy(data),
    };
    let branch: Vec<TranscriptEntry> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    novelty::note(branch.len().min(12));
    for rules in [
        HistoryRules::CANONICAL,
        HistoryRules::OPENCLAW_2026_4,
        HistoryRules::OPENCLAW_2026_9,
    ] {
        sent(&branch, &rules);
        planned(&branch, &rules);
    }
}

fn sent(branch: &[TranscriptEntry], rules: &HistoryRules) {
    let options = Assembling {
        window: 2000,
        turns: Some(2),
        ..Assembling::default()
    };
    let all = messages_for_model(branch, &options, rules);
    assert_eq!(
        all,
        messages_for_model(branch, &options, rules),
        "the same records give other messages"
    );
    assert_paired(&all.messages);
    let again = repair(&all.messages, FailedResults::Drop, &rules.repair);
    novelty::note((all.messages.len().min(12), again.changed));
    let fewer = messages_for_model(&branch[..branch.len().saturating_sub(1)], &options, rules);
    let causes = prefix_changes(&fewer, &all);
    assert_eq!(
        causes.is_empty(),
        all.messages.starts_with(&fewer.messages),
        "a beginning changed without a stated cause"
    );
}

/// Every call has one result right behind its answer, and no result is anywhere else.
fn assert_paired(messages: &[Message]) {
    let mut wanted: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::ToolResult(result) => {
                let found = wanted.iter().position(|id| *id == result.tool_call_id);
                wanted.remove(found.expect("a result without its call"));
            }
            Message::Assistant(_) | Message::User(_) | Message::Other(_) => {
                assert!(wanted.is_empty(), "a call without its result");
                // What looks like a call in anybody else's words is none.
                let blocks = match message {
                    Message::Assistant(_) => message.content(),
                    Message::User(_) | Message::ToolResult(_) | Message::Other(_) => None,
                };
                let blocks = blocks.map(chitin_protocol::message::Content::blocks);
                wanted.extend(
                    blocks
                        .unwrap_or_default()
                        .iter()
                        .filter_map(|block| match block {
                            Block::ToolCall(call) => Some(call.id.as_str()),
                            Block::Text(_)
                            | Block::Thinking(_)
                            | Block::Image(_)
                            | Block::Other(_) => None,
                        }),
                );
            }
        }
    }
    assert!(wanted.is_empty(), "a call without its result");
}

fn planned(branch: &[TranscriptEntry], rules: &HistoryRules) {
    let mut options = PlanOptions::new(2000);
    options.compacting.keep_recent_tokens = 20;
    let Some(plan) = plan_compaction(branch, &options, rules) else {
        return;
    };
    let first = branch
        .iter()
        .find(|entry| entry.id == plan.preparation.first_kept_id)
        .expect("the first record that stays is not there");
    let cuttable = branch.iter().any(|entry| {
        matches!(
            entry.body,
            EntryBody::Message(Message::User(_) | Message::Assistant(_))
        )
    });
    let at_result = matches!(first.body, EntryBody::Message(Message::ToolResult(_)));
    let same_id = branch.iter().filter(|entry| entry.id == first.id).count() > 1;
    assert!(!cuttable || !at_result || same_id, "cut at a tool result");
    for step in &plan.steps {
        let request = plan.request(step, Some("so far"));
        novelty::note(request.user.len().ilog2());
    }
    let written = WrittenSummary {
        history: Some("notes".repeat(4000)),
        turn_prefix: Some("prefix".repeat(4000)),
        author: Author::Model,
    };
    for written in [written, plan.from_records("no model")] {
        let record = plan.finish(&written);
        assert!(
            utf16_len(&record.summary) <= SummaryRules::MAX_CHARS,
            "a summary is too long"
        );
    }
}
