//! A home with plugins in it, and what was noted about them.
#![expect(
    clippy::disallowed_methods,
    reason = "plugins need a real search path, and the examples are files of this repository"
)]

use chitin_agent::engine::{AssembledContext, Assembly, ContextEngine, EngineError, SessionRef};
use chitin_plugin::{PluginFault, PluginHost, PluginNote, PluginSet};
use chitin_protocol::message::Message;
use chitin_protocol::settings::PluginSettings;
use chitin_test::TestEnv;
use chitin_workspace::adapter::AdapterRegistry;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(crate) const SESSION: SessionRef<'_> = SessionRef {
    id: "s1",
    key: "agent:main:main",
    agent: &chitin_workspace::adapter::LazyDefinition::none(),
};

/// The frame of a plugin whose answers a test writes: `answer(method, params)` returns a result.
const FRAME: &str = r#"
import json, os, sys, time
HELLO = {"protocolVersion": 1, "name": "test", "version": "1", "offers": ["adapter", "contextEngine"]}
def error(code, message): return {"__error": {"code": code, "message": message}}
def say(value): sys.stdout.write(value); sys.stdout.flush()
"#;
const LOOP: &str = r#"
for line in sys.stdin:
    request = json.loads(line)
    method, params = request["method"], request["params"]
    result = HELLO if method == "initialize" else None
    if "answer" in globals():
        result = answer(method, params, request["id"]) or result
    if result == "nothing": continue
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if isinstance(result, dict) and "__error" in result: reply["error"] = result["__error"]
    elif result is None: reply["error"] = {"code": -32601, "message": "method not found"}
    else: reply["result"] = result
    say(json.dumps(reply) + "\n")
"#;

pub(crate) struct Lab {
    pub(crate) env: TestEnv,
    pub(crate) set: PluginSet,
    notes: Arc<Mutex<Vec<PluginNote>>>,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let env = TestEnv::new();
        let notes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&notes);
        let mut host = PluginHost::new(
            env!("CARGO_BIN_EXE_chitin-plugin-sandbox"),
            env.home().join(".chitin"),
            "0.0.0-test",
        )
        .with_notes(move |note| kept.lock().unwrap().push(note.clone()));
        host.user_home = Some(env.home());
        host.environment = std::env::vars().collect();
        host.environment
            .insert("SECRET_KEY".to_owned(), "sk-test-1".to_owned());
        env.directory_at("home/.chitin");
        Self {
            env,
            set: PluginSet::new(host),
            notes,
        }
    }

    /// Makes a lab with one plugin, `p`, whose answers are given; outside the sandbox, so that every machine can run it.
    pub(crate) fn with(python: &str) -> Self {
        Self::with_settings(python, |settings| settings.sandbox = Some(false))
    }

    pub(crate) fn with_settings(python: &str, change: impl FnOnce(&mut PluginSettings)) -> Self {
        let lab = Self::new();
        lab.script("p.py", python);
        let mut settings = PluginSettings {
            command: vec!["python3".to_owned(), "plugins/p.py".to_owned()],
            // A start may take seconds where much else runs; what is to hang says so.
            timeout_seconds: Some(10),
            ..PluginSettings::default()
        };
        change(&mut settings);
        lab.reload([("p", settings)]);
        lab
    }

    pub(crate) fn script(&self, name: &str, python: &str) {
        self.env.file(
            &format!("home/.chitin/plugins/{name}"),
            format!("{FRAME}\n{python}\n{LOOP}"),
        );
    }

    /// Configures one of the plugins in `examples/plugins`, under a name.
    pub(crate) fn example(&self, name: &str, file: &str) -> (String, PluginSettings) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../examples/plugins")
            .join(file);
        let text = std::fs::read_to_string(path).unwrap();
        self.env.file(&format!("home/.chitin/plugins/{file}"), text);
        let settings = PluginSettings {
            command: vec!["python3".to_owned(), format!("~/.chitin/plugins/{file}")],
            sandbox: Some(false),
            timeout_seconds: Some(10),
            ..PluginSettings::default()
        };
        (name.to_owned(), settings)
    }

    pub(crate) fn reload<N: Into<String>>(
        &self,
        plugins: impl IntoIterator<Item = (N, PluginSettings)>,
    ) {
        let plugins: BTreeMap<_, _> = plugins
            .into_iter()
            .map(|(name, settings)| (name.into(), settings))
            .collect();
        self.set.reload(&plugins);
    }

    /// Returns the built-in adapters with those of the plugins.
    pub(crate) fn registry(&self) -> AdapterRegistry {
        let registry = AdapterRegistry::with_built_ins();
        self.set.update_adapters(&registry);
        registry
    }

    pub(crate) fn engine(&self) -> Arc<dyn ContextEngine> {
        let engines = self.set.engines(&self.env.workspace());
        engines.into_iter().next().unwrap().1
    }

    /// Lets the engine assemble a conversation.
    pub(crate) fn assemble(&self, messages: Vec<Message>) -> Result<AssembledContext, EngineError> {
        let engine = self.engine();
        block_on(engine.assemble(SESSION, assembly(messages)))
    }

    pub(crate) fn exists(&self, relative: &str) -> bool {
        self.env.path().join(relative).exists()
    }

    pub(crate) fn remove(&self, relative: &str) {
        std::fs::remove_file(self.env.path().join(relative)).unwrap();
    }

    /// Takes the notes so far.
    pub(crate) fn notes(&self) -> Vec<PluginNote> {
        std::mem::take(&mut self.notes.lock().unwrap())
    }

    pub(crate) fn faults(&self) -> Vec<PluginFault> {
        self.notes().into_iter().map(|note| note.fault).collect()
    }
}

pub(crate) fn assembly(messages: Vec<Message>) -> Assembly {
    Assembly {
        messages,
        token_budget: 1000,
        model: "test/model".to_owned(),
        prompt: None,
    }
}

pub(crate) fn talk() -> Vec<Message> {
    ["one", "two", "three"]
        .iter()
        .zip(0..)
        .map(|(text, at)| Message::user(*text, at))
        .collect()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Tells whether a process is there, however it is.
pub(crate) fn is_running(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
