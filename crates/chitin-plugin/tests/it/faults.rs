//! Plugins that hang, flood, die or answer wrongly: reported, ended, started again, and nothing of them is used.

use crate::lab::{Lab, is_running, talk};
use chitin_agent::engine::EngineError;
use chitin_plugin::{PluginFault, PluginState};
use chitin_test::needs;
use std::time::{Duration, Instant};

/// Runs an engine that does something wrong when it is to assemble, and returns what was said.
fn wrong(python: &str) -> String {
    wrong_within(10, python)
}

/// The same for one that has so many seconds.
fn wrong_within(seconds: u32, python: &str) -> String {
    let python = format!(
        "def answer(method, params, id):\n    if method != 'engine/assemble': return None\n    {python}"
    );
    let lab = Lab::with_settings(&python, |settings| {
        settings.sandbox = Some(false);
        settings.timeout_seconds = Some(seconds);
    });
    let begun = Instant::now();
    let error = lab.assemble(talk()).unwrap_err();
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "it is bounded in time"
    );
    assert!(matches!(&error, EngineError::Failed { id, .. } if id == "p"));
    let status = lab.set.status("p").unwrap();
    assert_eq!(status.state, PluginState::Failed);
    assert!(status.fault.is_some());
    // Until it is started again the conversation is sent as it is, and nothing is said twice.
    let context = lab.assemble(talk()).unwrap();
    assert_eq!(context.messages, talk());
    assert_eq!(context.system_prompt_addition, None);
    error.to_string()
}

#[test]
fn a_plugin_that_hangs_is_ended_in_time() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let said = wrong_within(4, "time.sleep(60)");
    assert!(
        said.contains("did not answer `engine/assemble` within 4 s"),
        "{said}"
    );
    assert!(said.contains("timeoutSeconds"), "{said}");
}

#[test]
fn a_plugin_that_dies_is_reported_with_the_end_of_its_error_output() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let said = wrong("sys.stderr.write('no database\\n'); sys.stderr.flush(); os._exit(3)");
    assert!(said.contains("exit code 3"), "{said}");
    assert!(said.contains("no database"), "{said}");
}

#[test]
fn a_plugin_that_dies_in_the_middle_of_an_answer_gives_nothing() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let said = wrong(
        "say('{\"jsonrpc\": \"2.0\", \"id\": 2, \"result\": {\"messages\": [0, 1'); os._exit(0)",
    );
    assert!(
        said.contains("ended during `engine/assemble` (exit code 0)"),
        "{said}"
    );
}

#[test]
fn a_plugin_that_is_killed_is_reported() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let said = wrong("os.kill(os.getpid(), 9)");
    assert!(said.contains("signal 9"), "{said}");
}

#[test]
fn a_plugin_that_answers_garbage_is_reported() {
    if !needs::programs(&["python3"]) {
        return;
    }
    for (python, why) in [
        (
            "say('hello\\n'); return 'nothing'",
            "not a JSON-RPC message",
        ),
        (
            "say('\\xff\\x00{}\\n'); return 'nothing'",
            "not a JSON-RPC message",
        ),
        ("say('{}\\n'); return 'nothing'", "jsonrpc"),
        (
            "say('[' * 100000 + '\\n'); return 'nothing'",
            "not a JSON-RPC message",
        ),
        (
            "say('{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\\n'); return 'nothing'",
            "request 999",
        ),
        (
            "say('{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"host/run\"}\\n'); return 'nothing'",
            "plugins only answer",
        ),
        ("return {'messages': 'all'}", "invalid type"),
        (
            "return {'messages': [0, 1, 2], 'extra': 1}",
            "unknown field",
        ),
    ] {
        let said = wrong(python);
        assert!(said.contains(why), "{python}: {said}");
    }
}

#[test]
fn a_plugin_that_floods_is_ended() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let said = wrong("while True: say('{\"jsonrpc\":\"2.0\",\"method\":\"log\"}\\n' * 100)");
    assert!(said.contains("1000 messages"), "{said}");
    let said = wrong("while True: say('x' * 65536)");
    assert!(said.contains("8 MiB"), "{said}");
}

#[test]
fn a_plugin_that_closes_its_output_is_reported() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let said = wrong("os.close(1); time.sleep(60)");
    assert!(said.contains("closed its output"), "{said}");
}

#[test]
fn a_closed_output_is_noticed_at_once_with_and_without_the_sandbox() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let closes = "def answer(method, params, id):\n    if method != 'engine/assemble': return None\n    os.close(1); time.sleep(60)";
    for sandboxed in [false, true] {
        let lab = Lab::with_settings(closes, |settings| {
            settings.sandbox = Some(sandboxed);
            settings.timeout_seconds = Some(60);
        });
        let begun = Instant::now();
        let said = lab.assemble(talk()).unwrap_err().to_string();
        if sandboxed && said.contains("no sandbox works") {
            continue;
        }
        assert!(said.contains("closed its output"), "{sandboxed}: {said}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{sandboxed}");
    }
}

