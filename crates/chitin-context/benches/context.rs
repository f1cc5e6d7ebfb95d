//! What a turn's context costs: against copying the same bytes once, measured in the same run.
//!
//! `cargo bench -p chitin-context --bench context` prints divan's table; `-- --budgets` measures each pair in turns, prints
//! the ratios of docs/performance.md and fails when one is over.
#![expect(
    clippy::disallowed_methods,
    reason = "floors are raw calls, and files are edited between turns"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

use chitin_context::budget::BudgetLimits;
use chitin_context::catalogue::{CatalogueLimits, CatalogueSkill, catalogue};
use chitin_context::sections::{PromptFacts, ToolFact};
use chitin_context::{Assembler, Context, TellCuts, TurnInputs, assemble};
use chitin_contract::CANONICAL;
use chitin_test::TestEnv;
use chitin_workspace::Workspace;
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::load::{LoadOptions, Loader};
use divan::{Bencher, black_box};
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The eight names that the contract loads.
fn names() -> impl Iterator<Item = &'static str> {
    CANONICAL.loading.files.iter().map(|file| file.name)
}

/// How long the seven files that nobody edits are, so that all eight make 22 KB, and ten times that.
const SMALL: usize = 2_900;
const LARGE: usize = 31_100;
/// The file that is edited, and how long it is.
const EDITED: &str = "SOUL.md";
const EDITED_BYTES: usize = 2_000;

/// A turn about an unchanged workspace against one copy of its prompt; the warm load is budgeted by itself.
const UNCHANGED_BUDGET: f64 = 3.0;
/// A turn after one file changed, against reading that file and one copy of the prompt; loading is budgeted by itself.
const CHANGED_BUDGET: f64 = 3.0;
/// The same without writing the prompt, among ten times as much text against among little.
const PROPORTION_BUDGET: f64 = 1.5;
/// Five thousand skills, listed and put into a prompt: the fastest of many, since other work on the machine only adds.
const SKILLS_BUDGET: Duration = Duration::from_millis(10);
/// Twice as many skills against so many.
const LINEAR_BUDGET: f64 = 2.5;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--budgets") {
        return budgets();
    }
    divan::main();
    ExitCode::SUCCESS
}

/// A workspace of eight files, turn after turn.
struct Agent {
    env: TestEnv,
    loader: Loader,
    limits: BudgetLimits,
    prompt: Arc<PromptFacts>,
    assembler: Assembler,
    edits: u64,
}

impl Agent {
    fn new(bytes: usize) -> Self {
        let env = TestEnv::new();
        for name in names() {
            env.file(&format!("workspace/{name}"), text(name, bytes));
        }
        let mut agent = Self {
            loader: Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default()),
            limits: BudgetLimits {
                per_file: 1_000_000,
                total: Some(10_000_000),
                ..BudgetLimits::of(&CANONICAL)
            },
            prompt: Arc::new(facts()),
            assembler: Assembler::default(),
            env,
            edits: 0,
        };
        agent.edit();
        agent.turn();
        agent
    }

    /// Changes one file; its length too, since two edits may fall into one tick of the clock.
    fn edit(&mut self) {
        self.edits += 1;
        let bytes = EDITED_BYTES + usize::from(self.edits.is_multiple_of(2));
        fs::write(self.edited(), text(&self.edits.to_string(), bytes)).unwrap();
    }

    fn edited(&self) -> PathBuf {
        self.env.workspace().join(EDITED)
    }

    fn load(&self) -> Arc<Workspace> {
        self.loader.load().unwrap()
    }

    fn assemble(&mut self, workspace: &Arc<Workspace>) -> Arc<Context> {
        with_turn(workspace, &self.limits, &self.prompt, |turn| {
            self.assembler.assemble(turn)
        })
    }

    fn turn(&mut self) -> Arc<Context> {
        let workspace = self.load();
        self.assemble(&workspace)
    }

    /// Returns two snapshots that differ in one file: taken in turns, each is one change after the other.
    fn edited_snapshots(&mut self) -> [Arc<Workspace>; 2] {
        [(); 2].map(|()| {
            self.edit();
            self.load()
        })
    }
}

/// Facts that give a prompt of usual length.
fn facts() -> PromptFacts {
    let tools = ["read", "write", "edit", "exec", "search", "memory_search"];
    PromptFacts {
        tools: tools
            .map(|name| ToolFact {
                name: name.into(),
                summary: "does what its name says".into(),
            })
            .to_vec(),
        workspace: "/home/ada/workspace".into(),
        time_zone: Some("Europe/Paris".into()),
        heartbeats: true,
        ..PromptFacts::default()
    }
}

