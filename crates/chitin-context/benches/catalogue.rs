//! How long it takes to list five thousand skills: as discovery gives them, in any order, and when they do not fit.

use chitin_context::catalogue::{Catalogue, CatalogueLimits, CatalogueSkill, catalogue};
use chitin_contract::{CANONICAL, Contract, by_name};
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

const COUNT: usize = 5_000;

const CONTRACTS: [&str; 3] = ["canonical", "openclaw-2026.4", "openclaw-2026.9"];

/// No limit that these skills reach.
const ROOMY: CatalogueLimits = CatalogueLimits {
    max_skills: COUNT,
    max_chars: usize::MAX,
};

/// Room for every name, and for parts of the descriptions.
const TIGHT: CatalogueLimits = CatalogueLimits {
    max_skills: COUNT,
    max_chars: 1_300_000,
};

static TEXTS: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| {
    (0..COUNT)
        .map(|number| {
            let name = format!("skill-{number:05}");
            let description = format!(
                "Looks up tide times for pier {number} & says when to sail, \
                 with the wind, the draught and the lock's opening hours in mind. "
            )
            .repeat(2);
            let location = format!("/home/ada/workspace/skills/{name}/SKILL.md");
            (name, description, location)
        })
        .collect()
});

fn skills() -> Vec<CatalogueSkill<'static>> {
    TEXTS
        .iter()
        .map(|(name, description, location)| CatalogueSkill {
            name,
            description,
            location: Cow::Borrowed(location),
            location_note: None,
            visible: true,
        })
        .collect()
}

/// The same skills in an order that no sort finds easy.
fn shuffled() -> Vec<CatalogueSkill<'static>> {
    let skills = skills();
    (0..COUNT)
        .map(|at| skills[at * 2_011 % COUNT].clone())
        .collect()
}

fn build(
    skills: &[CatalogueSkill<'_>],
    limits: CatalogueLimits,
    contract: &Contract,
) -> Option<Catalogue> {
    let homes = [Path::new("/home/ada")];
    catalogue(skills, limits, &homes, None, &contract.skills, None)
}

fn main() {
    LazyLock::force(&TEXTS);
    divan::main();
}

#[divan::bench(args = CONTRACTS)]
fn default_limits(bencher: divan::Bencher<'_, '_>, contract: &str) {
    let contract = by_name(contract).unwrap_or(&CANONICAL);
    let skills = skills();
    let limits = CatalogueLimits::default();
    bencher.bench(|| build(divan::black_box(&skills), limits, contract));
}

#[divan::bench(args = CONTRACTS)]
fn all_in_full(bencher: divan::Bencher<'_, '_>, contract: &str) {
    let contract = by_name(contract).unwrap_or(&CANONICAL);
    let skills = skills();
    bencher.bench(|| build(divan::black_box(&skills), ROOMY, contract));
}

#[divan::bench(args = CONTRACTS)]
fn all_shuffled(bencher: divan::Bencher<'_, '_>, contract: &str) {
    let contract = by_name(contract).unwrap_or(&CANONICAL);
    let skills = shuffled();
    bencher.bench(|| build(divan::black_box(&skills), ROOMY, contract));
}

#[divan::bench(args = CONTRACTS)]
fn all_that_fits(bencher: divan::Bencher<'_, '_>, contract: &str) {
    let contract = by_name(contract).unwrap_or(&CANONICAL);
    let skills = skills();
    bencher.bench(|| build(divan::black_box(&skills), TIGHT, contract));
}
