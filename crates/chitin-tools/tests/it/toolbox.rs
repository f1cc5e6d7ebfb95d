//! What a run has: in a stable order, filtered, and clean whoever made the tool.

use crate::kit::{Nobody, done, failed};
use chitin_contract::ToolRules;
use chitin_protocol::message::{Block, CostShares, Usage};
use chitin_protocol::session_key::KeyGrammar;
use chitin_protocol::settings::OutputSettings;
use chitin_protocol::tool::ToolSpec;
use chitin_test::TestEnv;
use chitin_tools::files::{FileOptions, file_tools};
use chitin_tools::memory_slot::{MemoryTools, memory_tools};
use chitin_tools::policy::{PolicyConfig, PolicyInput};
use chitin_tools::redact::Redactor;
use chitin_tools::session_status::{SessionFacts, SessionStatus, SessionStatusTool};
use chitin_tools::{CallContext, Tool, ToolOffer, ToolOutcome, Toolbox};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A tool that says what it is told to say.
struct Says {
    spec: ToolSpec,
    text: String,
}

impl Says {
    fn tool(name: &str, text: &str) -> Arc<dyn Tool> {
        Arc::new(Self {
            spec: ToolSpec {
                name: name.to_owned(),
                description: String::new(),
                parameters: json!({"type": "object"}),
            },
            text: text.to_owned(),
        })
    }
}

impl Tool for Says {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Value, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolOutcome> {
        async move {
            let mut outcome = ToolOutcome::text(&self.text);
            outcome.content.push(Block::text(&self.text));
            outcome.with_details(json!({ "said": self.text }))
        }
        .boxed()
    }
}

struct Facts;

impl SessionFacts for Facts {
    fn status(&self, _: &str) -> SessionStatus {
        SessionStatus {
            time: "2026-01-02 03:04 UTC".to_owned(),
            model: "acme/large".to_owned(),
            context_window: Some(200_000),
            context_tokens: Some(50_000),
            turns: Some(3),
            usage: Usage {
                input: 10,
                output: 20,
                cache_read: 30,
                cost: CostShares {
                    total: 0.1234,
                    ..CostShares::default()
                },
                ..Usage::default()
            },
            cost_limit: Some(5.0),
            ..SessionStatus::default()
        }
    }
}

struct Memory;

impl MemoryTools for Memory {
    fn search(&self) -> Arc<dyn Tool> {
        Says::tool("memory_search", "")
    }

    fn get(&self) -> Arc<dyn Tool> {
        Says::tool("remember", "")
    }
}

fn from(plugin: &str, tool: Arc<dyn Tool>) -> ToolOffer {
    ToolOffer::From {
        plugin: plugin.to_owned(),
        tool,
    }
}

fn toolbox(rules: &ToolRules, config: &Value, offers: Vec<ToolOffer>) -> Toolbox {
    let config = PolicyConfig::from_value(config);
    let input = PolicyInput::new(&config, KeyGrammar::Lenient, "agent:main:main");
    let redactor = Arc::new(Redactor::new(["hunter2-hunter2".into()]));
    Toolbox::new(rules, &input, offers, redactor)
}

fn own(rules: &ToolRules) -> Vec<ToolOffer> {
    let status: Arc<dyn Tool> = Arc::new(SessionStatusTool::new(Arc::new(Facts)));
    std::iter::once(status)
        .chain(file_tools(rules, FileOptions::default()))
        .chain(memory_tools(Some(&Memory)))
        .map(ToolOffer::Own)
        .collect()
}

fn names(toolbox: &Toolbox) -> Vec<&str> {
    toolbox.specs().map(|spec| spec.name.as_str()).collect()
}

