//! An embedding program gets what the command line gets.

use crate::process::plain_command;
use crate::run::{CACHE_BOUNDARY, Talk};
use chitin_agent::engine::{
    AssembledContext, Assembly, CompactOrder, CompactionOutcome, ContextEngine, EngineError,
    EngineInfo, Ingested, SessionRef, Summarizer,
};
use chitin_agent::turn::NoApprover;
use chitin_config::env::Env;
use chitin_gateway::{
    Address, AgentHost, OutgoingMessage, Sent, Surface, SurfaceCapabilities, SurfaceError,
};
use chitin_guard::Root;
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::Message;
use chitin_protocol::tool::ToolSpec;
use chitin_runtime::context::{TurnRequest, terminal_capabilities};
use chitin_runtime::serve::{ServeRequest, ServedGateway, ServedWorkspaces};
use chitin_runtime::sessions::{AgentSessions, SessionOwner};
use chitin_runtime::{
    AgentHandle, AgentTarget, Configuration, ConversationRequest, Host, Notes, Runtime,
    RuntimeBuilder, SessionChoice, Setup, TurnMessage, WorkspaceCheck,
};
use chitin_server::workspace_api::WorkspaceApi as _;
use chitin_store::SessionStore;
use chitin_test::TestEnv;
use chitin_test::model_server::Format;
use chitin_tools::{CallContext, ToolOutcome, TypedTool};
use chitin_workspace::adapter::{
    AdapterError, AdapterRegistry, AgentDefinition, OPENCLAW_NAME, WorkspaceAdapter,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// The environment that the binary of [`plain_command`] sees.
fn surroundings(env: &TestEnv) -> Env {
    Env::new(env.path())
        .with("HOME", env.home().to_string_lossy())
        .with("TZ", "Europe/Oslo")
}

fn builder(env: &TestEnv) -> RuntimeBuilder {
    Runtime::builder().environment(surroundings(env))
}

fn harbor_target(env: &TestEnv) -> AgentTarget {
    AgentTarget {
        directory: Some(env.path().join("harbor")),
        ..AgentTarget::default()
    }
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

/// What a request of Anthropic's format says: the system prompt and the names of the tools.
fn said(request: &Value) -> (String, Vec<String>) {
    let blocks = request["system"].as_array().unwrap().iter();
    let system = blocks
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    let tools = request["tools"].as_array().unwrap().iter();
    let tools = tools.map(|tool| tool["name"].as_str().unwrap().to_owned());
    (system, tools.collect())
}

#[tokio::test]
async fn the_context_of_an_embedder_has_the_tools_of_its_turn() {
    let answer = json!({"text": "Good morning.", "times": 0});
    for helper in [None, Some(env!("CARGO_BIN_EXE_chitin"))] {
        let talk = Talk::new(Format::Anthropic, std::slice::from_ref(&answer));
        let mut builder = builder(&talk.env).tool(AboutMe::new());
        if let Some(helper) = helper {
            builder = builder.sandbox_helper(helper);
        }
        let runtime = builder.build().unwrap();
        let agent = runtime.agent(talk.env.workspace()).unwrap();
        let context = agent.context(&TurnRequest::default()).unwrap();
        let report = agent.report(&TurnRequest::default()).unwrap();
        agent.turn("Hello").await.unwrap();
        let (system, tools) = said(&talk.server.requests()[0].json());
        assert_eq!(context.tools, tools);
        assert_eq!(context.system_prompt().replace(CACHE_BOUNDARY, ""), system);
        assert!(tools.contains(&"about_me".to_owned()), "{tools:?}");
        assert_eq!(tools.contains(&"exec".to_owned()), helper.is_some());
        let counted = report.tool_definitions.tools.iter().map(|tool| &tool.name);
        assert!(counted.eq(&tools), "{:?}", report.tool_definitions);
        assert!(report.request.complete);
    }
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

/// A tool that says what the agent is made of.
struct AboutMe(ToolSpec);

impl AboutMe {
    fn new() -> Self {
        Self(ToolSpec {
            name: "about_me".to_owned(),
            description: "Says what the agent is made of.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"file": {"type": "string"}},
                "required": ["file"],
            }),
        })
    }
}

/// What it is asked: which of the extension files to show.
#[derive(serde::Deserialize)]
struct Question {
    file: String,
}

impl TypedTool for AboutMe {
    type Arguments = Question;

    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, asked: Question, context: &CallContext<'_>) -> Result<ToolOutcome, String> {
        let agent = context
            .definition()
            .await
            .map_err(|error| error.to_string())?;
        Ok(ToolOutcome::text(format!(
            "{} by {}: {} {:?} {}",
            agent.name,
            agent.adapter_name,
            agent.persona.trim(),
            agent.extensions.get(&asked.file),
            agent.system_prompt.contains("Keep the harbor."),
        )))
    }
}

/// OpenClaw's adapter, with a count of how often a definition was made.
struct Counting(Arc<AtomicUsize>);

