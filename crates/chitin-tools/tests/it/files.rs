//! Reading, writing and editing files: within the workspace, whole or not at all, and said plainly.
#![expect(
    clippy::disallowed_methods,
    reason = "files are made and looked at by hand"
)]

use crate::kit::{ROOM, call, call_with, call_within, done, failed};
use chitin_contract::ToolRules;
use chitin_guard::Hardlinks;
use chitin_protocol::message::Block;
use chitin_test::TestEnv;
use chitin_tools::ToolConcurrency;
use chitin_tools::files::{
    ApplyPatchTool, EditTool, FileOptions, ListTool, Occurrences, ReadTool, Replacement, WriteTool,
    file_tools, replace,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn options() -> Arc<FileOptions> {
    Arc::new(FileOptions::default())
}

fn read(env: &TestEnv, arguments: Value) -> String {
    done(&call(env, &ReadTool::new(options()), arguments))
}

fn read_fails(env: &TestEnv, path: &str) -> String {
    failed(&call(
        env,
        &ReadTool::new(options()),
        json!({ "path": path }),
    ))
}

fn lines(count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|n| format!("line {n}\n")).collect();
    lines.concat()
}

#[test]
fn only_tools_that_look_run_beside_each_other() {
    let tools = file_tools(&ToolRules::CANONICAL, FileOptions::default());
    let shared: Vec<&str> = tools
        .iter()
        .filter(|tool| tool.concurrency() == ToolConcurrency::Shared)
        .map(|tool| tool.spec().name.as_str())
        .collect();
    assert_eq!(shared, ["list", "read", "search"]);
    assert_eq!(tools.len(), 6);
}

#[test]
fn schemas_are_what_models_get() {
    let tools = file_tools(&ToolRules::CANONICAL, FileOptions::default());
    let schemas: Vec<Value> = tools
        .iter()
        .map(|tool| json!({"name": tool.spec().name, "parameters": tool.spec().parameters}))
        .collect();
    insta::assert_json_snapshot!(schemas);
}

#[test]
fn a_text_comes_whole_or_in_pieces() {
    let env = TestEnv::new();
    env.file("workspace/a.md", "one\r\ntwo\n\u{1b}[3");
    env.file("workspace/bom.md", "\u{feff}with mark\n");
    env.file("workspace/long.md", lines(5000));
    env.file("workspace/empty.md", "");
    assert_eq!(read(&env, json!({"path": "a.md"})), "one\ntwo\n\\x1b[3");
    assert_eq!(
        read(
            &env,
            json!({"path": "./sub/../a.md", "offset": 2, "limit": 1})
        ),
        "two\n[Showing lines 2 to 2 of 3. Continue with offset 3.]"
    );
    assert_eq!(read(&env, json!({"path": "bom.md"})), "with mark\n");
    assert_eq!(
        read(&env, json!({"path": "empty.md"})),
        "`empty.md` is empty."
    );
    let first = read(&env, json!({"path": "long.md"}));
    assert!(
        first.starts_with("line 1\n")
            && first.ends_with(
                "line 2000\n[Showing lines 1 to 2000 of 5000. Continue with offset 2001.]"
            )
    );
    let last = read(&env, json!({"path": "long.md", "offset": 4999}));
    assert_eq!(
        last,
        "line 4999\nline 5000\n[Showing lines 4999 to 5000 of 5000. This is the end.]"
    );
    let beyond = call(
        &env,
        &ReadTool::new(options()),
        json!({"path": "long.md", "offset": 5001}),
    );
    assert_eq!(
        failed(&beyond),
        "`long.md` has only 5000 lines; there is no line 5001."
    );
    let absolute = env.workspace().join("a.md");
    assert!(read(&env, json!({ "path": absolute })).starts_with("one\n"));
}