#[test]
fn a_plugin_may_write_to_its_error_output_and_send_notifications() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(
        r#"
def answer(method, params, id):
    sys.stderr.write("x" * 300000 + "\n"); sys.stderr.flush()
    say('{"jsonrpc":"2.0","method":"log","params":{"message":"working"}}\n\n')
    if method == "engine/assemble": return {"messages": [0, 2]}
"#,
    );
    let context = lab.assemble(talk()).unwrap();
    assert_eq!(context.messages.len(), 2);
}

#[test]
fn a_plugin_of_another_version_is_reported_and_not_used() {
    if !needs::programs(&["python3"]) {
        return;
    }
    for (hello, why) in [
        ("HELLO['protocolVersion'] = 2", "version 2"),
        ("HELLO = {'protocolVersion': 7, 'other': True}", "version 7"),
        ("HELLO['protocolVersion'] = '1'", "initialize"),
        ("HELLO['offers'] = 'adapter'", "initialize"),
        ("HELLO['name'] = ''", "initialize"),
        ("del HELLO['offers']", "offers"),
        (
            "HELLO = {'__error': {'code': 1, 'message': 'go away'}}",
            "go away",
        ),
        ("os._exit(1)", "exit code 1"),
        ("time.sleep(60)", "initialize"),
    ] {
        let lab = Lab::with(hello);
        lab.env.files([("README.md", "Plain.\n")]);
        let registry = lab.registry();
        let agent = registry.load(&lab.env.workspace()).unwrap();
        assert_eq!(agent.adapter_name, "atmosphere-native", "{hello}");
        let notes = lab.notes();
        assert_eq!(notes.len(), 1, "{hello}: {notes:?}");
        let said = notes[0].to_string();
        assert!(
            said.contains("`p`") && said.contains(why),
            "{hello}: {said}"
        );
        assert!(said.contains(&notes[0].fault.hint("p")), "{said}");
    }
}

#[test]
fn a_plugin_that_failed_is_left_alone_for_a_while_and_then_works_again() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(
        r#"
def answer(method, params, id):
    if method != "engine/assemble": return None
    flag = os.path.dirname(os.path.abspath(__file__)) + "/died"
    if not os.path.exists(flag):
        open(flag, "w").close(); os._exit(1)
    return {"messages": [2]}
"#,
    );
    assert!(lab.assemble(talk()).is_err());
    assert_eq!(lab.assemble(talk()).unwrap().messages, talk(), "too soon");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(lab.assemble(talk()).unwrap().messages, talk()[2..]);
    assert_eq!(lab.set.status("p").unwrap().state, PluginState::Running);
}

#[test]
fn a_plugin_that_cannot_be_started_is_reported() {
    for command in [
        vec!["no-such-program-here"],
        vec!["/bin/sh", "-c", "exit 4"],
    ] {
        let lab = Lab::with_settings("", |settings| {
            settings.sandbox = Some(false);
            settings.command = command.iter().map(ToString::to_string).collect();
        });
        let error = lab.assemble(talk()).unwrap_err().to_string();
        let why = ["could not be started", "exit code 4"];
        assert!(why.iter().any(|why| error.contains(why)), "{error}");
    }
}

#[test]
fn a_request_that_is_too_long_is_not_sent_and_the_plugin_lives() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(
        "def answer(method, params, id):\n    if method == 'engine/assemble': return {'messages': [0]}",
    );
    let long = chitin_protocol::message::Message::user("x".repeat(9 << 20), 0);
    let error = lab.assemble(vec![long]).unwrap_err().to_string();
    assert!(error.contains("more than a plugin is sent"), "{error}");
    let one = talk()[..1].to_vec();
    assert_eq!(lab.assemble(one.clone()).unwrap().messages, one);
}

#[test]
fn everything_that_a_plugin_started_ends_with_the_set() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(
        r#"
import subprocess
def answer(method, params, id):
    if method != "engine/assemble": return None
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    return {"messages": [2], "systemPromptAddition": f"{os.getpid()} {child.pid}"}
"#,
    );
    let context = lab.assemble(talk()).unwrap();
    let addition = context.system_prompt_addition.unwrap();
    let pids: Vec<u32> = addition
        .split(' ')
        .map(|pid| pid.parse().unwrap())
        .collect();
    assert!(pids.iter().all(|pid| is_running(*pid)), "{pids:?}");
    drop(lab);
    let until = Instant::now() + Duration::from_secs(10);
    while pids.iter().any(|pid| is_running(*pid)) {
        assert!(Instant::now() < until, "{pids:?} still run");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_fault_has_words_and_a_hint() {
    for fault in [
        PluginFault::Misconfigured("x".to_owned()),
        PluginFault::NotOffered("adapter".to_owned()),
        PluginFault::Removed,
        PluginFault::BackingOff {
            wait: Duration::from_millis(1500),
            cause: Box::new(PluginFault::Removed),
        },
    ] {
        assert!(fault.hint("p").ends_with('.'), "{fault:?}");
        assert!(!fault.to_string().is_empty());
    }
}
