//! How long it takes to find and read ten thousand skills, beside the bare cost of opening and reading their files.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark builds its tree, and measures the bare system calls"
)]

use chitin_contract::{CANONICAL, OPENCLAW_2026_4, OPENCLAW_2026_9, SkillRules};
use chitin_workspace::skills::{
    DiscoverOptions, SkillPlaces, SkillSet, discover, parse_front_matter,
};
use divan::Bencher;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

const COUNT: usize = 10_000;

const TEXT: &str = "---\nname: NAME\ndescription: Looks up tide times for the pier and says when to sail.\n\
    metadata: {\"openclaw\":{\"requires\":{\"bins\":[\"tidectl\"]}}}\n---\n\n# Tide tables\n\nRead the table, then answer.\n";

static TREE: LazyLock<(TempDir, Vec<PathBuf>)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let files = (0..COUNT)
        .map(|number| {
            let skill = directory.path().join(format!("skills/skill-{number:05}"));
            fs::create_dir_all(&skill).unwrap();
            let file = skill.join("SKILL.md");
            fs::write(&file, TEXT.replace("NAME", &format!("skill-{number:05}"))).unwrap();
            file
        })
        .collect();
    (directory, files)
});

fn find(rules: &SkillRules) -> SkillSet {
    let places = SkillPlaces {
        workspace: TREE.0.path().to_path_buf(),
        ..SkillPlaces::default()
    };
    let options = DiscoverOptions {
        max_candidates_per_root: Some(COUNT),
        max_skills_per_source: Some(COUNT),
        ..DiscoverOptions::default()
    };
    let set = discover(&places, &Value::Null, rules, &options);
    assert_eq!(set.skills.len(), COUNT);
    set
}

fn main() {
    LazyLock::force(&TREE);
    divan::main();
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn floor_open_read_close() -> usize {
    let mut bytes = Vec::new();
    TREE.1
        .iter()
        .map(|path| {
            bytes.clear();
            File::open(path).unwrap().read_to_end(&mut bytes).unwrap()
        })
        .sum()
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn discover_canonical() -> SkillSet {
    find(&CANONICAL.skills)
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn discover_2026_4() -> SkillSet {
    find(&OPENCLAW_2026_4.skills)
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn discover_2026_9() -> SkillSet {
    find(&OPENCLAW_2026_9.skills)
}

#[divan::bench]
fn parse_one(bencher: Bencher<'_, '_>) {
    bencher.bench(|| parse_front_matter(divan::black_box(TEXT), &SkillRules::A));
}
