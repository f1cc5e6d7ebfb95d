//! Answers that are seen while they are written: in one message that is changed, within the limits of the surface, and in the end
//! exactly what was said.

use crate::stage::{Chat, Pace as Words, Setting, Stage, finished, message};
use chitin_contract::OutboundRules;
use chitin_gateway::delivery::live::{FIRST_WAIT, Live, LiveStep, Pace};
use chitin_gateway::events::EventKind;
use chitin_gateway::surface::{Again, SurfaceAction};
use chitin_gateway::{ListenerEvent, SurfaceError, Topic};
use chitin_protocol::event::TurnEvent;
use chitin_text::previews::{ReplyStreaming, reply_streaming};
use chitin_text::settings::AccountRef;
use chitin_text::silent::spoken;
use chitin_text::{ChunkLimits, TextFormat, chunks};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

const RULES: OutboundRules = OutboundRules::CANONICAL;

fn live() -> Value {
    json!({"channels": {"chat": {"streaming": "partial"}}})
}

/// A stage whose chat can change messages and whose model says two or three words for each permit.
fn stage(text: &str, chat: Chat) -> (Stage, Arc<Semaphore>) {
    let words = Arc::new(Semaphore::new(0));
    let setting = Setting {
        surface: Some(Arc::new(chat)),
        ..Setting::replies(&[json!({"text": text})])
    };
    let setting = setting.config(live());
    let stage = setting.pace(Words::Permits(Arc::clone(&words))).stage();
    (stage, words)
}

const MANY: usize = 10_000;

fn edits(chat: &Chat) -> Vec<String> {
    let acted = chat.acted().into_iter();
    acted
        .filter_map(|(_, action)| match action {
            SurfaceAction::Edit { text, .. } => Some(text),
            _ => None,
        })
        .collect()
}

/// Says something and returns what tells of its end.
async fn say(stage: &Stage, text: &str) -> chitin_gateway::Subscription {
    let id = stage.gateway.new_job_id();
    let events = stage.gateway.subscribe(Topic::Job(id.clone()));
    let mut incoming = message("yard", text);
    incoming.job_id = Some(id);
    stage.gateway.accept(incoming).await.unwrap();
    events
}

const LONG: &str = "The yard has five larch boards, two of them long enough for the keel, and an oak that nobody has \
    looked at since the spring; the rest is firewood.";

#[tokio::test]
async fn an_answer_grows_in_one_message_until_it_is_whole() {
    let (stage, words) = stage(LONG, Chat::changing("chat", 5));
    let mut events = say(&stage, "Board?").await;
    words.add_permits(3);
    stage.surface.until(|chat| !chat.sent().is_empty()).await;
    let first = stage.surface.seen().remove(0);
    assert!(LONG.starts_with(&first) && first.len() >= 30, "{first}");
    words.add_permits(2);
    stage.surface.until(|chat| !edits(chat).is_empty()).await;
    words.add_permits(MANY);
    finished(&mut events).await;
    assert_eq!(stage.surface.seen(), [LONG]);
    assert_eq!(stage.surface.sent().len(), 1, "one message, changed");
    let edits = edits(&stage.surface);
    assert!(edits.iter().all(|text| LONG.starts_with(text)));
    assert!(edits.windows(2).all(|pair| pair[0] != pair[1]));
}

#[tokio::test]
async fn a_short_answer_is_one_message_and_silence_is_never_seen() {
    for (text, seen) in [("Five larch.", vec!["Five larch."]), ("NO_REPLY", vec![])] {
        let (stage, words) = stage(text, Chat::changing("chat", 5));
        words.add_permits(MANY);
        let mut events = say(&stage, "Board?").await;
        finished(&mut events).await;
        assert_eq!(stage.surface.seen(), seen);
        assert!(edits(&stage.surface).is_empty());
    }
}

