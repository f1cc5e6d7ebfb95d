//! A directory before and after: what is kept, what is refused, what is replaced.

use crate::support::{artifact, contents, files, listing};
use chitin_pack::artifact::Artifact;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::{
    ApplyOptions, How, LayoutOptions, Overwrite, UnpackOutcome, apply, plan,
};
use chitin_pack::store::Store;
use chitin_pack::{ErrorClass, PackError};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

struct Bench {
    directory: TempDir,
    store: Arc<Store>,
}

impl Bench {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = Store::create(&directory.path().join("store")).unwrap();
        fs::create_dir(directory.path().join("around")).unwrap();
        Self {
            directory,
            store: Arc::new(store),
        }
    }

    fn target(&self) -> PathBuf {
        self.around().join("out")
    }

    fn around(&self) -> PathBuf {
        self.directory.path().join("around")
    }

    fn lamp(&self) -> Artifact {
        artifact(
            &self.store,
            &[
                files(
                    LayerKind::Skills,
                    &[("trim/SKILL.md", b"Trim."), ("trim/run.sh", b"#!")],
                ),
                files(
                    LayerKind::Surfaces,
                    &[("instructions.md", b"Follow the lamp.\n")],
                ),
                files(LayerKind::Memory, &[("2026/oil.md", b"low\n")]),
            ],
        )
    }
}

fn lay(
    artifact: &Artifact,
    target: &Path,
    overwrite: Overwrite,
) -> Result<UnpackOutcome, PackError> {
    let plan = plan(artifact, &LayoutOptions::default())?;
    apply(&plan, artifact, target, ApplyOptions { overwrite })
}

#[test]
fn a_new_directory_appears_whole_with_its_parents() {
    let bench = Bench::new();
    let target = bench.around().join("deep/er/out");
    let applied = lay(&bench.lamp(), &target, Overwrite::Refuse).unwrap();
    assert_eq!(
        applied.written,
        [
            "AGENTS.md",
            "skills/trim/SKILL.md",
            "skills/trim/run.sh",
            "memory/2026/oil.md"
        ]
    );
    assert_eq!(
        (applied.how, applied.warnings),
        (How::Exchanged, Vec::new())
    );
    let found = listing(&target);
    assert_eq!(found["AGENTS.md"].mode & 0o111, 0);
    assert_eq!(found["skills/trim/run.sh"].mode & 0o100, 0o100);
    assert_eq!(listing(&bench.around()).keys().next().unwrap(), "deep");
}

#[test]
fn laying_out_a_second_time_touches_nothing() {
    let bench = Bench::new();
    lay(&bench.lamp(), &bench.target(), Overwrite::Refuse).unwrap();
    let before = listing(&bench.around());
    let applied = lay(&bench.lamp(), &bench.target(), Overwrite::Allow).unwrap();
    assert_eq!((applied.written.len(), applied.unchanged.len()), (0, 4));
    assert_eq!(applied.how, How::Nothing);
    assert_eq!(listing(&bench.around()), before);
}

#[test]
fn other_files_keep_their_bytes_numbers_modes_and_times() {
    let bench = Bench::new();
    let target = bench.target();
    fs::create_dir_all(target.join("notes/closed")).unwrap();
    fs::write(target.join("notes/mine.md"), "mine").unwrap();
    fs::write(target.join("notes/closed/key"), "k").unwrap();
    symlink("/nowhere", target.join("notes/link")).unwrap();
    fs::set_permissions(target.join("notes/mine.md"), Permissions::from_mode(0o604)).unwrap();
    fs::set_permissions(target.join("notes/closed"), Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o751)).unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::open(target.join("notes"))
        .unwrap()
        .set_modified(then)
        .unwrap();
    let before = listing(&target.join("notes"));
    lay(&bench.lamp(), &target, Overwrite::Refuse).unwrap();
    let after = listing(&target.join("notes"));
    for (path, seen) in &before {
        assert_eq!(
            (seen.mode, &seen.content),
            (after[path].mode, &after[path].content),
            "{path}"
        );
        let is_directory = seen.mode & 0o170_000 == 0o040_000;
        assert!(is_directory || seen.inode == after[path].inode, "{path}");
    }
    assert_eq!(before.len(), after.len());
    assert_eq!(
        fs::metadata(target.join("notes"))
            .unwrap()
            .modified()
            .unwrap(),
        then
    );
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o7777,
        0o751
    );
    assert_eq!(
        listing(&bench.around())
            .keys()
            .filter(|path| !path.contains('/'))
            .count(),
        1
    );
}

#[test]
fn a_second_name_of_a_replaced_file_keeps_the_old_bytes() {
    let bench = Bench::new();
    fs::create_dir(bench.target()).unwrap();
    fs::write(bench.target().join("AGENTS.md"), "old").unwrap();
    for name in ["a-name", "z-name", "../beside"] {
        fs::hard_link(bench.target().join("AGENTS.md"), bench.target().join(name)).unwrap();
    }
    lay(&bench.lamp(), &bench.target(), Overwrite::Allow).unwrap();
    let found = contents(&bench.around());
    assert_eq!(found["out/AGENTS.md"], "Follow the lamp.\n");
    for name in ["out/a-name", "out/z-name", "beside"] {
        assert_eq!(found[name], "old");
    }
}

