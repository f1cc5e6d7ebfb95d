//! Turn after turn: what is remembered never shows.

use chitin_context::budget::BudgetLimits;
use chitin_context::sections::PromptFacts;
use chitin_context::{Assembler, TellCuts, TurnInputs, assemble};
use chitin_contract::ALL;
use chitin_test::TestEnv;
use chitin_workspace::Workspace;
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::load::{LoadOptions, Loader};
use proptest::prelude::*;
use std::sync::Arc;

/// What may be different from one turn to the next.
#[derive(Debug, Clone)]
struct Step {
    edited: &'static str,
    text: String,
    per_file: usize,
    project: bool,
    heartbeats: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let name = prop::sample::select(vec!["AGENTS.md", "SOUL.md", "USER.md", "HEARTBEAT.md"]);
    let text = prop::sample::select(vec![
        "short",
        "a\n\n\n\nb",
        "- one <!-- project:x -->\n- two\n",
        "- one <!-- project:x -->\n",
        "long and ",
    ]);
    let times = prop::sample::select(vec![1_usize, 40]);
    let bound = prop::sample::select(vec![200_usize, 20_000]);
    (name, text, times, bound, any::<bool>(), any::<bool>()).prop_map(
        |(edited, text, times, per_file, project, heartbeats)| Step {
            edited,
            text: text.repeat(times),
            per_file,
            project,
            heartbeats,
        },
    )
}

fn with_turn<T>(
    workspace: &Arc<Workspace>,
    step: &Step,
    make: impl FnOnce(&TurnInputs<'_>) -> T,
) -> T {
    let projects: &[String] = if step.project { &["x".to_owned()] } else { &[] };
    make(&TurnInputs {
        workspace,
        extras: &[],
        facts: &TurnFacts::default(),
        limits: &BudgetLimits {
            per_file: step.per_file,
            ..BudgetLimits::of(workspace.contract())
        },
        projects,
        prompt: &Arc::new(PromptFacts {
            heartbeats: step.heartbeats,
            ..PromptFacts::default()
        }),
        memory: &[],
        cuts: TellCuts::Yes,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_turn_gets_what_it_would_get_alone(steps in prop::collection::vec(step(), 1..8)) {
        for contract in ALL {
            let env = TestEnv::new();
            env.file("workspace/AGENTS.md", "rules");
            let loader = Loader::new(env.workspace(), contract, &LoadOptions::default());
            let mut assembler = Assembler::default();
            for step in &steps {
                env.file(&format!("workspace/{}", step.edited), &step.text);
                let workspace = loader.load().map_err(|error| TestCaseError::fail(error.to_string()))?;
                let (first, again, alone) = with_turn(&workspace, step, |turn| {
                    (assembler.assemble(turn), assembler.assemble(turn), assemble(turn))
                });
                prop_assert!(Arc::ptr_eq(&first, &again));
                prop_assert_eq!(again.system(), alone.system());
                prop_assert_eq!(again.user_message("hello"), alone.user_message("hello"));
                prop_assert_eq!(again.boundary(), alone.boundary());
                for fragment in &again.fragments {
                    prop_assert_eq!(fragment.injected.bytes, fragment.text().len());
                }
                prop_assert_eq!((*again).clone().system(), alone.system());
            }
        }
    }
}