/// The surface does not answer at all while the model speaks: the events of the turn are told all the same.
#[tokio::test]
async fn nobody_waits_for_a_slow_surface() {
    let allowed = Arc::new(Semaphore::new(0));
    let chat = Chat::changing("chat", 5).slow(Arc::clone(&allowed));
    let (stage, words) = stage(LONG, chat);
    words.add_permits(MANY);
    let mut events = say(&stage, "Board?").await;
    loop {
        let Some(ListenerEvent::Happening(happening)) = events.next().await else {
            continue;
        };
        if let EventKind::Turn {
            event: TurnEvent::TurnFinished { .. },
        } = &happening.what
        {
            break;
        }
    }
    assert!(stage.surface.sent().is_empty());
    allowed.add_permits(MANY);
    finished(&mut events).await;
    assert_eq!(stage.surface.seen(), [LONG]);
}

/// What cannot be changed in the middle is tried once more at the end; then another message takes its place.
#[tokio::test]
async fn a_preview_that_fails_leaves_no_doubled_words() {
    for at_the_end in 0..=1 {
        let (stage, words) = stage(LONG, Chat::changing("chat", 5));
        let mut events = say(&stage, "Board?").await;
        words.add_permits(3);
        stage.surface.until(|chat| !chat.sent().is_empty()).await;
        let failure = SurfaceError::never("no rights");
        stage.surface.fail_acts(vec![failure.clone()]);
        words.add_permits(2);
        stage.surface.until(|chat| !chat.fails_acts()).await;
        stage.surface.fail_acts(vec![failure; at_the_end]);
        words.add_permits(MANY);
        finished(&mut events).await;
        assert_eq!(stage.surface.seen(), [LONG]);
        assert_eq!(stage.surface.sent().len(), 1 + at_the_end);
    }
}

#[tokio::test]
async fn a_turn_that_is_stopped_leaves_what_was_said() {
    let (stage, words) = stage(LONG, Chat::changing("chat", 5));
    let mut events = say(&stage, "Board?").await;
    words.add_permits(4);
    stage.surface.until(|chat| !chat.sent().is_empty()).await;
    stage.gateway.stop("agent:main:chat:channel:yard");
    finished(&mut events).await;
    let seen = stage.surface.seen();
    assert_eq!(seen.len(), 1);
    assert!(LONG.starts_with(&seen[0]) && seen[0].len() < LONG.len());
}

/// A message is out that shows some of the answer, and the process dies.
#[test]
fn after_a_crash_the_same_message_is_made_whole() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let (env, surface) = {
        let runtime = runtime();
        let stage = runtime.block_on(async {
            let (stage, words) = stage(LONG, Chat::changing("chat", 5));
            let mut asked = message("yard", "Board?");
            asked.message_id = Some("m1".to_owned());
            stage.gateway.accept(asked).await.unwrap();
            words.add_permits(3);
            // A change comes after the note of what was sent.
            stage.surface.until(|chat| !chat.sent().is_empty()).await;
            words.add_permits(2);
            stage.surface.until(|chat| !edits(chat).is_empty()).await;
            stage
        });
        drop(runtime);
        (stage.env, stage.surface)
    };
    runtime().block_on(async {
        let again = Setting {
            env,
            surface: Some(surface),
            ..Setting::replies(&[json!({"text": "Five larch, to be short."})])
        };
        let stage = again.config(live()).stage();
        stage.rest().await;
        assert_eq!(stage.surface.seen(), ["Five larch, to be short."]);
        assert_eq!(stage.surface.sent().len(), 1);
    });
}

/// The model thinks for 20 seconds before its first word.
#[tokio::test(start_paused = true)]
async fn it_is_shown_that_somebody_types_until_there_are_words() {
    let chat = Chat::changing("chat", 1_000).able(|can| can.typing = true);
    let setting = Setting {
        surface: Some(Arc::new(chat)),
        ..Setting::replies(&[json!({"text": LONG, "delayMs": 20_000})])
    };
    let stage = setting.config(live()).stage();
    let mut events = say(&stage, "Board?").await;
    over(&mut events).await;
    let acted = stage.surface.acted();
    let typing = acted
        .iter()
        .filter(|(_, action)| *action == SurfaceAction::Typing);
    assert_eq!(typing.count(), 3, "at once, after 8 and after 16 seconds");
    assert_eq!(stage.surface.seen(), [LONG]);
}

