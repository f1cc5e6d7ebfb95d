//! Skills found in random trees.
#![expect(
    clippy::disallowed_methods,
    reason = "where a file really lies is asked of the operating system, not of the code under test"
)]

use crate::recipe::Recipe;
use crate::tree::{Words, plant, write_in};
use crate::{novelty, scratch};
use chitin_contract::{SkillRules, SkillSource};
use chitin_workspace::skills::{
    DiscoverOptions, Eligibility, Skill, SkillPlaces, discover, skill_commands,
};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Recipes are bytes, so there are few words.
pub const DICTIONARY: &[&str] = &["\x04\0\0", "\x07\0\0\x01", "\0\x01\x01", "\x0a", "\x0b"];

const SECRET: &str = "SECRET";
const OUTSIDE: &[u8] = b"---\nname: outside\ndescription: SECRET\n---\n";
const NAMES: &[&str] = &[
    "skills",
    "SKILL.md",
    "a",
    "b",
    ".agents",
    ".hidden",
    "node_modules",
    "group",
    "\u{e4}",
];
const TARGETS: &[&str] = &[
    "..",
    ".",
    "../..",
    "../../outside",
    "../../../outside/SKILL.md",
    "{BASE}/outside",
    "{BASE}/outside/SKILL.md",
    "{BASE}/allowed/one",
    "{BASE}/tree/workspace",
    "{BASE}/tree/workspace/skills",
    "a",
    "/dev/null",
];
const CONTENTS: &[&[u8]] = &[
    b"---\nname: one\ndescription: first\n---\nbody\n",
    b"---\nname: one\ndescription: second\nmetadata: {\"openclaw\":{\"always\":true}}\n---\n",
    b"---\ndescription: no name\nmetadata: {oops\n---\n",
    b"---\nname: no end\n",
    b"---\nname: [\n---\n",
    b"no front matter",
    b"\xff\xfe",
    b"",
];

/// Plants a tree of all places and finds the skills in it by every contract.
pub fn run(data: &[u8]) {
    let base = scratch::fresh("skill_discovery");
    let outside = write_in(&base, "outside/SKILL.md", OUTSIDE);
    write_in(&base, "outside/sub/SKILL.md", OUTSIDE);
    write_in(&base, "allowed/one/SKILL.md", CONTENTS[0]);
    let tree = base.join("tree");
    let workspace = tree.join("workspace");
    let inner = write_in(&workspace, "skills/kept/SKILL.md", CONTENTS[1]);
    for place in ["home/.openclaw", "home/.agents", "bundled", "extra"] {
        write_in(&tree.join(place), ".keep", b"");
    }
    let mut recipe = Recipe::new(data);
    let config = json!({"skills": {"load": {
        "extraDirs": [tree.join("extra")],
        "allowSymlinkTargets": if recipe.byte().is_multiple_of(2) { json!([]) } else { json!([base.join("allowed")]) },
    }}});
    let options = DiscoverOptions {
        group_depth: match recipe.byte() % 4 {
            0 => None,
            depth => Some(usize::from(depth)),
        },
        max_file_bytes: Some(256),
        ..DiscoverOptions::default()
    };
    let words = Words {
        names: NAMES,
        targets: TARGETS,
        contents: CONTENTS,
        twins: &[&outside, &inner],
    };
    let places = [
        "workspace/skills",
        "workspace",
        "extra",
        "bundled",
        "home/.openclaw",
        "home/.agents",
    ];
    let mut second_names = 0;
    for _ in 0..2 {
        let place = tree.join(recipe.pick(&places));
        second_names += plant(&mut recipe, &base, &place, &words);
    }
    let places = SkillPlaces {
        workspace,
        home: Some(tree.join("home")),
        state: Some(tree.join("home/.openclaw")),
        bundled: Some(tree.join("bundled")),
        working_directory: tree,
        ..SkillPlaces::default()
    };
    let env = chitin_config::env::Env::new(&base).with("PATH", "/bin");
    for contract in chitin_contract::ALL {
        let rules = &contract.skills;
        let set = discover(&places, &config, rules, &options);
        novelty::note((set.skills.len(), set.shadowed.len()));
        for problem in &set.problems {
            novelty::note(problem.code);
        }
        let eligibility = Eligibility::new(&env, &config, rules);
        let lost = set.shadowed.iter().map(|lost| &lost.skill);
        for skill in set.skills.iter().chain(lost) {
            check(skill, &places, &config, rules, second_names > 0);
            let _ = eligibility.judge(skill);
        }
        let _ = skill_commands(&set.skills, &["help"], rules);
        assert!(
            set.skills
                .windows(2)
                .all(|pair| pair[0].name != pair[1].name),
            "two skills of one name"
        );
    }
}

fn check(skill: &Skill, places: &SkillPlaces, config: &Value, rules: &SkillRules, twins: bool) {
    assert!(!skill.name.is_empty() && !skill.description.is_empty());
    if rules.uncontained_sources.contains(&skill.source) {
        return;
    }
    let refuses_twins = rules.no_hardlink_sources.contains(&skill.source);
    let real = fs::canonicalize(&skill.file).expect("a skill's file is there");
    let mut roots: Vec<PathBuf> = places
        .roots(config, rules)
        .into_iter()
        .filter(|root| root.source == skill.source)
        .filter_map(|root| fs::canonicalize(root.directory).ok())
        .collect();
    if rules.link_target_sources.contains(&skill.source) {
        roots.extend(allowed(config));
    }
    assert!(
        roots.iter().any(|root| real.starts_with(root)),
        "{} of {} lies at {}, outside its root",
        skill.file.display(),
        tag(skill.source),
        real.display()
    );
    let root_is_outside = roots.iter().any(|root| holds_secret(root));
    assert!(
        (twins && !refuses_twins) || root_is_outside || !skill.description.contains(SECRET),
        "{} says what stands outside",
        skill.file.display()
    );
}

fn allowed(config: &Value) -> Vec<PathBuf> {
    config["skills"]["load"]["allowSymlinkTargets"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|path| fs::canonicalize(path.as_str()?).ok())
        .collect()
}

/// A root may itself be a link; then everything in its real directory is inside.
fn holds_secret(root: &Path) -> bool {
    root.ancestors().any(|above| above.ends_with("outside")) || root.join("outside").is_dir()
}

const fn tag(source: SkillSource) -> &'static str {
    source.tag()
}
