//! Undo beside a server that runs turns of the same agent.

use super::{call, code, json_of, read, said, shown, talk, write};
use crate::process::chitin;
use crate::serve::Serving;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_turn_of_a_server_is_undone_while_the_server_runs() {
    let talk = talk(&[write("board.md", "oak: 9\n"), said("Done.")]);
    let serving = Serving::start(&talk, &[]);
    let body = json!({"text": "Count", "wait": true});
    let (status, reply) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!((status, &reply["status"]), (200, &json!("ok")), "{reply}");
    assert_eq!(read(&talk, "board.md"), "oak: 9\n");
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 0, "{}", shown(&undone));
    assert_eq!(read(&talk, "board.md"), "oak: 3\nlarch: 5\n");
    serving.kill();
}

#[test]
fn an_undo_is_refused_while_a_turn_runs_and_says_which() {
    let talk = talk(&[
        write("board.md", "oak: 9\n"),
        said("Done."),
        call("exec", json!({"command": "echo begun > begun; sleep 8"})),
        said("Done."),
    ]);
    talk.answer("The first");
    let running = talk.command(&["-m", "The long one"]).spawn();
    let mut running = running.unwrap();
    let began = Instant::now();
    while !talk.env.workspace().join("begun").exists() {
        assert!(began.elapsed() < Duration::from_mins(1), "it did not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let refused = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&refused), 5, "{}", shown(&refused));
    assert!(
        shown(&refused).contains("\"The long one\""),
        "{}",
        shown(&refused)
    );
    assert_eq!(read(&talk, "board.md"), "oak: 9\n");
    running.wait().unwrap();
    let list = json_of(&talk, &["changes", "--json"]);
    assert_eq!(list["turns"].as_array().unwrap().len(), 2, "{list}");
    assert_eq!(code(&chitin(&talk.env, &["undo", "--turn", "1"])), 0);
    assert_eq!(read(&talk, "board.md"), "oak: 3\nlarch: 5\n");
}