/// The model speaks for six seconds, a few words every tenth of one.
#[tokio::test(start_paused = true)]
async fn a_message_is_changed_no_more_often_than_its_surface_allows() {
    let text = LONG.repeat(8);
    let setting = Setting {
        surface: Some(Arc::new(Chat::changing("chat", 1_000))),
        ..Setting::replies(&[json!({"text": text})])
    };
    let pace = Words::Every(Duration::from_millis(100));
    let stage = setting.config(live()).pace(pace).stage();
    let began = tokio::time::Instant::now();
    let mut events = say(&stage, "Board?").await;
    over(&mut events).await;
    let edits = edits(&stage.surface).len();
    let seconds = usize::try_from(began.elapsed().as_secs()).unwrap();
    assert!(edits >= 4, "{edits} in {seconds} s");
    assert!(edits <= seconds + 1, "{edits} in {seconds} s");
    assert_eq!(stage.surface.seen(), [text]);
}

#[tokio::test]
async fn a_long_answer_goes_on_in_further_messages() {
    let text = LONG.repeat(30);
    let setting = Setting {
        surface: Some(Arc::new(Chat::changing("chat", 5))),
        ..Setting::replies(&[json!({"text": text})])
    };
    let pace = Words::Every(Duration::from_micros(100));
    let stage = setting.config(live()).pace(pace).stage();
    stage.say_and_wait("yard", "Board?").await;
    let limits = ChunkLimits {
        max_chars: 2_000,
        ..ChunkLimits::of(TextFormat::Markdown)
    };
    let whole: Vec<String> = chunks(&text, &limits, &RULES)
        .into_iter()
        .map(|piece| piece.body)
        .collect();
    assert_eq!(whole.len(), 3);
    assert_eq!(stage.surface.seen(), whole);
    assert_eq!(stage.surface.sent().len(), 3);
}

/// Waits until a job is over, however long that takes on a clock that jumps.
async fn over(events: &mut chitin_gateway::Subscription) {
    while let Some(heard) = events.next().await {
        if let ListenerEvent::Happening(happening) = heard
            && matches!(happening.what, EventKind::Finished { .. })
        {
            return;
        }
    }
}

#[tokio::test]
async fn progress_shows_the_steps_of_the_work_until_the_answer_takes_their_place() {
    let config = json!({"channels": {"chat": {"streaming": "progress"}}});
    let setting = Setting {
        surface: Some(Arc::new(Chat::changing("chat", 10))),
        ..Setting::replies(&[
            json!({"text": "", "toolCalls": [{"name": "lantern_counter", "arguments": {}}]}),
            json!({"text": "Seven lanterns.", "delayMs": 400}),
        ])
    };
    let stage = setting.config(config).stage();
    let mut events = say(&stage, "How many?").await;
    let shown = "Working on it…\n- lantern_counter";
    stage
        .surface
        .until(|chat| chat.outgoing().iter().any(|sent| sent.text == shown))
        .await;
    finished(&mut events).await;
    assert_eq!(stage.surface.seen(), ["Seven lanterns."]);
    assert_eq!(stage.surface.outgoing().len(), 1, "one message, changed");
}

#[tokio::test]
async fn progress_of_a_turn_that_fails_is_taken_back() {
    let config = json!({"channels": {"chat": {"streaming": {"mode": "progress"}}}});
    let setting = Setting {
        surface: Some(Arc::new(Chat::changing("chat", 10))),
        ..Setting::replies(&[
            json!({"text": "", "toolCalls": [{"name": "lantern_counter", "arguments": {}}]}),
            json!({"error": {"status": 400, "message": "no such field"}, "delayMs": 400}),
        ])
    };
    let stage = setting.config(config).stage();
    let mut events = say(&stage, "How many?").await;
    stage
        .surface
        .until(|chat| !chat.outgoing().is_empty())
        .await;
    finished(&mut events).await;
    let seen = stage.surface.seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].starts_with("This did not work"), "{seen:?}");
}