#[test]
fn a_huge_file_and_a_huge_line_stay_within_bounds() {
    let env = TestEnv::new();
    env.file("workspace/line.txt", "x".repeat(3_000_000) + "\nsecond\n");
    let huge = env.file("workspace/huge.txt", lines(200_000));
    fs::OpenOptions::new()
        .write(true)
        .open(&huge)
        .unwrap()
        .set_len(100 * 1024 * 1024)
        .unwrap();
    let tool = ReadTool::new(options());
    let line = done(&call_within(&env, &tool, json!({"path": "line.txt"}), 2000));
    assert!(line.len() <= 2000);
    assert!(
        line.ends_with(
            "\n[Line 1 of 2 has 3000001 bytes and is truncated. Continue with offset 2.]"
        )
    );
    let second = done(&call_within(
        &env,
        &tool,
        json!({"path": "line.txt", "offset": 2}),
        2000,
    ));
    assert!(second.starts_with("second\n"));
    let huge = done(&call_within(
        &env,
        &tool,
        json!({"path": "huge.txt", "offset": 199_990, "limit": 3}),
        2000,
    ));
    assert!(
        huge.starts_with(
            "line 199990\nline 199991\nline 199992\n[Showing lines 199990 to 199992 of 200001."
        ),
        "{huge}"
    );
}

#[test]
fn pictures_are_shown_and_other_binaries_are_named() {
    let env = TestEnv::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    env.file("workspace/a.txt", png);
    env.file("workspace/b.webp", b"RIFF\x10\0\0\0WEBPVP8 ");
    env.file("workspace/c.pdf", b"%PDF-1.7 \0");
    env.file("workspace/d", b"\0\x01\x02");
    env.file("workspace/e.txt", "BZh is no archive, ID3 is a word");
    let outcome = call(&env, &ReadTool::new(options()), json!({"path": "a.txt"}));
    let Some(Block::Image(image)) = outcome.content.get(1) else {
        unreachable!("{outcome:?}")
    };
    assert_eq!(image.mime_type, "image/png");
    assert_eq!(image.data, "iVBORw0KGgoAAAANSUhEUg==");
    assert_eq!(done(&outcome), "`a.txt`: image/png, 16 bytes.");
    assert!(read(&env, json!({"path": "b.webp"})).contains("image/webp"));
    assert_eq!(
        read_fails(&env, "c.pdf"),
        "`c.pdf` is not text: it is a PDF document, 10 bytes."
    );
    assert_eq!(
        read_fails(&env, "d"),
        "`d` is not text: it is binary data, 3 bytes."
    );
    assert!(read(&env, json!({"path": "e.txt"})).starts_with("BZh"));
    let small = FileOptions {
        max_image_bytes: 10,
        ..FileOptions::default()
    };
    let refused = call(
        &env,
        &ReadTool::new(Arc::new(small)),
        json!({"path": "a.txt"}),
    );
    assert!(failed(&refused).contains("16 bytes, and the limit is 10"));
}

#[test]
fn what_is_no_file_is_said_with_a_hint() {
    let env = TestEnv::new();
    env.file("workspace/notes/MEMORY.md", "m");
    env.file("workspace/notes/b.md", "b");
    assert_eq!(
        read_fails(&env, "notes/MEMROY.md"),
        "`notes/MEMROY.md` does not exist. Did you mean `notes/MEMORY.md`?"
    );
    assert_eq!(
        read_fails(&env, "nowhere/at/all"),
        "`nowhere/at/all` does not exist."
    );
    assert_eq!(
        read_fails(&env, "notes"),
        "`notes` is a directory. It holds `MEMORY.md`, `b.md`. Use the directory listing tool to see more."
    );
    let fifo = env.workspace().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(
        read_fails(&env, "pipe"),
        "`pipe` is a FIFO, a socket or a device, not a file."
    );
    assert_eq!(read_fails(&env, "a\0b"), "`a\0b` is not a valid path.");
}