impl WorkspaceAdapter for Counting {
    fn supports(&self, root: &Path) -> bool {
        AdapterRegistry::with_built_ins()
            .find(root)
            .is_some_and(|adapter| adapter.name() == OPENCLAW_NAME)
    }

    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        AdapterRegistry::with_built_ins().load(root)
    }

    fn name(&self) -> &'static str {
        OPENCLAW_NAME
    }

    fn priority(&self) -> i32 {
        5
    }
}

#[tokio::test]
async fn a_tool_of_an_embedder_has_the_definition_at_hand() {
    let env = harbor();
    env.file("harbor/PERMISSIONS.md", "deny: swordfish\n");
    let script = [
        r#"{"text": "Nothing to ask."}"#,
        r#"{"toolCalls": [{"name": "about_me", "arguments": {"file": "PERMISSIONS.md"}}, {"name": "about_me", "arguments": {"file": "PERMISSIONS.md"}}, {"name": "about_me", "arguments": {}}]}"#,
        r#"{"text": "Now I know."}"#,
        r#"{"toolCalls": [{"name": "about_me", "arguments": {"file": "PERMISSIONS.md"}}]}"#,
        r#"{"text": "And again."}"#,
    ];
    let made = Arc::new(AtomicUsize::new(0));
    let runtime = builder(&env)
        .model(scripted(&env, &script.join("\n")))
        .adapter(Counting(Arc::clone(&made)))
        .tool(AboutMe::new())
        .build()
        .unwrap();
    let agent = runtime.agent(env.path().join("harbor")).unwrap();
    agent.turn("hello").await.unwrap();
    assert_eq!(made.load(Ordering::SeqCst), 0, "nobody asked for it");

    let said = about_me(&agent, "who are you?").await;
    let calm = r#"harbor by openclaw: Calm. Some("deny: swordfish\n") true"#;
    let refused = "The arguments of `about_me` are invalid: missing field `file`. Expected: `file` (string, required).";
    assert_eq!(said, [calm, calm, refused]);
    assert_eq!(made.load(Ordering::SeqCst), 1, "once for all of a turn");

    env.file("harbor/SOUL.md", "Stern.\n");
    let said = about_me(&agent, "and now?").await;
    assert_eq!(said, [calm.replace("Calm.", "Stern.")]);
}

/// Runs a turn, and returns what the tool said in it.
async fn about_me(agent: &AgentHandle, message: &str) -> Vec<String> {
    let mut turn = agent.stream(message).await.unwrap();
    let mut said = Vec::new();
    while let Some(event) = turn.next().await {
        if let TurnEvent::ToolFinished { summary, .. } = event {
            said.push(summary);
        }
    }
    turn.finish().await.unwrap();
    said
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

#[test]
fn what_check_and_sessions_print_are_calls_of_the_library() {
    let env = harbor();
    env.file("harbor/TOOLS.md", "Read [the chart](charts/none.md).\n");
    let host = Host::embedded(surroundings(&env));
    let setup = Setup::find(&host, &harbor_target(&env), &Notes::none()).unwrap();
    let report = WorkspaceCheck::load(&host, &setup).unwrap().report(&[]);
    assert!(!report.findings.is_empty());
    let arguments = ["check", "harbor", "--json"];
    let printed = plain_command(&env, &arguments).output().unwrap();
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(serde_json::to_value(&report).unwrap(), printed);
    let sessions = AgentSessions::find(&host, &setup, SessionOwner::Chitin).unwrap();
    assert_eq!(sessions.list().unwrap().len(), 0);
    let unknown = sessions.key("main").unwrap_err();
    assert_eq!(
        unknown.hints(),
        [format!("the agent `{}` has no sessions yet", setup.agent)]
    );
}

#[tokio::test]
async fn an_embedder_serves_an_agent_and_answers_about_its_workspace() {
    let env = harbor();
    let host = Arc::new(Host::embedded(surroundings(&env)));
    let configuration = Configuration::read(&host, None, &Notes::none()).unwrap();
    let state = env.home().join(".chitin");
    let request = || ServeRequest {
        target: harbor_target(&env),
        model: Some(scripted(&env, r#"{"text": "Two boats."}"#)),
        ..ServeRequest::default()
    };
    let open = || ServedGateway::open(&host, &configuration, &state, request(), &Notes::none());
    let served = open().unwrap();
    let agent = served.agents.agents()[0].id.clone();
    let api = ServedWorkspaces::new(&served.agents, &host);
    let listed = api.files(&agent).unwrap();
    let mut files = listed.files.iter();
    assert!(files.any(|file| file.path == "SOUL.md"), "{listed:?}");
    let checked = api.findings(&agent).unwrap();
    assert_eq!(checked.summary.errors, 0);
    let second = open().err().unwrap();
    assert!(
        second
            .to_string()
            .starts_with("Another `chitin serve` uses"),
        "{second}"
    );
}

/// Sends the last message only, and says how many there were.
struct LastOnly;

impl ContextEngine for LastOnly {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            id: "last-only".to_owned(),
            name: "Last only".to_owned(),
            version: None,
            owns_compaction: None,
        }
    }

    fn ingest<'a>(
        &'a self,
        _: SessionRef<'a>,
        _: &'a Message,
    ) -> BoxFuture<'a, Result<Ingested, EngineError>> {
        Box::pin(async { Ok(Ingested { ingested: false }) })
    }

    fn assemble<'a>(
        &'a self,
        session: SessionRef<'a>,
        assembly: Assembly,
    ) -> BoxFuture<'a, Result<AssembledContext, EngineError>> {
        Box::pin(async move {
            // An engine may use what a runtime offers, also where the caller has none.
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            let name = session.definition().await.unwrap().name.clone();
            let count = assembly.messages.len();
            Ok(AssembledContext {
                messages: assembly.messages.into_iter().skip(count - 1).collect(),
                estimated_tokens: 0,
                system_prompt_addition: Some(format!("{name} had {count} messages.")),
            })
        })
    }

    fn compact<'a>(
        &'a self,
        _: SessionRef<'a>,
        _: &'a CompactOrder<'a>,
        _: &'a dyn Summarizer,
    ) -> BoxFuture<'a, Result<CompactionOutcome, EngineError>> {
        Box::pin(async { Ok(CompactionOutcome::Nothing { reason: "not here" }) })
    }
}