/// Returns the blocks that a text goes out in, with how blocks are put together.
async fn blocks(coalesce: Value) -> Vec<String> {
    let config = json!({
        "agents": {"defaults": {"blockStreamingChunk": {"minChars": 5, "maxChars": 200}}},
        "channels": {"chat": {"streaming": {"block": {"enabled": true, "coalesce": coalesce}}}},
    });
    let text = "First part here.\n\nSecond part here.\n\nThird part here, a bit longer.\n\nEnd.";
    let stage = Setting::replies(&[json!({"text": text})])
        .config(config)
        .pace(Words::Every(Duration::from_millis(20)))
        .stage();
    stage.say_and_wait("yard", "Go").await;
    let sent = stage.surface.outgoing().into_iter();
    sent.map(|message| message.text).collect()
}

#[tokio::test]
async fn blocks_are_put_together_until_they_are_long_enough_or_nothing_more_comes() {
    let words = |blocks: &[String]| -> Vec<String> {
        let words = blocks.iter().flat_map(|block| block.split_whitespace());
        words.map(str::to_owned).collect()
    };
    let waited = blocks(json!({"minChars": 40, "idleMs": 60_000})).await;
    let (last, others) = waited.split_last().unwrap();
    assert!(!others.is_empty() && !last.is_empty());
    for block in others {
        assert!(block.chars().count() >= 40, "{waited:?}");
    }
    let hasty = blocks(json!({"minChars": 40, "idleMs": 1})).await;
    assert!(hasty.len() > waited.len(), "{hasty:?} {waited:?}");
    assert_eq!(words(&hasty), words(&waited), "the same words");
    let at_once = blocks(json!({"minChars": 1})).await;
    assert_eq!(words(&at_once), words(&waited));
}

#[test]
fn what_is_shown_is_configured_or_the_contracts() {
    let of = |channel: &str, config: Value, rules: &OutboundRules| {
        let account = "deck";
        reply_streaming(&config, AccountRef { channel, account }, true, rules)
    };
    let own =
        |channel: &str, streaming: Value| json!({"channels": {channel: {"streaming": streaming}}});
    let (old, new) = (
        &OutboundRules::OPENCLAW_2026_4,
        &OutboundRules::OPENCLAW_2026_9,
    );
    let partial = ReplyStreaming::Live { step: 1 };
    let cases = [
        (of("discord", json!({}), &RULES), partial),
        (of("slack", json!({}), &RULES), partial),
        (of("directory", json!({}), &RULES), ReplyStreaming::Whole),
        (of("discord", json!({}), old), ReplyStreaming::Whole),
        (of("slack", json!({}), old), partial),
        (of("slack", json!({}), new), ReplyStreaming::Progress),
        (of("discord", own("discord", json!(true)), old), partial),
        (
            of("discord", own("discord", json!(false)), &RULES),
            ReplyStreaming::Whole,
        ),
        (
            of("discord", own("discord", json!("partial")), new),
            ReplyStreaming::Whole,
        ),
        (
            of("discord", own("discord", json!({"mode": "partial"})), new),
            partial,
        ),
        (
            of("discord", own("discord", json!({"mode": "block"})), old),
            ReplyStreaming::Live { step: 200 },
        ),
        (
            of("slack", own("slack", json!({"mode": "progress"})), &RULES),
            ReplyStreaming::Progress,
        ),
        (
            of(
                "slack",
                own(
                    "slack",
                    json!({"mode": "partial", "block": {"enabled": true}}),
                ),
                &RULES,
            ),
            ReplyStreaming::Blocks,
        ),
        (
            of(
                "slack",
                json!({"agents": {"defaults": {"blockStreamingDefault": "on"}}}),
                &RULES,
            ),
            ReplyStreaming::Blocks,
        ),
        (
            of(
                "discord",
                json!({"channels": {"discord": {"streaming": "off", "accounts": {"deck": {"streaming": "partial"}}}}}),
                old,
            ),
            partial,
        ),
    ];
    for (number, (found, wanted)) in cases.into_iter().enumerate() {
        assert_eq!(found, wanted, "case {number}");
    }
    let place = AccountRef {
        channel: "discord",
        account: "",
    };
    assert_eq!(
        reply_streaming(&json!({}), place, false, &RULES),
        ReplyStreaming::Whole
    );
}

