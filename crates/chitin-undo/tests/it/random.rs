//! Any turn of a random story can be taken back to the byte.

use crate::kit::{Stage, Tree};
use chitin_undo::Force;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;

/// Something that happens in a workspace.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, u8),
    Append(usize, u8),
    Remove(usize),
    Rename(usize, usize),
    Link(usize, usize),
    Mode(usize, u32),
    Directory(usize),
}

/// A turn, and what becomes of its process.
#[derive(Debug, Clone)]
struct Turn {
    steps: Vec<Step>,
    dies: bool,
}

/// Few names, some within others, so that files, links and directories take each other's place.
const NAMES: [&str; 9] = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f/g", "f/g/h"];

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), any::<u8>()).prop_map(|(name, byte)| Step::Write(name, byte)),
        2 => (name.clone(), any::<u8>()).prop_map(|(name, byte)| Step::Append(name, byte)),
        2 => name.clone().prop_map(Step::Remove),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => (name.clone(), name.clone()).prop_map(|(name, to)| Step::Link(name, to)),
        2 => (name.clone(), prop_oneof![Just(0o700), Just(0o755), Just(0o640), Just(0o4755), Just(0o444), Just(0o500)])
            .prop_map(|(name, mode)| Step::Mode(name, mode)),
        1 => name.prop_map(Step::Directory),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    (
        proptest::collection::vec(step(), 0..8),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(steps, dies)| Turn { steps, dies })
}

impl Step {
    /// Does it if it can be done.
    fn happen(&self, stage: &Stage) {
        let path = |name: &usize| stage.path(NAMES[*name]);
        let _ = match self {
            Self::Write(name, byte) => {
                let path = path(name);
                let _ = fs::create_dir_all(path.parent().unwrap());
                fs::write(path, vec![*byte; usize::from(*byte) * 20])
            }
            Self::Append(name, byte) => {
                let mut bytes = fs::read(path(name)).unwrap_or_default();
                bytes.push(*byte);
                if fs::symlink_metadata(path(name)).is_ok_and(|stat| stat.is_file()) {
                    fs::write(path(name), bytes)
                } else {
                    Ok(())
                }
            }
            Self::Remove(name) => {
                fs::remove_file(path(name)).or_else(|_| fs::remove_dir_all(path(name)))
            }
            Self::Rename(from, to) => fs::rename(path(from), path(to)),
            Self::Link(name, to) => symlink(NAMES[*to], path(name)),
            Self::Mode(name, mode) => {
                if fs::symlink_metadata(path(name)).is_ok_and(|stat| !stat.is_symlink()) {
                    stage.chmod(NAMES[*name], *mode);
                }
                Ok(())
            }
            Self::Directory(name) => fs::create_dir_all(path(name)),
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_turn_is_taken_back_to_the_byte(
        first in proptest::collection::vec(step(), 0..12),
        story in proptest::collection::vec(turn(), 1..6),
    ) {
        let stage = Stage::new();
        for step in &first {
            step.happen(&stage);
        }
        let mut before: Vec<(u64, Tree)> = Vec::new();
        for turn in &story {
            let active = stage.begin("do");
            let (number, tree) = (active.info().number, stage.tree());
            for step in &turn.steps {
                step.happen(&stage);
            }
            if turn.dies {
                drop(active);
                stage.history().settle(stage.now()).unwrap();
            } else {
                stage.history().end(active, stage.now()).unwrap();
            }
            // One that changed nothing has no number.
            if stage.tree() != tree {
                before.push((number, tree));
            }
        }
        let end = stage.tree();
        // One by one, the last first.
        let mut undos = Vec::new();
        for (number, tree) in before.iter().rev() {
            let undone = stage.undo_to(*number, Force::No).unwrap();
            prop_assert!(undone.failed.is_empty() && undone.conflicts.is_empty(), "{:?}", undone);
            prop_assert_eq!(&stage.tree(), tree);
            undos.push(undone.number.unwrap());
        }
        // Back again, all at once. A story that ends as it began leaves nothing to do.
        if let Some(first) = undos.first().filter(|_| stage.tree() != end) {
            stage.undo_to(*first, Force::No).unwrap();
            prop_assert_eq!(&stage.tree(), &end);
        }
        // And to the very beginning in one step.
        if let Some((number, tree)) = before.first().filter(|(_, tree)| stage.tree() != *tree) {
            stage.undo_to(*number, Force::No).unwrap();
            prop_assert_eq!(&stage.tree(), tree);
        }
    }
}
