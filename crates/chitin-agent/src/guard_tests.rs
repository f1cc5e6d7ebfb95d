use super::OriginKind::{Internal, Person};
use super::SenderRole::{Guest, Owner};
use super::*;
use chitin_test::TestEnv;
use proptest::prelude::*;
use serde_json::json;

fn guard(env: &TestEnv, text: &str) -> PermissionGuard {
    env.files([("PERMISSIONS.md", text)]);
    PermissionGuard::new(&env.workspace(), "main", ReadPolicy::inside(1 << 20))
}

fn ask(guard: &PermissionGuard, text: &str, now_ms: i64) -> Result<Admission, Box<RuleRefusal>> {
    guard.admit(&GuardedMessage {
        whole: text,
        origin: &MessageOrigin::default(),
        now_ms,
        agent: &LazyDefinition::none(),
        joins: false,
    })
}

fn at(hour: i64) -> i64 {
    // A Tuesday in 2026, in UTC.
    1_794_873_600_000 + hour * 3_600_000
}

#[test]
fn a_refusal_names_the_rule_and_its_line_and_not_what_it_looks_for() {
    let env = TestEnv::new();
    let guard = guard(&env, "# Rules\n\n- deny: swordfish\n- message-length: 20\n");
    let refusal = ask(&guard, "the Swordfish", 0).unwrap_err();
    assert_eq!(
        sentence(RefusedPart::Message, &refusal),
        "`PERMISSIONS.md` refuses this message (rule `deny`, line 3): it contains something on the deny list."
    );
    assert_eq!(refusal.policy.as_deref(), Some("workspace-deny-main"));
    let refusal = ask(&guard, &"x".repeat(21), 0).unwrap_err();
    assert_eq!(
        sentence(RefusedPart::Message, &refusal),
        "`PERMISSIONS.md` refuses this message (rule `message-length`, line 4): it is longer than 20 characters."
    );
    assert!(ask(&guard, "hello", 0).is_ok());
}

#[test]
fn an_edit_of_the_file_holds_from_the_next_message_on() {
    let env = TestEnv::new();
    let guard = guard(&env, "deny: one\n");
    assert!(ask(&guard, "one", 0).is_err());
    assert!(guard.judges_replies());
    env.files([("PERMISSIONS.md", "deny: two\n")]);
    assert!(ask(&guard, "one", 0).is_ok());
    assert!(guard.reply("two").is_some());
    env.remove("workspace/PERMISSIONS.md");
    assert!(ask(&guard, "two", 0).is_ok());
    assert!(!guard.judges_replies());
}

#[test]
fn a_file_that_cannot_be_understood_allows_nothing_and_says_where() {
    let env = TestEnv::new();
    let guard = guard(&env, "deny: a\n- time-window: 25:00-26:00\n");
    let refusal = ask(&guard, "hello", 0).unwrap_err();
    assert_eq!((refusal.line, refusal.column), (Some(2), Some(16)));
    assert!(guard.judges_replies() && guard.reply("x").is_some());
    assert!(guard.tool_call(&json!({"a": 1})).is_some());
    env.file("workspace/PERMISSIONS.md", b"deny: \xff\n");
    let refusal = ask(&guard, "hello", 0).unwrap_err();
    assert!(refusal.reason.contains("UTF-8"), "{refusal:?}");
}

#[test]
fn limits_count_each_guest_apart_and_the_owner_as_one() {
    let env = TestEnv::new();
    let guard = guard(&env, "rate-limit: 1/60\nconcurrency-limit: 1\n");
    let send = |sender: &str, now_ms| {
        guard.admit(&GuardedMessage {
            whole: "hello",
            origin: &MessageOrigin {
                role: SenderRole::Guest,
                sender: Some(sender.to_owned()),
                ..MessageOrigin::default()
            },
            now_ms,
            agent: &LazyDefinition::none(),
            joins: false,
        })
    };
    let first = send("discord:1", 0).unwrap();
    assert_eq!(send("discord:1", 1).unwrap_err().rule, "rate-limit");
    let _other = send("discord:2", 1).unwrap();
    assert_eq!(
        send("discord:1", 61_000).unwrap_err().rule,
        "concurrency-limit"
    );
    drop(first);
    // The message that met the second limit had passed the first. It was refused, so it counts for neither.
    assert!(send("discord:1", 62_000).is_ok());
    let _turn = ask(&guard, "hello", 0).unwrap();
    assert_eq!(ask(&guard, "hello", 1).unwrap_err().rule, "rate-limit");
}

