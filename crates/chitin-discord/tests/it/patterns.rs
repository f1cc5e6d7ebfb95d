//! The ways to a thread (E11), on Discord: relayed by the parent, with an explicit target, by itself, on demand.

use crate::yard::Yard;
use serde_json::{Value, json};

fn calls(tool: &str, arguments: &Value) -> Value {
    json!({"text": "", "toolCalls": [{"name": tool, "arguments": arguments}]})
}

fn child(task: &str, reply: Value) -> Value {
    let mut reply = reply;
    reply["when"] = json!(format!("[Subagent Task]: {task}"));
    reply
}

#[tokio::test]
async fn a_subagent_works_and_its_parent_tells_the_channel() {
    let yard = Yard::open(&[
        child("Count the lanterns", json!({"text": "Seven lanterns."})),
        calls("sessions_spawn", &json!({"task": "Count the lanterns"})),
        json!({"text": "I have asked somebody."}),
        json!({"text": "There are seven.", "expect": {"contains": ["Seven lanterns."]}}),
    ])
    .await;
    let texts = yard.say_and_wait("How many lanterns?", 2).await;
    assert_eq!(
        texts,
        [
            yard.here("I have asked somebody."),
            yard.here("There are seven.")
        ]
    );
}

#[tokio::test]
async fn a_subagent_with_an_explicit_target_speaks_there_itself() {
    let yard = Yard::closed(&[], &json!({}));
    let office = yard.discord.channel(&yard.guild, "office");
    let send = json!({"action": "send", "target": format!("channel:{office}"), "message": "Seven lanterns."});
    let yard = Yard::of_ada(
        yard,
        &[
            child("Tell the office", calls("message", &send)),
            calls(
                "sessions_spawn",
                &json!({"task": "Tell the office", "expectsCompletionMessage": false}),
            ),
            json!({"text": "Somebody tells them."}),
            json!({"text": "NO_REPLY"}),
        ],
    )
    .await;
    let mut texts = yard.say_and_wait("Tell the office", 2).await;
    texts.sort();
    let mut wanted = vec![
        yard.here("Somebody tells them."),
        format!("{office}: Seven lanterns."),
    ];
    wanted.sort();
    assert_eq!(texts, wanted);
}

#[tokio::test]
async fn a_subagent_with_a_thread_has_one_on_discord_and_people_talk_to_it_there() {
    let yard = Yard::open(&[
        child("Plan the fence", json!({"text": "Oak, forty posts."})),
        calls(
            "sessions_spawn",
            &json!({"task": "Plan the fence", "label": "Fence", "thread": true}),
        ),
        json!({"text": "Planning in a thread."}),
        json!({"text": "The plan: oak, forty posts."}),
        json!({"text": "It lasts.", "expect": {"contains": ["Plan the fence"]}}),
    ])
    .await;
    yard.say_and_wait("Plan the fence", 2).await;
    let thread = yard.discord.posted().remove(1).channel;
    assert_ne!(thread, yard.channel);
    yard.discord.say(&thread, &yard.ada, "Why oak?");
    let texts = yard.discord.until_posted(3).await;
    assert_eq!(
        texts,
        [
            yard.here("Planning in a thread."),
            format!("{thread}: The plan: oak, forty posts."),
            format!("{thread}: It lasts.")
        ]
    );
}

#[tokio::test]
async fn an_answer_opens_a_thread_by_itself_and_what_follows_there_is_the_threads_session() {
    let extra = json!({"guilds": {"*": {"requireMention": false, "channels": {"*": {"allow": true, "autoThread": true, "autoArchiveDuration": 100}}}}});
    let yard = Yard::with(
        &[
            json!({"text": "Five larch."}),
            json!({"text": "And an oak."}),
        ],
        extra,
    )
    .await;
    let asked = yard
        .discord
        .say(&yard.channel, &yard.ada, "What is on the board?");
    yard.discord.until_posted(1).await;
    let opened = yard.discord.asked_for("/threads").remove(0);
    assert_eq!(
        opened.body,
        json!({"name": "What is on the board?", "auto_archive_duration": 1440})
    );
    // A thread under a message has the message's id.
    yard.discord.say(&asked, &yard.ada, "What else?");
    let texts = yard.discord.until_posted(2).await;
    assert_eq!(
        texts,
        [
            format!("{asked}: Five larch."),
            format!("{asked}: And an oak.")
        ]
    );
    yard.stage.rest().await;
    let mut sessions = yard.sessions();
    sessions.sort();
    let mut wanted = vec![
        format!("agent:main:discord:channel:{}", yard.channel),
        format!("agent:main:discord:channel:{asked}"),
    ];
    wanted.sort();
    assert_eq!(sessions, wanted);
}

#[tokio::test]
async fn a_thread_is_opened_on_demand_and_spoken_in() {
    let create = json!({"action": "thread-create", "threadName": "Crane", "message": "Here we talk of the crane."});
    let yard = Yard::of_ada(
        Yard::closed(&[], &json!({})),
        &[
            calls("message", &create),
            json!({"text": "There is a thread now."}),
            json!({"text": "It turns."}),
        ],
    )
    .await;
    let texts = yard.say_and_wait("Open a thread for the crane", 2).await;
    let thread = yard.discord.posted().remove(0).channel;
    assert_eq!(
        texts,
        [
            format!("{thread}: Here we talk of the crane."),
            yard.here("There is a thread now.")
        ]
    );
    assert_eq!(
        yard.discord.asked_for("/threads").remove(0).body,
        json!({"name": "Crane", "type": 11})
    );
    yard.discord.say(&thread, &yard.ada, "Does it turn?");
    assert_eq!(
        yard.discord.until_posted(3).await[2],
        format!("{thread}: It turns.")
    );
}