#[tokio::test]
async fn the_context_of_an_embedder_is_what_its_engine_lets_through() {
    let env = harbor();
    env.file(
        "home/.chitin/chitin.json5",
        r#"{contextEngine: "last-only"}"#,
    );
    let model = scripted(&env, r#"{"text": "Two boats.", "times": 0}"#);
    let runtime = builder(&env)
        .model(model)
        .context_engine(LastOnly)
        .build()
        .unwrap();
    let agent = runtime.agent(env.path().join("harbor")).unwrap();
    agent.turn("What lies at the quay?").await.unwrap();
    agent.turn("And now?").await.unwrap();
    let request = TurnRequest {
        message: Some("Sure?".to_owned()),
        ..TurnRequest::default()
    };
    let prompt = agent.context(&request).unwrap().system_prompt();
    assert!(
        prompt.ends_with("\n\nharbor had 5 messages."),
        "{}",
        &prompt[prompt.len() - 200..]
    );
    let report = serde_json::to_value(agent.report(&request).unwrap()).unwrap();
    assert_eq!(report["history"]["messages"], 0);
    assert!(report["message"]["tokens"].as_u64().unwrap() > 0);
}

/// A surface that keeps what an agent sends there.
struct Kept {
    capabilities: SurfaceCapabilities,
    sent: Mutex<Vec<String>>,
}

impl Surface for Kept {
    fn id(&self) -> &'static str {
        "embedder"
    }

    fn capabilities(&self) -> &SurfaceCapabilities {
        &self.capabilities
    }

    fn send<'a>(
        &'a self,
        _: &'a Address,
        message: &'a OutgoingMessage,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>> {
        self.sent.lock().unwrap().push(message.plain.clone());
        let message_id = message.key.clone();
        Box::pin(std::future::ready(Ok(Sent { message_id })))
    }
}

#[tokio::test]
async fn an_embedder_has_the_conversation_that_run_has() {
    let env = harbor();
    let call = json!({"name": "message", "arguments": {
        "action": "send", "channel": "embedder", "target": "channel:desk", "message": "Ahoy.",
    }});
    let script = [
        json!({"toolCalls": [call]}).to_string(),
        json!({"text": "Sent."}).to_string(),
    ];
    let model = scripted(&env, &script.join("\n"));
    let runtime = builder(&env).model(model).build().unwrap();
    let agent = runtime.agent(env.path().join("harbor")).unwrap();
    let surface = Arc::new(Kept {
        capabilities: terminal_capabilities(),
        sent: Mutex::default(),
    });
    let request = ConversationRequest {
        session: SessionChoice::Main,
        target: AgentTarget::default(),
        model: None,
        thinking: None,
        record: None,
        approver: Arc::new(NoApprover),
        surface: Arc::clone(&surface) as Arc<dyn Surface>,
        verb: "embed",
    };
    let conversation = agent.conversation(request).await.unwrap();
    let names: Vec<&str> = conversation
        .agent
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    for name in ["sessions_spawn", "subagents", "message", "sessions_send"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let (events, mut told) = tokio::sync::mpsc::channel(256);
    let input = conversation.input("Greet them.", &[], false);
    let turn = conversation
        .agent
        .turn(input, events, CancellationToken::new());
    let (report, ()) = tokio::join!(turn, async { while told.recv().await.is_some() {} });
    assert_eq!(report.unwrap().text, "Sent.");
    assert_eq!(*surface.sent.lock().unwrap(), ["Ahoy."]);
}