#[test]
fn all_conflicts_are_named_and_nothing_is_written_unless_allowed() {
    let bench = Bench::new();
    let target = bench.target();
    fs::create_dir_all(target.join("skills/trim")).unwrap();
    fs::write(target.join("AGENTS.md"), "by hand").unwrap();
    fs::write(target.join("skills/trim/run.sh"), "#!").unwrap();
    fs::set_permissions(target.join("AGENTS.md"), Permissions::from_mode(0o640)).unwrap();
    let before = listing(&bench.around());
    let error = lay(&bench.lamp(), &target, Overwrite::Refuse).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Conflict);
    // The script has the right bytes and may not be run.
    assert_eq!(error.items(), ["AGENTS.md", "skills/trim/run.sh"]);
    assert_eq!(listing(&bench.around()), before);
    lay(&bench.lamp(), &target, Overwrite::Allow).unwrap();
    let found = listing(&target);
    assert_eq!(contents(&target)["AGENTS.md"], "Follow the lamp.\n");
    assert_eq!(found["AGENTS.md"].mode & 0o777, 0o640);
    assert_eq!(found["skills/trim/run.sh"].mode & 0o100, 0o100);
}

#[test]
fn links_and_odd_things_in_the_way_are_refused_with_nothing_written() {
    for place in ["AGENTS.md", "skills", "memory/2026", "skills/trim/SKILL.md"] {
        for odd in ["link", "dangling", "fifo"] {
            let bench = Bench::new();
            let path = bench.target().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match odd {
                "link" => symlink(bench.directory.path(), &path).unwrap(),
                "dangling" => symlink("nowhere", &path).unwrap(),
                _ => rustix::fs::mknodat(
                    rustix::fs::CWD,
                    &path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR,
                    0,
                )
                .unwrap(),
            }
            let before = listing(&bench.around());
            let error = lay(&bench.lamp(), &bench.target(), Overwrite::Allow).unwrap_err();
            assert_eq!(error.class(), ErrorClass::UnsafeTarget, "{odd} at {place}");
            assert_eq!(error.items(), [place]);
            assert_eq!(listing(&bench.around()), before);
        }
    }
}

#[test]
fn a_file_where_a_directory_is_needed_is_a_conflict_even_if_overwriting_is_allowed() {
    for (place, is_directory) in [("skills", false), ("AGENTS.md", true)] {
        let bench = Bench::new();
        fs::create_dir(bench.target()).unwrap();
        let path = bench.target().join(place);
        if is_directory {
            fs::create_dir(&path).unwrap();
        } else {
            fs::write(&path, "in the way").unwrap();
        }
        let before = listing(&bench.around());
        let error = lay(&bench.lamp(), &bench.target(), Overwrite::Allow).unwrap_err();
        assert_eq!(
            (error.class(), error.items()),
            (ErrorClass::Conflict, &[place.to_owned()][..])
        );
        assert_eq!(listing(&bench.around()), before);
    }
}

#[test]
fn a_target_that_is_a_file_or_leads_nowhere_is_refused() {
    let bench = Bench::new();
    fs::write(bench.around().join("file"), "").unwrap();
    symlink("nowhere", bench.around().join("dangling")).unwrap();
    for target in ["file", "dangling", "file/below", "dangling/below"] {
        let error = lay(
            &bench.lamp(),
            &bench.around().join(target),
            Overwrite::Allow,
        )
        .unwrap_err();
        assert_eq!(error.class(), ErrorClass::UnsafeTarget, "{target}");
    }
    assert_eq!(listing(&bench.around()).len(), 2);
}

#[test]
fn a_target_behind_a_link_is_replaced_where_it_really_is() {
    let bench = Bench::new();
    let real = bench.around().join("real");
    fs::create_dir(&real).unwrap();
    symlink("real", bench.target()).unwrap();
    lay(&bench.lamp(), &bench.target(), Overwrite::Refuse).unwrap();
    assert!(fs::symlink_metadata(bench.target()).unwrap().is_symlink());
    assert_eq!(contents(&real)["AGENTS.md"], "Follow the lamp.\n");
}

#[test]
fn where_one_step_cannot_be_had_files_are_renamed_one_by_one_and_that_is_said() {
    let bench = Bench::new();
    let target = bench.target();
    fs::create_dir_all(target.join("memory")).unwrap();
    fs::write(target.join("AGENTS.md"), "old").unwrap();
    // A directory with a note of the user's cannot be made a second time.
    let noted = rustix::fs::setxattr(
        target.join("memory"),
        "user.note",
        b"mine",
        rustix::fs::XattrFlags::empty(),
    );
    if noted.is_err() {
        return;
    }
    let before = fs::metadata(&target).unwrap();
    let applied = lay(&bench.lamp(), &target, Overwrite::Allow).unwrap();
    let codes: Vec<_> = applied
        .warnings
        .iter()
        .map(|warning| warning.code)
        .collect();
    assert_eq!((applied.how, codes), (How::InPlace, vec!["NOT_ATOMIC"]));
    assert_eq!(contents(&target)["AGENTS.md"], "Follow the lamp.\n");
    assert_eq!(contents(&target).len(), 4);
    assert_eq!(fs::metadata(&target).unwrap().ino(), before.ino());
    assert_eq!(listing(&bench.around()).len(), listing(&target).len() + 1);
}

#[test]
fn an_artifact_that_changes_after_planning_is_not_laid_out() {
    let bench = Bench::new();
    let lamp = bench.lamp();
    let planned = plan(&lamp, &LayoutOptions::default()).unwrap();
    let other = artifact(
        &bench.store,
        &[
            files(
                LayerKind::Skills,
                &[("trim/SKILL.md", b"Other"), ("trim/run.sh", b"#!")],
            ),
            files(
                LayerKind::Surfaces,
                &[("instructions.md", b"Follow the lamp.\n")],
            ),
            files(LayerKind::Memory, &[("2026/oil.md", b"low\n")]),
        ],
    );
    let options = ApplyOptions {
        overwrite: Overwrite::Allow,
    };
    let error = apply(&planned, &other, &bench.target(), options).unwrap_err();
    assert_eq!(error.class(), ErrorClass::DigestMismatch);
    assert!(listing(&bench.around()).is_empty());
}