/// A surface as people see it, and when each message was changed.
#[derive(Default)]
struct Wall {
    messages: Vec<Option<String>>,
    changed: Vec<Duration>,
    limit: usize,
}

impl Wall {
    fn put(&mut self, live: &mut Live, step: &LiveStep, now: Duration, every: Duration) {
        match step {
            LiveStep::Send { text, .. } => {
                self.messages.push(Some(text.body.clone()));
                self.changed.push(now);
                live.sent(format!("{}", self.messages.len() - 1), text);
            }
            LiveStep::Edit { piece, id, text } => {
                let at: usize = id.parse().unwrap();
                assert!(now >= self.changed[at] + every, "changed too soon");
                assert_ne!(
                    self.messages[at].as_ref(),
                    Some(&text.body),
                    "nothing changed"
                );
                self.messages[at] = Some(text.body.clone());
                self.changed[at] = now;
                live.edited(*piece, text);
            }
            LiveStep::Keep { .. } | LiveStep::Delete { .. } => {
                unreachable!("{step:?} before the end")
            }
        }
        for shown in self.messages.iter().flatten() {
            assert!(
                shown.encode_utf16().count() <= self.limit,
                "too long: {shown}"
            );
            let fences = shown
                .lines()
                .filter(|line| line.trim_start().starts_with("```"));
            assert_eq!(fences.count() % 2, 0, "open: {shown}");
            assert!(!shown.contains("NO_REPLY"), "{shown}");
        }
    }

    /// Does what is to be done at the end.
    fn end(&mut self, steps: Vec<LiveStep>) {
        for step in steps {
            match step {
                LiveStep::Send { text, .. } => self.messages.push(Some(text.body)),
                LiveStep::Edit { id, text, .. } => {
                    self.messages[id.parse::<usize>().unwrap()] = Some(text.body);
                }
                LiveStep::Keep { id, text, .. } => {
                    assert_eq!(self.messages[id.parse::<usize>().unwrap()], Some(text.body));
                }
                LiveStep::Delete { id } => self.messages[id.parse::<usize>().unwrap()] = None,
            }
        }
    }
}