#[test]
fn nothing_outside_is_read_or_written() {
    let env = TestEnv::new();
    let secret = env.file("secret.md", "SECRET");
    env.file("workspace/in.md", "in");
    env.link("workspace/out.md", "../secret.md");
    env.link("workspace/outside", "..");
    fs::hard_link(&secret, env.workspace().join("twin.md")).unwrap();
    let absolute = secret.to_str().unwrap().to_owned();
    for path in [
        "../secret.md",
        "out.md",
        "outside/secret.md",
        "twin.md",
        "a/../../secret.md",
        &absolute,
        "/etc/passwd",
        "../../../../etc/passwd",
    ] {
        let told = read_fails(&env, path);
        assert!(!told.contains("SECRET"), "{path}");
        if path != "twin.md" {
            let written = call(
                &env,
                &WriteTool::new(options()),
                json!({"path": path, "content": "OVERWRITTEN"}),
            );
            failed(&written);
        }
        let edits = json!({"path": path, "edits": [{"oldText": "SECRET", "newText": "x"}]});
        failed(&call(&env, &EditTool::new(options()), edits));
        let patch = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
        failed(&call(
            &env,
            &ApplyPatchTool::new(options()),
            json!({ "input": patch }),
        ));
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "SECRET");
    assert_eq!(
        read_fails(&env, "../secret.md"),
        format!(
            "`../secret.md` is outside the workspace `{}`. Only files in it are accessible; the user can allow more with `tools.files.readRoots` and `tools.files.writeRoots`.",
            env.workspace().display()
        )
    );
    // A second name inside is replaced, and the file outside stays.
    done(&call(
        &env,
        &WriteTool::new(options()),
        json!({"path": "twin.md", "content": "mine"}),
    ));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "SECRET");
}

#[test]
fn opened_roots_are_reached_as_far_as_they_are_open() {
    let env = TestEnv::new();
    let shared = env.directory_at("shared");
    let drop = env.directory_at("drop");
    env.file("shared/a.md", "shared");
    let options = Arc::new(FileOptions {
        read_roots: vec![shared.clone(), "/nowhere/at/all".into()],
        write_roots: vec![drop.clone()],
        hardlinks: Hardlinks::Allow,
        ..FileOptions::default()
    });
    let read = call(
        &env,
        &ReadTool::new(options.clone()),
        json!({"path": shared.join("a.md")}),
    );
    assert_eq!(done(&read), "shared");
    let above = call(
        &env,
        &ReadTool::new(options.clone()),
        json!({"path": "../shared/a.md"}),
    );
    assert_eq!(done(&above), "shared");
    let write = |path: &Path| {
        call(
            &env,
            &WriteTool::new(options.clone()),
            json!({"path": path, "content": "x"}),
        )
    };
    assert!(failed(&write(&shared.join("b.md"))).contains("is read-only"));
    done(&write(&drop.join("deep/b.md")));
    assert_eq!(fs::read_to_string(drop.join("deep/b.md")).unwrap(), "x");
}

#[test]
fn a_write_makes_directories_keeps_permissions_and_goes_through_inner_links() {
    let env = TestEnv::new();
    let script = env.file("workspace/run.sh", "old");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    env.directory_at("workspace/real");
    env.link("workspace/alias", "real");
    env.link("workspace/CLAUDE.md", "AGENTS.md");
    env.file("workspace/AGENTS.md", "rules");
    let write = |path: &str| {
        call(
            &env,
            &WriteTool::new(options()),
            json!({"path": path, "content": "new\n"}),
        )
    };
    assert_eq!(done(&write("a/b/c.md")), "Made `a/b/c.md`: 4 bytes.");
    assert_eq!(done(&write("run.sh")), "Replaced `run.sh`: 4 bytes.");
    assert_eq!(
        fs::metadata(&script).unwrap().permissions().mode() & 0o777,
        0o755
    );
    done(&write("alias/x/y.md"));
    assert_eq!(
        fs::read_to_string(env.workspace().join("real/x/y.md")).unwrap(),
        "new\n"
    );
    done(&write("CLAUDE.md"));
    assert_eq!(
        fs::read_to_string(env.workspace().join("AGENTS.md")).unwrap(),
        "new\n"
    );
    assert!(env.workspace().join("CLAUDE.md").is_symlink());
    assert_eq!(failed(&write("a/b")), "`a/b` is a directory.");
    assert_eq!(
        failed(&write("run.sh/below")),
        "Could not write `run.sh/below`: `run.sh` is not a directory."
    );
    assert_eq!(failed(&write(".")), "`.` is a directory.");
    let leftovers = fs::read_dir(env.workspace()).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .ends_with(".tmp")
    });
    assert_eq!(leftovers.count(), 0);
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let env = TestEnv::new();
    // Longer than any name may be: the directory above it can be made, the file cannot.
    let path = format!("new/deep/{}", "n".repeat(300));
    failed(&call(
        &env,
        &WriteTool::new(options()),
        json!({"path": path, "content": "x"}),
    ));
    assert!(!env.workspace().join("new").exists());
}

