//! An embedding program gets what the command line gets.

use crate::process::plain_command;
use chitin_protocol::event::TurnEvent;
use chitin_runtime::context::TurnRequest;
use chitin_runtime::{Runtime, RuntimeBuilder, TurnMessage};
use chitin_store::SessionStore;
use chitin_test::TestEnv;
use chitin_workspace::adapter::{AdapterError, AdapterRegistry, AgentDefinition, WorkspaceAdapter};
use chitin_workspace::env::Env;
use chitin_workspace::guard::Root;
use std::path::Path;

/// Sees the same environment as the binary of [`plain_command`].
fn builder(env: &TestEnv) -> RuntimeBuilder {
    let seen = Env::new(env.path())
        .with("HOME", env.home().to_string_lossy())
        .with("TZ", "Europe/Oslo");
    Runtime::builder().environment(seen)
}

fn harbor() -> TestEnv {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    env.file("harbor/SOUL.md", "Calm.\n");
    env.file("harbor/MEMORY.md", "- The larch came on Monday.\n");
    env
}

fn scripted(env: &TestEnv, script: &str) -> String {
    let script = env.file("script.jsonl", script);
    format!("scripted/{}", script.display())
}

#[test]
fn the_prompt_of_an_embedder_is_what_context_prints() {
    let env = harbor();
    let runtime = builder(&env).build().unwrap();
    let agent = runtime.agent(env.path().join("harbor")).unwrap();
    // An embedder without a helper has no tools that run commands; the rest is the same to the byte.
    let request = TurnRequest {
        tools: Some(vec!["read".to_owned(), "write".to_owned()]),
        ..TurnRequest::default()
    };
    let context = agent.context(&request).unwrap();
    let arguments = ["context", "harbor", "--text", "--tools", "read,write"];
    let printed = plain_command(&env, &arguments).output().unwrap();
    assert_eq!(
        context.system_prompt(),
        String::from_utf8_lossy(&printed.stdout)
    );
    assert_eq!(agent.definition().unwrap().name, "harbor");
}

#[tokio::test]
async fn a_turn_is_kept_where_the_command_line_finds_it() {
    let env = harbor();
    let model = scripted(&env, r#"{"text": "Two boats.", "times": 0}"#);
    let runtime = builder(&env).model(model).build().unwrap();
    let agent = runtime.agent(env.path().join("harbor")).unwrap();
    let report = agent.turn("What lies at the quay?").await.unwrap();
    assert_eq!(report.text, "Two boats.");
    let sessions = agent.sessions().list().unwrap();
    assert_eq!(sessions.len(), 1);
    let key = sessions[0].0.clone();
    assert_eq!(key, format!("agent:{}:main", agent.id()));
    let arguments = ["sessions", "show", &key, "--dir", "harbor"];
    let shown = plain_command(&env, &arguments).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("What lies at the quay?") && shown.contains("Two boats."),
        "{shown}"
    );
}

#[tokio::test]
async fn events_are_told_while_a_turn_runs() {
    let env = harbor();
    let model = scripted(&env, r#"{"text": "Two boats."}"#);
    let runtime = builder(&env).model(model).build().unwrap();
    let agent = runtime.agent(env.path().join("harbor")).unwrap();
    let mut turn = agent
        .stream(TurnMessage {
            text: "What lies there?".to_owned(),
            session: Some("main".to_owned()),
            ..TurnMessage::default()
        })
        .await
        .unwrap();
    let mut told = 0;
    while let Some(event) = turn.next().await {
        let _: TurnEvent = event;
        told += 1;
    }
    assert!(told > 2, "{told}");
    assert_eq!(turn.finish().await.unwrap().text, "Two boats.");
}

/// Claims directories with a `prompt.txt`.
struct PromptFiles;

impl WorkspaceAdapter for PromptFiles {
    fn supports(&self, root: &Path) -> bool {
        Root::open(root).is_ok_and(|root| root.kind(Path::new("prompt.txt")).is_some())
    }

    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError> {
        let mut definition = AdapterRegistry::with_built_ins().load(root)?;
        "Rules of a prompt file.".clone_into(&mut definition.operating_rules);
        self.name().clone_into(&mut definition.adapter_name);
        "prompter".clone_into(&mut definition.name);
        Ok(definition)
    }

    fn name(&self) -> &'static str {
        "prompt-files"
    }

    fn priority(&self) -> i32 {
        5
    }
}

#[test]
fn an_adapter_is_added_with_a_line() {
    let env = harbor();
    env.file("other/prompt.txt", "x");
    let runtime = builder(&env).adapter(PromptFiles).build().unwrap();
    let agent = runtime.agent(env.path().join("other")).unwrap();
    let prompt = agent
        .context(&TurnRequest::default())
        .unwrap()
        .system_prompt();
    assert!(prompt.contains("Rules of a prompt file."), "{prompt}");
    assert!(prompt.contains("name=prompter"), "{prompt}");
    // A directory that it does not claim is what it was.
    let agent = runtime.agent(env.path().join("harbor")).unwrap();
    let prompt = agent
        .context(&TurnRequest::default())
        .unwrap()
        .system_prompt();
    assert!(prompt.contains("Keep the harbor."), "{prompt}");
}

#[test]
fn a_directory_that_is_not_there_is_an_error_with_a_hint() {
    let env = harbor();
    let runtime = builder(&env).build().unwrap();
    let Err(error) = runtime.agent(env.path().join("nowhere")) else {
        unreachable!("there is no such directory");
    };
    assert!(error.hints()[0].starts_with("`chitin init "), "{error:?}");
}