#[test]
fn several_messages_in_one_turn_are_one_under_way_and_each_counts_for_the_rate() {
    let env = TestEnv::new();
    let guard = guard(&env, "rate-limit: 3/60\nconcurrency-limit: 1\n");
    let origin = |written: &[&str]| MessageOrigin {
        written: written.iter().map(|&text| text.to_owned()).collect(),
        ..MessageOrigin::default()
    };
    let agent = LazyDefinition::none();
    let message = |origin, joins| GuardedMessage {
        whole: "x",
        origin,
        now_ms: 0,
        agent: &agent,
        joins,
    };
    let (two, one, four) = (origin(&["a", "b"]), origin(&["c"]), origin(&["d"; 4]));
    let rule = |refused: Result<Admission, Box<RuleRefusal>>| refused.unwrap_err().rule;
    let foreseen = guard.foresee(&[&one, &one, &one, &one].map(|one| message(one, false)));
    let foreseen: Vec<bool> = foreseen.iter().map(Option::is_some).collect();
    assert_eq!(foreseen, [false, false, false, true]);
    assert_eq!(rule(guard.admit(&message(&four, false))), "rate-limit");
    let turn = guard.admit(&message(&two, false)).unwrap();
    assert_eq!(
        rule(guard.admit(&message(&one, false))),
        "concurrency-limit"
    );
    drop(guard.admit(&message(&one, true)).unwrap());
    assert_eq!(rule(guard.admit(&message(&one, true))), "rate-limit");
    drop(turn);
    assert_eq!(rule(guard.admit(&message(&one, false))), "rate-limit");
    assert_eq!(guard.usage.lock().unwrap()["owner"].in_flight, 0);
}

#[test]
fn what_one_of_several_guards_refuses_counts_for_none() {
    let env = TestEnv::new();
    env.file("other/PERMISSIONS.md", "deny: swordfish\n");
    let other = env.workspace().with_file_name("other");
    let second = PermissionGuard::new(&other, "main", ReadPolicy::inside(1 << 20));
    let guards = AllGuards::new(vec![guard(&env, "rate-limit: 1/60\n"), second]);
    let ask = |whole| {
        guards.admit(&GuardedMessage {
            whole,
            origin: &MessageOrigin::default(),
            now_ms: 0,
            agent: &LazyDefinition::none(),
            joins: false,
        })
    };
    assert_eq!(ask("the swordfish").unwrap_err().rule, "deny");
    assert!(ask("the larch").is_ok());
    assert_eq!(ask("the oak").unwrap_err().rule, "rate-limit");
}

#[test]
fn roles_hold_for_all_and_lengths_and_hours_for_people_alone() {
    let env = TestEnv::new();
    let text = "require-role: owner\ntime-window: 09:00-17:00\nmessage-length: 3\nallow: yes\n";
    let guard = guard(&env, text);
    let ask = |kind, role, whole: &str, hour| {
        let origin = MessageOrigin {
            kind,
            role,
            ..MessageOrigin::default()
        };
        guard.admit(&GuardedMessage {
            whole,
            origin: &origin,
            now_ms: at(hour),
            agent: &LazyDefinition::none(),
            joins: false,
        })
    };
    assert!(ask(Person, Owner, "yes", 10).is_ok());
    assert_eq!(ask(Person, Owner, "no", 10).unwrap_err().rule, "allow");
    assert_eq!(
        ask(Person, Guest, "yes", 10).unwrap_err().rule,
        "require-role"
    );
    assert_eq!(
        ask(Person, Owner, "yes", 18).unwrap_err().rule,
        "time-window"
    );
    assert!(ask(Internal, Owner, "a long task", 18).is_ok());
    assert_eq!(
        ask(Internal, Guest, "x", 10).unwrap_err().rule,
        "require-role"
    );
}

#[test]
fn what_was_written_is_measured_and_what_stands_around_it_is_screened() {
    let env = TestEnv::new();
    let guard = guard(&env, "message-length: 5\ndeny: secret\n");
    let ask = |whole: &str, written: &[&str]| {
        let origin = MessageOrigin {
            written: written.iter().map(|&text| text.to_owned()).collect(),
            ..MessageOrigin::default()
        };
        guard.admit(&GuardedMessage {
            whole,
            origin: &origin,
            now_ms: 0,
            agent: &LazyDefinition::none(),
            joins: false,
        })
    };
    assert!(ask("[Tue 2026-11-17 10:00 UTC] hello", &["hello"]).is_ok());
    let refusal = ask("someone said secret\n\nhello", &["hello"]).unwrap_err();
    assert_eq!(refusal.rule, "deny");
    assert_eq!(
        ask("a b", &["hello", "hello again"]).unwrap_err().rule,
        "message-length"
    );
}

#[test]
fn a_phrase_with_quotes_is_found_in_the_arguments_of_a_tool() {
    let env = TestEnv::new();
    let guard = guard(&env, "deny: say \"now\"\ndeny-regex: two\\nlines\n");
    assert!(
        guard
            .tool_call(&json!({"text": "they say \"now\""}))
            .is_some()
    );
    assert!(
        guard
            .tool_call(&json!({"deep": [{"two\nlines": 1}]}))
            .is_some()
    );
    assert!(guard.tool_call(&json!({"text": "fine"})).is_none());
}

proptest! {
    /// Whatever stands around a denied phrase, in whichever case: it goes neither in nor out.
    #[test]
    fn what_is_denied_never_passes(
        phrase in "[a-zA-Z0-9][ -~]{0,11}[a-zA-Z0-9]", before in "\\PC{0,40}", after in "\\PC{0,40}", loud in any::<bool>(),
    ) {
        let env = TestEnv::new();
        let guard = guard(&env, &format!("deny: {phrase}\n"));
        let phrase = if loud { phrase.to_ascii_uppercase() } else { phrase };
        let text = format!("{before}{phrase}{after}");
        prop_assert!(ask(&guard, &text, 0).is_err());
        prop_assert!(guard.judges_replies());
        prop_assert!(guard.reply(&text).is_some());
        let arguments = json!({"command": text});
        prop_assert!(guard.tool_call(&arguments).is_some());
    }
}