#[test]
fn edits_replace_exactly_what_they_name() {
    let env = TestEnv::new();
    env.file("workspace/a.rs", "fn a() {}\nfn b() {}\nfn a() {}\n");
    let edit = |arguments: Value| call(&env, &EditTool::new(options()), arguments);
    let several =
        edit(json!({"path": "a.rs", "edits": [{"oldText": "fn a()", "newText": "fn c()"}]}));
    assert_eq!(
        failed(&several),
        "`a.rs`, edit 1: the text to replace is in the file more than once, at lines 1, 3; nothing was changed. Include more of the surrounding text, or set `replaceAll`."
    );
    let missing = edit(
        json!({"path": "a.rs", "edits": [{"oldText": "fn b() {}", "newText": "fn x() {}"}, {"oldText": "  fn b()  {}", "newText": ""}]}),
    );
    assert!(failed(&missing).starts_with("`a.rs`, edit 2: the text to replace is not in the file; nothing was changed. The closest match is at line 2"), "{missing:?}");
    let both = edit(json!({"path": "a.rs", "edits": [
        {"oldText": "b() {}\nfn a", "newText": "b() {}\nfn last"},
        {"oldText": "fn a() {}\nfn b", "newText": "fn first() {}\nfn b"},
    ]}));
    assert!(
        failed(&both).contains("edits 1 and 2 overlap at line 2"),
        "{both:?}"
    );
    let done_now = edit(
        json!({"path": "a.rs", "edits": [{"oldText": "fn a()", "newText": "fn c()", "replaceAll": true}, {"oldText": "b", "newText": "d"}]}),
    );
    assert_eq!(done(&done_now), "Edited `a.rs`: 3 places, at line 1, 2, 3.");
    assert_eq!(
        fs::read_to_string(env.workspace().join("a.rs")).unwrap(),
        "fn c() {}\nfn d() {}\nfn c() {}\n"
    );
    assert!(
        done_now.details.unwrap()["diff"]
            .as_str()
            .unwrap()
            .contains("\n+fn d() {}\n")
    );
    // As models of other schools write it.
    done(&edit(
        json!({"file_path": "a.rs", "old_string": "fn d", "new_string": "fn e"}),
    ));
    assert!(failed(&edit(json!({"path": "a.rs"}))).contains("`edits` is empty"));
    assert!(
        failed(&edit(
            json!({"path": "none.rs", "edits": [{"oldText": "a", "newText": "b"}]})
        ))
        .contains("does not exist")
    );
}

#[test]
fn line_ends_marks_and_foreign_bytes_stay() {
    let edit = |original: &[u8], old: &str, new: &str| {
        let edits = [Replacement {
            old: old.into(),
            new: new.into(),
            places: Occurrences::default(),
        }];
        replace(original, &edits).map(|replaced| replaced.bytes)
    };
    assert_eq!(
        edit(
            b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n",
            "one\ntwo",
            "1\n2\n2b"
        )
        .unwrap(),
        b"\xef\xbb\xbf1\r\n2\r\n2b\r\nthree\r\n"
    );
    assert_eq!(
        edit(b"a\r\nb\nc\r\n", "b\n", "B\nBB\n").unwrap(),
        b"a\r\nB\nBB\nc\r\n"
    );
    assert_eq!(
        edit(b"a\r\nb\r\n", "a\r\n", "x\r\n").unwrap(),
        b"x\r\nb\r\n"
    );
    assert_eq!(
        edit(b"\xff\xfe caf\xc3\xa9 \x80", "caf\u{e9}", "tea").unwrap(),
        b"\xff\xfe tea \x80"
    );
    assert_eq!(edit(b"a\rb", "a\rb", "c").unwrap(), b"c");
    assert_eq!(edit(b"one\r\ntwo", "\ntwo", "").unwrap(), b"one");
    assert!(edit(b"aaa", "aa", "b").is_err());
}

