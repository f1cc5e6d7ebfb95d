use super::*;
use crate::digest::Digest;
use crate::error::{ErrorClass, ExitKind, PackError};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Packages by number; each says which others it builds on.
#[derive(Debug, Default)]
struct Map {
    needs: BTreeMap<String, Value>,
    moving: Option<String>,
    asked: u64,
}

impl Map {
    fn new(needs: impl IntoIterator<Item = (usize, Vec<usize>)>) -> Self {
        let needs = needs.into_iter().map(|(package, needs)| {
            let needs: Vec<_> = needs.into_iter().map(name).collect();
            (name(package), json!(needs))
        });
        Self {
            needs: needs.collect(),
            ..Self::default()
        }
    }
}

fn name(package: usize) -> String {
    format!("reg.example/p/n{package}:1")
}

impl PackageSource for Map {
    fn locate(&mut self, reference: &str) -> Result<Digest, PackError> {
        self.asked += 1;
        if self.moving.as_deref() == Some(reference) {
            return Ok(Digest::of(&self.asked.to_le_bytes()));
        }
        match self.needs.get(reference) {
            Some(_) => Ok(Digest::of(reference.as_bytes())),
            None => Err(PackError::new(ErrorClass::MissingPackage, "not there")),
        }
    }

    fn packages(&mut self, reference: &str, _: &Digest) -> Result<Option<Value>, PackError> {
        Ok(self.needs.get(reference).cloned())
    }
}

#[test]
fn a_long_way_to_a_package_that_a_short_way_found_first_is_still_too_long() {
    let chain = || Map::new((0..40).map(|n| (n, if n < 39 { vec![n + 1] } else { vec![] })));
    let deep = resolve(&[name(10), name(0)], &mut chain(), None).unwrap_err();
    assert_eq!(deep.class(), ErrorClass::DependencyDepth);
    assert_eq!(deep.exit(), ExitKind::Resolution);
    assert_eq!(
        resolve(&[name(8)], &mut chain(), None).unwrap().order.len(),
        32
    );
}

#[test]
fn a_lock_ends_a_conflict_and_survives_being_written() {
    let map = || Map {
        moving: Some(name(2)),
        ..Map::new([(0, vec![2]), (1, vec![2]), (2, vec![])])
    };
    let both = [name(0), name(1)];
    let conflict = resolve(&both, &mut map(), None).unwrap_err();
    assert_eq!(conflict.class(), ErrorClass::DependencyConflict);

    let once = resolve(&[name(0)], &mut map(), None).unwrap();
    let lock = Lock::parse(Lock::of(&once).to_text().as_bytes()).unwrap();
    assert_eq!(lock, Lock::of(&once));
    let locked = resolve(&both, &mut map(), Some(&lock)).unwrap();
    assert_eq!(locked.order, [name(2), name(0), name(1)]);
    assert_eq!(locked.digests[&name(2)], once.digests[&name(2)]);
}

#[test]
fn a_digest_in_a_reference_is_not_up_for_discussion() {
    let digest = |text: &str| Digest::of(text.as_bytes());
    let pinned = format!("reg.example/p/x@{}", digest("x"));
    let mut map = Map::default();
    map.needs.insert(pinned.clone(), json!([]));
    let found = resolve(std::slice::from_ref(&pinned), &mut map, None).unwrap();
    assert_eq!(found.digests[&pinned], digest("x"));
    assert_eq!(map.asked, 0);
    let locked = Locked {
        digest: digest("y"),
        dependencies: Vec::new(),
    };
    let lock = Lock {
        packages: BTreeMap::from([(pinned.clone(), locked)]),
    };
    let error = resolve(&[pinned], &mut map, Some(&lock)).unwrap_err();
    assert_eq!(error.class(), ErrorClass::DependencyConflict);
}

#[test]
fn a_lock_file_is_written_for_people_to_compare() {
    let resolution = resolve(&[name(0)], &mut Map::new([(0, vec![1]), (1, vec![])]), None);
    let digest = |n| Digest::of(name(n).as_bytes());
    let expected = format!(
        r#"{{
  "lockVersion": 1,
  "packages": {{
    "reg.example/p/n0:1": {{
      "dependencies": [
        "reg.example/p/n1:1"
      ],
      "digest": "{}"
    }},
    "reg.example/p/n1:1": {{
      "dependencies": [],
      "digest": "{}"
    }}
  }},
  "specVersion": "1.0.0"
}}
"#,
        digest(0),
        digest(1)
    );
    assert_eq!(Lock::of(&resolution.unwrap()).to_text(), expected);
}

#[test]
fn what_is_needed_indirectly_stands_below_what_is_named() {
    let mut map = Map::new([(0, vec![2]), (1, vec![0, 3]), (2, vec![]), (3, vec![])]);
    let direct = [name(1), name(0)];
    let found = resolve(&direct, &mut map, None).unwrap();
    assert_eq!(found.order, [name(2), name(0), name(3), name(1)]);
    let low_to_high = found.low_to_high(&direct);
    assert_eq!(low_to_high, [name(2), name(3), name(1), name(0)]);
}

#[test]
fn a_replaced_rule_takes_the_level_of_its_replacement() {
    let level = |rules: &[(&'static str, f64)]| {
        let rules = rules
            .iter()
            .map(|(id, priority)| ((*id).to_owned(), (*id, *priority)));
        rules.collect::<Vec<_>>()
    };
    let units = merge([
        level(&[("b", 5.0), ("a", 5.0), ("c", 1.0)]),
        level(&[("c", 9.0), ("d", 2.0)]),
    ]);
    let ordered = in_rule_order(&units, |(id, priority)| (*priority, id));
    let names: Vec<_> = ordered
        .iter()
        .map(|(level, (id, _))| (*level, *id))
        .collect();
    assert_eq!(names, [(0, "a"), (0, "b"), (1, "d"), (1, "c")]);
}

proptest! {
    #[test]
    fn whatever_packages_need_each_comes_once_and_after_what_it_needs(
        needs in prop::collection::vec(prop::collection::vec(0_usize..12, 0..4), 12),
    ) {
        let mut map = Map::new(needs.into_iter().enumerate());
        match resolve(&[name(0), name(5)], &mut map, None) {
            Ok(found) => {
                for (at, reference) in found.order.iter().enumerate() {
                    let before = &found.order[..at];
                    prop_assert!(!before.contains(reference));
                    prop_assert!(found.dependencies[reference].iter().all(|d| before.contains(d)));
                }
                prop_assert_eq!(found.digests.len(), found.order.len());
            }
            Err(error) => {
                prop_assert_eq!(error.class(), ErrorClass::DependencyCycle);
                let path = error.items();
                prop_assert!(path.len() >= 2 && path.first() == path.last());
            }
        }
    }

    #[test]
    fn a_lock_file_never_panics(text in "[ -~]{0,80}", version in 0_u64..3) {
        let _ = Lock::parse(text.as_bytes());
        let odd = json!({"lockVersion": version, "packages": {text: {"digest": 1}}});
        prop_assert!(Lock::from_value(&odd).is_err());
    }
}