/// A text of that many bytes.
fn text(begin: &str, bytes: usize) -> String {
    let mut text = format!("{begin}\n\n");
    while text.len() < bytes {
        text.push_str("A line of a workspace file.\n");
    }
    text.truncate(bytes);
    text
}

fn with_turn<T>(
    workspace: &Arc<Workspace>,
    limits: &BudgetLimits,
    prompt: &Arc<PromptFacts>,
    make: impl FnOnce(&TurnInputs<'_>) -> T,
) -> T {
    let facts = TurnFacts {
        session_key: Some("agent:main:main"),
        setup_complete: true,
        ..TurnFacts::default()
    };
    make(&TurnInputs {
        workspace,
        extras: &[],
        facts: &facts,
        limits,
        projects: &[],
        prompt,
        memory: &[],
        cuts: TellCuts::Yes,
    })
}

fn write(context: &Context, buffer: &mut String) {
    buffer.clear();
    context.write_system(buffer);
    black_box(buffer);
}

fn copy(text: &str, buffer: &mut String) {
    buffer.clear();
    buffer.push_str(black_box(text));
    black_box(buffer);
}

/// Skills as discovery finds them.
struct Skills {
    texts: Vec<(String, String, String)>,
}

impl Skills {
    fn new(count: usize) -> Self {
        let texts = (0..count)
            .map(|number| {
                let name = format!("skill-{number:05}");
                let description = format!(
                    "Looks up tide times for pier {number} & says when to sail, with the wind, \
                     the draught and the lock's opening hours in mind."
                );
                let location = format!("/home/ada/workspace/skills/{name}/SKILL.md");
                (name, description, location)
            })
            .collect();
        Self { texts }
    }

    /// Lists all of them and puts a prompt together that shows the list.
    fn context(&self, agent: &Agent, workspace: &Arc<Workspace>) -> String {
        let skills: Vec<CatalogueSkill<'_>> = self
            .texts
            .iter()
            .map(|(name, description, location)| CatalogueSkill {
                name,
                description,
                location: Cow::Borrowed(location),
                location_note: None,
                visible: true,
            })
            .collect();
        let limits = CatalogueLimits {
            max_skills: usize::MAX,
            max_chars: usize::MAX,
        };
        let homes = [Path::new("/home/ada")];
        let list = catalogue(&skills, limits, &homes, None, &CANONICAL.skills, None).unwrap();
        let prompt = Arc::new(PromptFacts {
            skills: Some(list.text().into()),
            ..facts()
        });
        with_turn(workspace, &agent.limits, &prompt, |turn| {
            assemble(turn).system()
        })
    }
}

#[divan::bench]
fn floor_copy_of_the_prompt(bencher: Bencher<'_, '_>) {
    let prompt = Agent::new(SMALL).turn().system();
    let mut buffer = String::new();
    bencher.bench_local(move || copy(&prompt, &mut buffer));
}

#[divan::bench]
fn unchanged_without_loading(bencher: Bencher<'_, '_>) {
    let mut agent = Agent::new(SMALL);
    let workspace = agent.load();
    let mut buffer = String::new();
    bencher.bench_local(move || write(&agent.assemble(&workspace), &mut buffer));
}

#[divan::bench]
fn unchanged(bencher: Bencher<'_, '_>) {
    let mut agent = Agent::new(SMALL);
    let mut buffer = String::new();
    bencher.bench_local(move || write(&agent.turn(), &mut buffer));
}

#[divan::bench(args = [SMALL, LARGE])]
fn one_file_changed(bencher: Bencher<'_, '_>, bytes: usize) {
    let mut agent = Agent::new(bytes);
    let snapshots = agent.edited_snapshots();
    let mut turns = snapshots.iter().cycle();
    bencher.bench_local(|| turns.next().map(|workspace| agent.assemble(workspace)));
}

#[divan::bench]
fn from_nothing(bencher: Bencher<'_, '_>) {
    let agent = Agent::new(SMALL);
    let workspace = agent.load();
    bencher.bench_local(|| with_turn(&workspace, &agent.limits, &agent.prompt, assemble));
}

#[divan::bench(args = [1_250, 2_500, 5_000, 10_000])]
fn skills(bencher: Bencher<'_, '_>, count: usize) {
    let (agent, skills) = (Agent::new(SMALL), Skills::new(count));
    let workspace = agent.load();
    bencher.bench_local(|| skills.context(&agent, &workspace));
}

/// Collects durations of floor and subject in turns, so that noise hits both alike, and compares the medians.
fn ratio(rounds: usize, mut pair: impl FnMut() -> (Duration, Duration)) -> Measured {
    let (mut floors, mut subjects): (Vec<_>, Vec<_>) = (0..rounds).map(|_| pair()).unzip();
    floors.sort();
    subjects.sort();
    let (floor, subject) = (floors[rounds / 2], subjects[rounds / 2]);
    let ratio = subject.as_secs_f64() / floor.as_secs_f64();
    (subject, floor, ratio)
}

/// Subject, floor and their ratio.
type Measured = (Duration, Duration, f64);

fn time(times: u32, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    start.elapsed() / times
}

fn unchanged_ratio() -> Measured {
    let mut agent = Agent::new(SMALL);
    let workspace = agent.load();
    let prompt = agent.assemble(&workspace).system();
    let (mut copied, mut written) = (String::new(), String::new());
    ratio(1000, || {
        let floor = time(50, || copy(&prompt, &mut copied));
        let subject = time(50, || write(&agent.assemble(&workspace), &mut written));
        assert_eq!(copied, written);
        (floor, subject)
    })
}

fn changed_ratio(bytes: usize) -> Measured {
    let mut agent = Agent::new(bytes);
    let snapshots = agent.edited_snapshots();
    let prompt = agent.turn().system();
    let path = agent.edited();
    let mut turns = snapshots.iter().cycle();
    let (mut copied, mut written) = (String::new(), String::new());
    ratio(1000, || {
        let floor = time(20, || {
            black_box(fs::read(&path).unwrap());
            copy(&prompt, &mut copied);
        });
        let subject = time(20, || {
            let workspace = turns.next().unwrap();
            write(&agent.assemble(workspace), &mut written);
        });
        // An even number of turns ends with the later snapshot.
        assert_eq!(copied, written);
        (floor, subject)
    })
}

fn proportion() -> Measured {
    let (mut small, mut large) = (Agent::new(SMALL), Agent::new(LARGE));
    let (few, many) = (small.edited_snapshots(), large.edited_snapshots());
    let assemble = |agent: &mut Agent, snapshots: &[Arc<Workspace>; 2]| {
        time(10, || {
            for workspace in snapshots {
                black_box(agent.assemble(workspace));
            }
        })
    };
    ratio(1000, || {
        (assemble(&mut small, &few), assemble(&mut large, &many))
    })
}

/// Twice as many skills, and the fastest of so many.
fn skills_ratio() -> (Measured, Duration) {
    let agent = Agent::new(SMALL);
    let workspace = agent.load();
    let (half, whole) = (Skills::new(5_000), Skills::new(10_000));
    let list = |skills: &Skills| {
        time(1, || {
            black_box(skills.context(&agent, &workspace));
        })
    };
    let mut fastest = Duration::MAX;
    let linear = ratio(50, || {
        let floor = list(&half);
        fastest = fastest.min(floor);
        (floor, list(&whole))
    });
    (linear, fastest)
}

fn budgets() -> ExitCode {
    let (linear, five_thousand) = skills_ratio();
    let rows = [
        (
            "unchanged, assemble and write / copy of the prompt",
            UNCHANGED_BUDGET,
            unchanged_ratio(),
        ),
        (
            "2 of 22 KB changed, assemble and write / read of those, copy of the prompt",
            CHANGED_BUDGET,
            changed_ratio(SMALL),
        ),
        (
            "2 of 220 KB changed, assemble and write / read of those, copy of the prompt",
            CHANGED_BUDGET,
            changed_ratio(LARGE),
        ),
        (
            "assemble, 2 of 220 KB changed / 2 of 22 KB changed",
            PROPORTION_BUDGET,
            proportion(),
        ),
        ("10,000 skills / 5,000 skills", LINEAR_BUDGET, linear),
    ];
    let mut over = false;
    for (name, budget, (subject, floor, ratio)) in rows {
        over |= ratio > budget;
        println!("{name}: {subject:?} / {floor:?} = {ratio:.2} (budget {budget})");
    }
    over |= five_thousand > SKILLS_BUDGET;
    println!("5,000 skills: {five_thousand:?} (budget {SKILLS_BUDGET:?})");
    if over {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