fn call(toolbox: &Toolbox, name: &str, room: usize) -> ToolOutcome {
    let env = TestEnv::new();
    let workspace = env.workspace();
    let context = CallContext {
        workspace: &workspace,
        skill_roots: &[],
        state_roots: &[],
        agent: &chitin_workspace::adapter::LazyDefinition::none(),
        rights: &chitin_tools::Rights::default(),
        session_key: "agent:main:main",
        call_id: "1",
        cancel: &CancellationToken::new(),
        max_output_bytes: room,
        progress: &|_| {},
        approver: &Nobody,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(toolbox.call(name, json!({}), &context))
}

#[test]
fn order_is_that_of_the_catalogue_then_of_names_whatever_was_offered_first() {
    let rules = ToolRules::CANONICAL;
    let mut offers = own(&rules);
    offers.extend([
        from("zeta", Says::tool("b_tool", "")),
        from("alpha", Says::tool("z_tool", "")),
        from("zeta", Says::tool("a_tool", "")),
        from("zeta", Says::tool("READ", "")),
    ]);
    let expected = [
        "read",
        "list",
        "search",
        "write",
        "edit",
        "apply_patch",
        "memory_search",
        "session_status",
        "z_tool",
        "a_tool",
        "b_tool",
    ];
    let forwards = toolbox(&rules, &json!({}), offers.clone());
    assert_eq!(names(&forwards), expected);
    assert_eq!(forwards.shadowed(), ["READ"]);
    offers.reverse();
    assert_eq!(names(&toolbox(&rules, &json!({}), offers)), expected);
    assert_eq!(
        names(&toolbox(
            &ToolRules::OPENCLAW_2026_9,
            &json!({}),
            own(&ToolRules::OPENCLAW_2026_9)
        ))[..2],
        ["ls", "read"]
    );
    assert!(memory_tools(None).is_empty());
}

#[test]
fn the_policy_filters_and_a_missing_tool_says_why() {
    let rules = ToolRules::CANONICAL;
    let mut offers = own(&rules);
    offers.push(from("bundle-mcp", Says::tool("wiki__search", "")));
    offers.push(from("lantern", Says::tool("lantern_on", "")));
    let toolbox = toolbox(
        &rules,
        &json!({"tools": {"profile": "coding", "deny": ["write"]}}),
        offers,
    );
    assert_eq!(
        names(&toolbox),
        [
            "read",
            "list",
            "search",
            "edit",
            "memory_search",
            "session_status",
            "wiki__search"
        ]
    );
    assert!(toolbox.get("READ").is_some() && toolbox.get("write").is_none());
    for (name, told) in [
        (
            "write",
            "`write` is not allowed: `tools.deny` denies `write`.",
        ),
        (
            "apply-patch",
            "`apply_patch` is not allowed: `tools.deny` denies `write`.",
        ),
        (
            "lantern_on",
            "`lantern_on` is not allowed: `tools.profile (coding)` does not include it. Add `lantern_on` to `tools.alsoAllow` to use it with this profile.",
        ),
        (
            "serch",
            "The tool `serch` does not exist. Did you mean `search`?",
        ),
        (
            "bash",
            "The tool `bash` is not available here. Available tools: `read`, `list`, `search`, `edit`, `memory_search`, `session_status`, `wiki__search`.",
        ),
    ] {
        assert_eq!(failed(&call(&toolbox, name, 5000)), told);
    }
}

#[test]
fn whatever_a_tool_says_is_clean_redacted_and_bounded() {
    let secret = format!(
        "\u{1b}[31mkey hunter2-hunter2 and gh{}_{}\n",
        "p",
        "a1".repeat(20)
    );
    let offers = vec![
        from("x", Says::tool("leaky", &secret)),
        from("x", Says::tool("long", &"line\n".repeat(10_000))),
    ];
    let toolbox = toolbox(&ToolRules::CANONICAL, &json!({}), offers).with_output(&OutputSettings {
        max_bytes: Some(2000),
        max_lines: Some(50),
    });
    let leaky = call(&toolbox, "leaky", 50_000);
    assert_eq!(
        done(&leaky),
        "key [redacted] and [redacted]\n\nkey [redacted] and [redacted]\n"
    );
    assert!(!leaky.details.unwrap().to_string().contains("hunter2"));
    let long = done(&call(&toolbox, "long", 50_000));
    assert!(long.len() <= 2001 && long.lines().count() <= 51 && long.contains("omitted"));
    let tight = done(&call(&toolbox, "long", 300));
    assert!(tight.len() <= 301);
}

#[test]
fn the_status_is_told_in_lines() {
    let toolbox = toolbox(
        &ToolRules::CANONICAL,
        &json!({}),
        own(&ToolRules::CANONICAL),
    );
    assert_eq!(
        done(&call(&toolbox, "session_status", 5000)),
        "Time: 2026-01-02 03:04 UTC\nSession: agent:main:main\nModel: acme/large\nWindow: 50000 of 200000 tokens (25 %)\nTurns: 3\nCompactions: 0\nTokens: 10 input, 20 output, 30 cache read, 0 cache write\nCost: $0.1234 of at most $5.00"
    );
}
