//! Sweeping and checking.

use crate::store_kit::{TIME, agent, sign, store_at};
use chitin_pack::Digest;
use chitin_pack::artifact::Descriptor;
use chitin_pack::compat::{OCI_INDEX, OCI_MANIFEST, SIGNATURE_CONFIG, SIGNATURE_PAYLOAD};
use chitin_pack::signatures::{PrivateKey, Signature, SignedName};
use chitin_pack::store::{Store, StoreRepair, Sweep, fallback_tag};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

fn blob_names(store: &Store) -> BTreeSet<String> {
    names_in(&store.path().join("blobs/sha256"))
}

fn names_in(directory: &std::path::Path) -> BTreeSet<String> {
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn overwrite(store: &Store, digest: &Digest, bytes: &[u8]) {
    std::fs::write(store.path().join("blobs/sha256").join(digest.hex()), bytes).unwrap();
}

fn verify(store: &Arc<Store>, digest: &Digest) {
    store.artifact(digest).unwrap().verify().unwrap();
}

#[test]
fn what_no_name_leads_to_goes_and_its_signature_with_it() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let key = PrivateKey::generate().unwrap();
    let kept = agent(&store, 0).unwrap();
    store.tag("kept", &kept).unwrap();
    sign(&store, &kept, &key);
    let before = blob_names(&store);

    let lost = agent(&store, 4).unwrap();
    store.tag("lost", &lost).unwrap();
    let gone = sign(&store, &lost, &key);
    store.untag("lost").unwrap();

    let rehearsed = store.sweep(Sweep::Rehearse).unwrap();
    assert!(blob_names(&store).len() > before.len());
    let swept = store.sweep(Sweep::Remove).unwrap();
    assert_eq!(rehearsed, swept);
    assert_eq!(swept.referrers, [gone]);
    assert_eq!(swept.removed_bytes, swept.removed.values().sum::<u64>());
    assert_eq!(blob_names(&store), before);
    assert_eq!(store.signatures_of(&kept.digest).unwrap().len(), 1);
    assert!(store.signatures_of(&lost.digest).unwrap().is_empty());
    let usage = store.usage().unwrap();
    assert_eq!((usage.tags, usage.unreferenced_bytes), (1, 0));
    assert_eq!(usage.blobs, before.len());
}

#[test]
fn signatures_that_a_registry_lists_under_its_fallback_tag_are_found_and_stay() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let key = PrivateKey::generate().unwrap();
    let subject = agent(&store, 1).unwrap();
    store.tag("one", &subject).unwrap();
    // The same signature comes without a list of its own, as from a pull that copies blobs and tags.
    let plain = Descriptor::new(OCI_MANIFEST, subject.digest, subject.size);
    let name = SignedName::parse("agent:1.0.0").unwrap();
    let signature = Signature::make(&plain, &name, &key, "Ada", TIME).unwrap();
    store.put(SIGNATURE_PAYLOAD, &signature.payload).unwrap();
    store.put(SIGNATURE_CONFIG, &signature.config).unwrap();
    let manifest = store.put_manifest(&signature.manifest).unwrap();
    let list = json!({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [manifest]});
    let list = store.put(OCI_INDEX, list.to_string().as_bytes()).unwrap();
    store.tag(&fallback_tag(&subject.digest), &list).unwrap();

    assert!(store.sweep(Sweep::Remove).unwrap().removed.is_empty());
    let found = store.signatures_of(&subject.digest).unwrap();
    let found: Vec<_> = found.iter().map(|one| one.digest).collect();
    assert_eq!(found, [manifest.digest]);
    assert!(store.check(StoreRepair::Report).unwrap().is_clean());
    store.untag(&fallback_tag(&subject.digest)).unwrap();
    assert_eq!(store.sweep(Sweep::Remove).unwrap().removed.len(), 4);
}

#[test]
fn nobody_sweeps_while_somebody_adds() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let adding = store.adding().unwrap();
    let manifest = agent(&store, 1).unwrap();
    assert!(store.sweep(Sweep::Remove).is_err());
    store.tag("one", &manifest).unwrap();
    drop(adding);
    assert!(store.sweep(Sweep::Remove).unwrap().removed.is_empty());
}

#[test]
fn a_name_is_never_given_to_something_that_is_not_there() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let manifest = agent(&store, 1).unwrap();
    store.sweep(Sweep::Remove).unwrap();
    assert!(store.tag("gone", &manifest).is_err());
    assert!(store.tags().unwrap().is_empty());
}