#[test]
fn a_file_that_changes_meanwhile_is_not_overwritten() {
    use chitin_guard::{Expected, ReadPolicy, Root, commit_all};
    let env = TestEnv::new();
    let path = env.file("workspace/a.md", "old");
    let root = Root::open(&env.workspace()).unwrap();
    let seen = root
        .read(Path::new("a.md"), &ReadPolicy::inside(100))
        .unwrap();
    let ready = |bytes: &[u8]| {
        root.prepare_write(
            Path::new("a.md"),
            bytes,
            Expected::Unchanged(seen.fingerprint),
            0o644,
        )
        .unwrap()
    };
    let change = ready(b"ours");
    fs::write(&path, "theirs").unwrap();
    assert!(
        commit_all(vec![change])
            .unwrap_err()
            .to_string()
            .contains("changed in the meantime")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    let change = ready(b"ours");
    fs::remove_file(&path).unwrap();
    assert!(commit_all(vec![change]).is_err());
    drop(ready(b"never"));
    assert_eq!(fs::read_dir(env.workspace()).unwrap().count(), 0);
}

#[test]
fn arguments_that_do_not_fit_and_stops_are_outcomes() {
    let env = TestEnv::new();
    let tool = ReadTool::new(options());
    let wrong = call(&env, &tool, json!({"pfad": 1}));
    assert!(
        failed(&wrong).contains("unknown field `pfad`")
            && failed(&wrong).contains("`path` (string, required)")
    );
    let cancel = CancellationToken::new();
    cancel.cancel();
    let stopped = call_with(&env, &tool, json!({"path": "a"}), ROOM, &cancel);
    assert_eq!(failed(&stopped), "Stopped before it finished.");
}

#[test]
fn directories_are_listed_in_order_with_sizes() {
    let env = TestEnv::new();
    env.files([
        ("b.md", "12345"),
        ("a/x.rs", "x"),
        ("a/y.md", "y"),
        ("target/z.rs", "z"),
        (".gitignore", "target/\n"),
    ]);
    env.link("workspace/l", "b.md");
    let list = |arguments: Value| done(&call(&env, &ListTool::new("list", options()), arguments));
    assert_eq!(
        list(json!({})),
        ".gitignore (8 bytes)\na/\nb.md (5 bytes)\nl@\ntarget/"
    );
    assert_eq!(list(json!({"pattern": "*.rs"})), "a/x.rs (1 bytes)");
    assert_eq!(
        list(json!({"pattern": "*.rs", "ignored": true})),
        "a/x.rs (1 bytes)\ntarget/z.rs (1 bytes)"
    );
    assert_eq!(
        list(json!({"path": "a", "pattern": "*.toml"})),
        "[No file name matches.]"
    );
    assert_eq!(
        list(json!({"depth": 2, "limit": 2})),
        ".gitignore (8 bytes)\na/\n[There are more entries: use a `pattern`, a deeper `path` or a larger `limit`.]"
    );
    let outside = call(
        &env,
        &ListTool::new("list", options()),
        json!({"path": ".."}),
    );
    assert!(failed(&outside).contains("is outside the workspace"));
    let file = call(
        &env,
        &ListTool::new("list", options()),
        json!({"path": "b.md"}),
    );
    assert_eq!(failed(&file), "`b.md` is not a directory.");
}

/// Everything outside the workspace, and what it holds.
fn outside(env: &TestEnv) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut directories = vec![env.path()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            if path == env.workspace() {
                continue;
            }
            if kind.is_dir() {
                directories.push(path.clone());
            }
            let bytes = if kind.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_path_leads_a_write_outside(
        parts in prop::collection::vec("\\.\\.|\\.|a|b|up|out|loop|/|[a-c]{1,3}", 1..7),
        absolute in any::<bool>(),
    ) {
        let env = TestEnv::new();
        env.file("secret.md", "SECRET");
        env.file("workspace/a/file", "inner");
        env.link("workspace/up", "..");
        env.link("workspace/a/out", "../../secret.md");
        env.link("workspace/loop", "loop");
        let before = outside(&env);
        let mut path = parts.join("/");
        if absolute {
            path = format!("{}/{path}", env.workspace().display());
        }
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        let moved = format!("*** Begin Patch\n*** Update File: a/file\n*** Move to: {path}\n@@\n-inner\n+x\n*** End Patch");
        let _ = call(&env, &WriteTool::new(options()), json!({"path": path, "content": "x"}));
        let _ = call(&env, &EditTool::new(options()), json!({"path": path, "edits": [{"oldText": "SECRET", "newText": "x"}]}));
        let _ = call(&env, &ApplyPatchTool::new(options()), json!({ "input": patch }));
        let _ = call(&env, &ApplyPatchTool::new(options()), json!({ "input": moved }));
        prop_assert_eq!(outside(&env), before);
    }
}

proptest! {
    /// What is not replaced stays; what is replaced is replaced; or nothing is.
    #[test]
    fn edits_are_all_or_nothing(
        original in "[ab\r\n]{0,40}",
        edits in prop::collection::vec(("[ab\n]{0,4}", "[abc\n]{0,4}"), 1..4),
    ) {
        let edits: Vec<Replacement> = edits
            .into_iter()
            .map(|(old, new)| Replacement { old, new, places: Occurrences::default() })
            .collect();
        if let Ok(replaced) = replace(original.as_bytes(), &edits) {
            // Done by hand, on the text without carriage returns: the same.
            let flat = original.replace("\r\n", "\n");
            let mut places: Vec<(usize, &Replacement)> = edits.iter().map(|edit| (flat.find(&edit.old).unwrap(), edit)).collect();
            places.sort_by_key(|(at, _)| *at);
            let mut expected = flat.clone();
            for (at, edit) in places.into_iter().rev() {
                prop_assert_eq!(flat.matches(&edit.old).count(), 1);
                expected.replace_range(at..at + edit.old.len(), &edit.new);
            }
            // Only pairs count: a return that meets a line end by the edit is none.
            if !original.contains('\r') {
                prop_assert_eq!(String::from_utf8(replaced.bytes).unwrap(), expected);
            } else if !original.replace("\r\n", "").contains('\r') {
                prop_assert_eq!(String::from_utf8(replaced.bytes).unwrap().replace("\r\n", "\n"), expected);
            }
        }
    }

    #[test]
    fn every_line_is_read_by_reading_on(text in "([a-z]{0,30}\n){0,40}[a-z]{0,30}", room in 300_usize..600) {
        let env = TestEnv::new();
        env.file("workspace/a.md", &text);
        let tool = ReadTool::new(options());
        let mut seen = String::new();
        let mut offset = Some(1);
        while let Some(at) = offset {
            let outcome = call_within(&env, &tool, json!({"path": "a.md", "offset": at}), room);
            let shown = done(&outcome);
            prop_assert!(shown.len() <= room);
            let next = shown.rsplit_once("Continue with offset ").map(|(_, rest)| rest.trim_end_matches(']').trim_end_matches('.').parse::<u64>().unwrap());
            let body = match shown.rfind("\n[Showing lines").or_else(|| shown.rfind("\n[Line")) {
                Some(note) => &shown[..=note],
                None => &shown,
            };
            seen.push_str(body);
            offset = next;
        }
        if text.is_empty() {
            prop_assert_eq!(seen, "`a.md` is empty.");
        } else {
            prop_assert_eq!(seen.trim_end_matches('\n'), text.trim_end_matches('\n'));
        }
    }
}