fn answer() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-z]{1,12}( [a-zé🦀]{1,9}){0,6}[.]?",
        2 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        2 => "\n```(rs)?\n([a-z(){};]{1,20}\n){1,6}```\n",
        1 => Just("**bold** and `code` ".to_owned()),
    ];
    let silence = prop_oneof![
        6 => Just(String::new()),
        1 => Just(" NO_REPLY".to_owned())
    ];
    let parts = prop::collection::vec(part, 0..24);
    (parts, silence).prop_map(|(parts, silence)| parts.concat() + &silence)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever comes when, whatever fails: no message is ever too long, open or changed too soon, and in the end people see the
    /// pieces of the whole answer.
    #[test]
    fn what_people_see_in_the_end_is_what_was_said(
        answer in answer(),
        cuts in prop::collection::vec((1usize..30, 0u64..900), 1..40),
        limit in 60usize..220,
        discord in any::<bool>(),
        takes_back in any::<bool>(),
        failures in prop::collection::vec(prop::option::weighted(0.2, prop_oneof![
            3 => (0u64..3_000).prop_map(Again::After), 1 => Just(Again::Soon)
        ]), 0..12),
    ) {
        let every = Duration::from_millis(700);
        let most = if takes_back { usize::MAX } else { 1 };
        let limits = ChunkLimits {
            max_chars: limit,
            ..ChunkLimits::of(if discord { TextFormat::Discord } else { TextFormat::Markdown })
        };
        let cut = |text: &str| chunks(text, &limits, &RULES);
        let mut live = Live::new(Pace { every, step: 1, most }, RULES);
        let mut wall = Wall { limit, ..Wall::default() };
        let (mut now, mut failures) = (Duration::ZERO, failures.into_iter());
        let mut rest = answer.as_str();
        for (length, wait) in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let at = rest.char_indices().nth(*length).map_or(rest.len(), |(at, _)| at);
            live.hear(&rest[..at], now);
            rest = &rest[at..];
            let then = now + Duration::from_millis(*wait);
            while let Some(due) = live.due().filter(|due| *due <= then) {
                now = now.max(due);
                for step in live.steps(now, cut) {
                    let piece = match &step {
                        LiveStep::Send { piece, .. } | LiveStep::Edit { piece, .. } => *piece,
                        _ => unreachable!("{step:?}"),
                    };
                    if let Some(again) = failures.next().flatten() {
                        live.failed(piece, again, now);
                        break;
                    }
                    wall.put(&mut live, &step, now, every);
                }
            }
            now = then;
        }
        let whole = spoken(&answer, &RULES).map(|text| text.trim().to_owned()).unwrap_or_default();
        let whole = cut(&whole);
        wall.end(live.finish(whole.clone()));
        let seen: Vec<String> = wall.messages.into_iter().flatten().collect();
        let said: Vec<String> = whole.into_iter().map(|piece| piece.body).collect();
        prop_assert_eq!(seen, said);
    }
}

#[test]
fn few_words_wait_a_second_and_a_slow_surface_is_given_time() {
    let cut = |text: &str| chunks(text, &ChunkLimits::of(TextFormat::Markdown), &RULES);
    let every = Duration::from_millis(500);
    let mut live = Live::new(
        Pace {
            every,
            step: 1,
            most: 1,
        },
        RULES,
    );
    assert_eq!(live.due(), None);
    live.hear("A few words", Duration::from_secs(3));
    let first = Duration::from_secs(3) + FIRST_WAIT;
    assert_eq!(live.due(), Some(first));
    let steps = live.steps(first, cut);
    let [LiveStep::Send { text, .. }] = steps.as_slice() else {
        panic!("{steps:?}");
    };
    live.sent("1".to_owned(), text);
    assert_eq!(live.due(), None, "nothing is new");
    live.hear(" more", first);
    assert_eq!(live.due(), Some(first + every));
    let _ = live.steps(first + every, cut);
    live.failed(0, Again::After(4_000), first + every);
    assert_eq!(live.due(), Some(first + every + Duration::from_secs(4)));
    live.failed(0, Again::Never, first);
    assert_eq!(live.due(), None, "nothing more is shown before the end");
}

/// Nobody knows whether it arrived. A surface that knows it by its name would keep showing the older words.
#[test]
fn a_message_that_may_be_out_is_sent_by_its_name_and_then_corrected() {
    let cut = |text: &str| chunks(text, &ChunkLimits::of(TextFormat::Markdown), &RULES);
    let pace = Pace {
        every: Duration::from_secs(1),
        step: 1,
        most: usize::MAX,
    };
    let again = |failure: Again| {
        let mut live = Live::new(pace, RULES);
        live.hear(LONG, Duration::ZERO);
        assert_eq!(live.steps(Duration::ZERO, cut).len(), 1);
        live.failed(0, failure, Duration::ZERO);
        let steps = live.finish(cut(LONG));
        let [LiveStep::Send { again, .. }] = steps.as_slice() else {
            panic!("{steps:?}");
        };
        *again
    };
    assert!(again(Again::Soon));
    assert!(!again(Again::Never) && !again(Again::After(5)));
}