#[test]
fn damage_is_found_and_can_be_removed_and_stops_a_sweep() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let manifest = agent(&store, 1).unwrap();
    store.tag("one", &manifest).unwrap();
    assert!(store.check(StoreRepair::Report).unwrap().is_clean());

    let layer = store.artifact(&manifest.digest).unwrap().manifest.layers[0].digest;
    overwrite(&store, &layer, b"other bytes");
    let found = store.check(StoreRepair::Report).unwrap();
    assert_eq!(found.damaged, [layer]);
    let repaired = store.check(StoreRepair::RemoveDamaged).unwrap();
    let missing: Vec<_> = repaired.missing.iter().map(|one| one.digest).collect();
    assert_eq!(missing, [layer]);
    // Got again, it is whole again.
    agent(&store, 1).unwrap();
    assert!(store.check(StoreRepair::Report).unwrap().is_clean());

    overwrite(&store, &manifest.digest, b"{}");
    assert!(store.sweep(Sweep::Remove).is_err());
    assert!(blob_names(&store).contains(&layer.hex()));
}

#[test]
fn a_sweep_beside_those_who_add_takes_nothing_that_has_a_name() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let done = AtomicBool::new(false);
    let mut sweeps = 0;
    std::thread::scope(|threads| {
        let adders: Vec<_> = (0..2)
            .map(|adder| {
                let store = Arc::clone(&store);
                threads.spawn(move || {
                    for number in 0..25 {
                        let _adding = store.adding().unwrap();
                        let manifest = agent(&store, adder * 100 + number).unwrap();
                        let name = format!("{adder}:{}", number % 10);
                        store.tag(&name, &manifest).unwrap();
                    }
                })
            })
            .collect();
        let sweeper = threads.spawn(|| {
            let mut sweeps = 0;
            while !done.load(Ordering::Relaxed) {
                sweeps += usize::from(store.sweep(Sweep::Remove).is_ok());
            }
            sweeps
        });
        for adder in adders {
            adder.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        sweeps = sweeper.join().unwrap();
    });
    sweeps += usize::from(store.sweep(Sweep::Remove).is_ok());
    assert!(sweeps > 0);
    let tags = store.tags().unwrap();
    assert_eq!(tags.len(), 20);
    for tag in tags {
        verify(&store, &tag.manifest.digest);
    }
    assert!(store.check(StoreRepair::Report).unwrap().is_clean());
}

/// One thing that happens to a store.
#[derive(Debug, Clone)]
enum Step {
    Add(usize),
    Name(usize, usize),
    Forget(usize),
    Sign(usize),
    /// Signs the last signature.
    SignSignature,
    Sweep,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0_usize..6).prop_map(Step::Add),
        ((0_usize..4), (0_usize..6)).prop_map(|(name, agent)| Step::Name(name, agent)),
        (0_usize..4).prop_map(Step::Forget),
        (0_usize..6).prop_map(Step::Sign),
        Just(Step::SignSignature),
        Just(Step::Sweep),
    ];
    prop::collection::vec(step, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_what_has_a_name_stays_with_its_signatures(steps in steps()) {
        let directory = TempDir::new().unwrap();
        let store = store_at(directory.path());
        let key = PrivateKey::generate().unwrap();
        let mut signed: Vec<(Descriptor, Digest)> = Vec::new();
        for step in steps {
            match step {
                Step::Add(number) => drop(agent(&store, number).unwrap()),
                Step::Name(name, number) => {
                    let manifest = agent(&store, number).unwrap();
                    store.tag(&name.to_string(), &manifest).unwrap();
                }
                Step::Forget(name) => drop(store.untag(&name.to_string()).unwrap()),
                Step::Sign(number) => {
                    let subject = agent(&store, number).unwrap();
                    let signature = sign(&store, &subject, &key);
                    signed.push((subject, signature));
                }
                Step::SignSignature => {
                    let Some((_, last)) = signed.last() else { continue };
                    let Ok(bytes) = store.manifest_bytes(last) else { continue };
                    let subject = Descriptor::of("application/vnd.oci.image.manifest.v1+json", &bytes);
                    sign(&store, &subject, &key);
                }
                Step::Sweep => {
                    store.sweep(Sweep::Remove).unwrap();
                    // What was signed and lost its name is lost with its signature.
                    signed.retain(|(subject, _)| store.has(subject));
                }
            }
        }
        store.sweep(Sweep::Remove).unwrap();
        let tags = store.tags().unwrap();
        for tag in &tags {
            verify(&store, &tag.manifest.digest);
            let wanted: BTreeSet<_> = signed
                .iter()
                .filter(|(subject, _)| subject.digest == tag.manifest.digest)
                .map(|(_, signature)| *signature)
                .collect();
            let found = store.signatures_of(&tag.manifest.digest).unwrap();
            let found: BTreeSet<_> = found.into_iter().map(|candidate| {
                candidate.found.unwrap().verify().unwrap();
                candidate.digest
            }).collect();
            prop_assert_eq!(found, wanted);
        }
        prop_assert!(store.check(StoreRepair::Report).unwrap().is_clean());
        let again = store.sweep(Sweep::Rehearse).unwrap();
        prop_assert!(again.removed.is_empty());
        if tags.is_empty() {
            prop_assert!(blob_names(&store).is_empty());
        }
    }
}
