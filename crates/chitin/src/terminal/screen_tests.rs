//! Whole turns as people, pipes and programs see them.

use super::gate::Gate;
use super::markdown::Look;
use super::plain::PlainText;
use super::screen::Screen;
use super::sink::TerminalSink;
use super::view::{Thoughts, View};
use crate::printer::{Paint, Weight};
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::{CostShares, StopReason, Usage};
use proptest::prelude::*;
use serde_json::json;
use std::io;
use std::time::Duration;

/// Remembers the pieces; lines beside the result are marked when they are asked for.
#[derive(Debug, Default)]
struct Paper {
    pieces: Vec<(bool, String)>,
    draws: bool,
}

impl TerminalSink for Paper {
    fn out(&mut self, text: &str) -> io::Result<()> {
        if !text.is_empty() {
            self.pieces.push((true, text.to_owned()));
        }
        Ok(())
    }

    fn aside(&mut self, text: &str, _weight: Weight) {
        if !text.is_empty() {
            self.pieces.push((false, text.to_owned()));
        }
    }

    fn may_draw(&self) -> bool {
        self.draws
    }
}

impl Paper {
    fn all(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn of(&self, result: bool) -> String {
        let pieces = self.pieces.iter().filter(|(out, _)| *out == result);
        pieces.map(|(_, text)| text.as_str()).collect()
    }
}

fn view(thoughts: Thoughts) -> Screen {
    let look = Look {
        width: Some(60),
        colour: false,
    };
    Screen::View(Box::new(View::new(look, Paint::forced(false), thoughts)))
}

fn text(delta: &str) -> TurnEvent {
    TurnEvent::TextDelta {
        delta: delta.to_owned(),
    }
}

fn thinks(delta: &str) -> TurnEvent {
    TurnEvent::ThinkingDelta {
        delta: delta.to_owned(),
    }
}

fn starts(call_id: &str, name: &str, arguments: serde_json::Value) -> TurnEvent {
    TurnEvent::ToolStarted {
        call_id: call_id.to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

fn ends(call_id: &str, name: &str, is_error: bool, summary: &str, runtime_ms: u64) -> TurnEvent {
    TurnEvent::ToolFinished {
        call_id: call_id.to_owned(),
        name: name.to_owned(),
        is_error,
        summary: summary.to_owned(),
        runtime_ms,
    }
}

fn finished(stop_reason: StopReason, text: &str, error: Option<&str>) -> TurnEvent {
    TurnEvent::TurnFinished {
        stop_reason,
        text: text.to_owned(),
        usage: Usage {
            input: 1_204,
            output: 312,
            cache_read: 10_000,
            cache_write: 500,
            total_tokens: 12_016,
            cost: CostShares {
                total: 0.012_34,
                ..CostShares::default()
            },
        },
        tokens_unknown: false,
        cost_unknown: false,
        calls: 2,
        context_tokens: Some(12_345),
        context_window: Some(200_000),
        error: error.map(str::to_owned),
    }
}

/// A turn with everything in it.
fn story() -> Vec<TurnEvent> {
    vec![
        TurnEvent::TurnStarted {
            run_id: "r".to_owned(),
            session_key: "agent:main:main".to_owned(),
            session_id: "s".to_owned(),
            model: "offline/echo".to_owned(),
            contract: "canonical".to_owned(),
        },
        TurnEvent::Note {
            text: "SOUL.md was cut".to_owned(),
        },
        TurnEvent::RequestSent {
            call: 1,
            api: "anthropic-messages".to_owned(),
            bytes: 1000,
            digest: "00".to_owned(),
            same_prefix: None,
        },
        TurnEvent::Retrying {
            attempt: 2,
            wait_ms: 1_500,
            reason: "The provider is overloaded.".to_owned(),
            model: "anthropic/claude".to_owned(),
        },
        thinks("The tide table is in "),
        thinks("AGENTS.md, so I read it."),
        text("Let me look."),
        starts("1", "read", json!({ "path": "AGENTS.md", "limit": 20 })),
        starts("2", "exec", json!({ "command": "ls -l\n/nowhere" })),
        ends("1", "read", false, "# Rules\nOne\nTwo", 12),
        ends("2", "exec", true, "no such directory\nand more", 1_250),
        starts("3", "nothing", json!({})),
        ends("3", "nothing", false, "", 0),
        TurnEvent::Compacted {
            tokens_before: 120_000,
            tokens_after: 8_000,
            reason: "the window is nearly full".to_owned(),
        },
        text("High water is at "),
        text("**noon**.\nThen it ebbs."),
        TurnEvent::Stored {
            entry_id: "e".to_owned(),
            kind: "message:assistant".to_owned(),
        },
        finished(
            StopReason::Stop,
            "High water is at **noon**.\nThen it ebbs.",
            None,
        ),
    ]
}

fn shown(screen: &mut Screen, events: &[TurnEvent]) -> Paper {
    let mut paper = Paper::default();
    for event in events {
        screen.event(event, &mut paper).unwrap();
    }
    paper
}

#[test]
fn figures_that_nobody_knows_are_said_to_be_unknown() {
    let end = |tokens_unknown, cost_unknown, usage| {
        let mut event = finished(StopReason::Aborted, "", None);
        if let TurnEvent::TurnFinished {
            tokens_unknown: tokens,
            cost_unknown: cost,
            usage: took,
            ..
        } = &mut event
        {
            (*tokens, *cost, *took) = (tokens_unknown, cost_unknown, usage);
        }
        let all = shown(&mut view(Thoughts::Folded), &[event]).all();
        all.lines().last().unwrap().to_owned()
    };
    let some = Usage {
        input: 100,
        output: 10,
        total_tokens: 110,
        ..Usage::default()
    };
    assert_eq!(
        end(false, true, some),
        "100 in · 10 out · cost unknown · 2 calls · 7 % of the context"
    );
    assert_eq!(
        end(true, true, Usage::default()),
        "tokens and cost unknown · 2 calls · 7 % of the context"
    );
    assert_eq!(
        end(true, false, some),
        "100 in · 10 out · some tokens unknown · 2 calls · 7 % of the context"
    );
}

#[test]
fn people_see_the_answer_and_one_line_for_everything_else() {
    let paper = shown(&mut view(Thoughts::Folded), &story());
    insta::assert_snapshot!(paper.all(), @r"
    SOUL.md was cut
    ↻ The provider is overloaded; trying `anthropic/claude` in 1.5 s (attempt 2)
    ✻ The tide table is in AGENTS.md, so I read it. — 10 words

    Let me look.
    ● read AGENTS.md — 3 lines, 12 ms
    ● exec ls -l /nowhere — no such directory, 1.2 s
    ● nothing — 0 ms
    ⇊ compacted the conversation: 120,000 → 8,000 tokens (the window is nearly full)

    High water is at **noon**.
    Then it ebbs.
    1,204 in · 312 out · 10,000 from the cache · 500 to the cache · $0.0123 · 2 calls · 7 % of the context
    ");
    assert_eq!(
        paper.of(true),
        "\nLet me look.\n\nHigh water is at **noon**.\nThen it ebbs.\n"
    );
    let thoughts = shown(&mut view(Thoughts::Shown), &story());
    assert!(
        thoughts
            .of(false)
            .contains("\nThe tide table is in AGENTS.md, so I read it.\n")
    );
}

#[test]
fn a_pipe_gets_the_answer_and_nothing_else() {
    let mut plain = Screen::Plain(PlainText::new(Paint::forced(false)));
    let paper = shown(&mut plain, &story());
    assert_eq!(
        paper.of(true),
        "High water is at **noon**.\nThen it ebbs.\n"
    );
    insta::assert_snapshot!(paper.of(false), @r"
    SOUL.md was cut
    ↻ The provider is overloaded; trying `anthropic/claude` in 1.5 s (attempt 2)
    ● exec ls -l /nowhere — no such directory, 1.2 s
    ⇊ compacted the conversation: 120,000 → 8,000 tokens (the window is nearly full)
    ");
    let cut = [text("Half an ans"), finished(StopReason::Aborted, "", None)];
    assert_eq!(shown(&mut plain, &cut).all(), "Half an ans\nstopped\n");
}

#[test]
fn a_program_gets_every_event_on_a_line_of_its_own() {
    let paper = shown(&mut Screen::Json, &story());
    let read: Vec<TurnEvent> = paper
        .of(true)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(read, story());
    assert_eq!(paper.of(false), "");
}

#[test]
fn a_turn_that_ends_badly_says_how() {
    for (event, said) in [
        (
            finished(StopReason::Error, "", Some("401: wrong key")),
            "○ exec sleep 99 — stopped\n1,204 in",
        ),
        (
            finished(StopReason::Aborted, "", Some("cancelled")),
            "stopped\n",
        ),
        (
            finished(StopReason::Length, "", None),
            "cut: The model reached its output limit",
        ),
        (
            finished(StopReason::Other("refusal".to_owned()), "", None),
            "note: The model stopped with `refusal`",
        ),
    ] {
        let events = [starts("1", "exec", json!({ "command": "sleep 99" })), event];
        let paper = shown(&mut view(Thoughts::Folded), &events);
        assert!(
            paper.of(false).starts_with("○ exec sleep 99 — stopped\n"),
            "{paper:?}"
        );
        assert!(paper.of(false).contains(said), "{paper:?}");
    }
}

#[test]
fn an_answer_that_did_not_stream_is_shown_at_the_end() {
    let events = [finished(StopReason::Stop, "All at once.", None)];
    assert_eq!(
        shown(&mut view(Thoughts::Folded), &events).of(true),
        "All at once.\n"
    );
}

#[test]
fn the_spinner_is_drawn_only_where_nothing_is_being_written_and_wiped_before_anything_is() {
    let Screen::View(mut view) = view(Thoughts::Folded) else {
        return;
    };
    let mut paper = Paper {
        draws: true,
        ..Paper::default()
    };
    let request = &story()[2];
    view.event(request, &mut paper).unwrap();
    view.tick(Duration::from_millis(0), &mut paper);
    assert_eq!(paper.all(), "", "a short wait is not worth a word");
    view.tick(Duration::from_millis(1_400), &mut paper);
    assert_eq!(paper.all(), "\r\u{1b}[2K⠋ waiting for the model · 1 s");
    view.event(&text("Some words "), &mut paper).unwrap();
    view.tick(Duration::from_secs(9), &mut paper);
    assert!(paper.all().ends_with("\r\u{1b}[2KSome words"), "{paper:?}");

    let mut pipe = Paper::default();
    view.event(request, &mut pipe).unwrap();
    view.tick(Duration::from_secs(20), &mut pipe);
    view.tick(Duration::from_secs(30), &mut pipe);
    assert!(!pipe.of(false).contains('\u{1b}'), "{pipe:?}");
}

#[test]
fn the_screen_rests_while_somebody_is_asked() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let gate = Gate::new();
        let (send, mut events) = tokio::sync::mpsc::channel(8);
        let (mut screen, mut paper) = (view(Thoughts::Folded), Paper::default());
        let asking = async {
            send.send(text("Half a line")).await.unwrap();
            for _ in 0..3 {
                let closed = gate.close().await;
                send.send(text(" and more")).await.unwrap();
                tokio::time::sleep(Duration::from_millis(30)).await;
                assert_eq!(send.capacity(), 7, "nothing is shown now");
                drop(closed);
                while send.capacity() < 8 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            drop(send);
        };
        let (shown, ()) = tokio::join!(screen.show(&mut events, &gate, &mut paper), asking);
        shown.unwrap();
        assert_eq!(paper.of(true).matches("and more").count(), 3);
        assert!(paper.of(true).starts_with("Half a line\n"), "{paper:?}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_anybody_says_is_obeyed_by_the_terminal(said in prop::collection::vec(".*|[\u{1b}\u{9b}\r\n\u{7}\u{202e}a]{0,9}", 12)) {
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let events = [
            TurnEvent::Note { text: said[0].to_owned() },
            TurnEvent::Retrying { attempt: 2, wait_ms: 0, reason: said[1].to_owned(), model: said[2].to_owned() },
            thinks(said[3]),
            text(said[4]),
            starts("1", said[5], json!({ said[6]: said[7] })),
            ends("1", said[5], true, said[8], 3),
            TurnEvent::Compacted { tokens_before: 2, tokens_after: 1, reason: said[9].to_owned() },
            finished(StopReason::Other(said[10].to_owned()), said[10], None),
            finished(StopReason::Error, said[10], Some(said[11])),
        ];
        let plain = Screen::Plain(PlainText::new(Paint::forced(false)));
        for mut screen in [view(Thoughts::Folded), view(Thoughts::Shown), plain] {
            let all = shown(&mut screen, &events).all();
            let bad = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
            prop_assert!(!all.contains(bad), "{:?}", all);
        }
    }
}
