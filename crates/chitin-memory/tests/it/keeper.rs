//! An agent's memory as a whole.

use chitin_contract::MemoryRules;
use chitin_memory::chunk::ChunkOptions;
use chitin_memory::keeper::{Effort, Memory, Setting, TranscriptOwner, index_name};
use chitin_memory::search::{ChunkSource, SearchRequest};
use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Home {
    place: TempDir,
    memory: Memory,
}

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let workspace = place.path().join("workspace");
        fs::create_dir_all(workspace.join("memory")).unwrap();
        fs::create_dir_all(place.path().join("sessions")).unwrap();
        for (name, text) in files {
            fs::write(workspace.join(name), text).unwrap();
        }
        let rules = MemoryRules::CANONICAL;
        let memory = Memory::new(Setting {
            index: place.path().join(index_name("main", &workspace)),
            agent: "main".to_owned(),
            sizes: ChunkOptions::configured(None, None, &rules.chunks),
            rules,
            sources: [ChunkSource::Memory, ChunkSource::Sessions].into(),
            extra_paths: Vec::new(),
            transcripts: Some(place.path().join("sessions")),
            owner: TranscriptOwner::Workspace,
            embedder: None,
            redact: Arc::new(|text| Cow::Borrowed(text)),
            workspace,
        });
        Self { place, memory }
    }

    fn found(&self, query: &str, effort: &Effort<'_>) -> Vec<String> {
        let ask = SearchRequest {
            query,
            now_ms: 1_777_593_600_000,
            ..SearchRequest::default()
        };
        let answer = self.memory.search(&ask, effort).unwrap();
        answer.hits.into_iter().map(|hit| hit.piece.path).collect()
    }

    fn transcript(&self, name: &str, workspace: &Path, words: &str) {
        let header =
            serde_json::json!({"type": "session", "version": 3, "id": name, "cwd": workspace});
        let message = serde_json::json!({
            "type": "message", "id": "a",
            "message": {"role": "user", "content": [{"type": "text", "text": words}]},
        });
        let file = self
            .place
            .path()
            .join("sessions")
            .join(format!("{name}.jsonl"));
        fs::write(file, format!("{header}\n{message}\n")).unwrap();
    }
}

/// One agent may live in several workspaces; what was said in one stays there.
#[test]
fn conversations_of_another_workspace_are_not_found() {
    let home = Home::new(&[("MEMORY.md", "- Nothing.\n")]);
    let here = home.memory.setting().workspace.clone();
    home.transcript("one", &here, "The walrus lives in the shed.");
    home.transcript("two", Path::new("/elsewhere"), "The walrus is a secret.");
    let found = home.found("walrus", &Effort::whole());
    assert_eq!(found.len(), 1);
    assert!(found[0].ends_with("one.jsonl"), "{found:?}");
}

#[test]
fn an_index_that_is_damaged_while_it_is_open_is_made_anew_by_the_next_search() {
    let lines = "- This plank is larch.\n".repeat(2_000);
    let home = Home::new(&[
        ("memory/planks.md", &lines),
        ("memory/walrus.md", "A walrus.\n"),
    ]);
    assert_eq!(home.found("walrus", &Effort::whole()), ["memory/walrus.md"]);
    let index = &home.memory.setting().index;
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", index.display()));
    }
    fs::write(index, vec![0x5a; 300_000]).unwrap();
    assert_eq!(home.found("walrus", &Effort::whole()), ["memory/walrus.md"]);
}

/// With very many files they are not all looked at for each search: a watcher says when something changed.
#[test]
fn among_thousands_of_files_an_edit_is_heard_of() {
    let home = Home::new(&[]);
    let notes = home.memory.setting().workspace.join("memory");
    for number in 0..2_100 {
        fs::write(notes.join(format!("{number}.md")), "Planks.\n").unwrap();
    }
    let effort = || Effort::within(Duration::from_mins(1));
    assert!(home.found("walrus", &effort()).is_empty());
    assert!(home.found("walrus", &effort()).is_empty());
    fs::write(notes.join("7.md"), "A walrus.\n").unwrap();
    let begin = Instant::now();
    while home.found("walrus", &effort()) != ["memory/7.md"] {
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "it is never heard of"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_forgotten_conversation_leaves_no_byte_in_the_index_also_while_it_is_open() {
    let home = Home::new(&[("MEMORY.md", "- A heron.\n")]);
    let here = home.memory.setting().workspace.clone();
    let secret = "zyzzyva in the granary";
    home.transcript("one", &here, &format!("There is a {secret}."));
    home.transcript("two", &here, "The heron came back.");
    assert_eq!(home.found("zyzzyva", &Effort::whole()).len(), 1);
    let index = home.memory.setting().index.clone();
    let holds = || {
        ["", "-wal", "-shm"].iter().any(|end| {
            let bytes = fs::read(format!("{}{end}", index.display())).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.contains("zyzzyva") || text.contains("granary")
        })
    };
    assert!(holds());
    let begins = ["one.jsonl".to_owned()];
    assert_eq!(chitin_memory::index::pieces_of(&index, &begins).unwrap(), 1);
    fs::remove_file(home.place.path().join("sessions/one.jsonl")).unwrap();
    let forgotten = chitin_memory::index::forget(&index, &begins).unwrap();
    assert_eq!((forgotten.pieces, forgotten.discarded), (1, false));
    assert!(!holds());
    assert_eq!(chitin_memory::index::pieces_of(&index, &begins).unwrap(), 0);
    // The index goes on, without anything made anew.
    assert_eq!(home.found("heron", &Effort::whole()).len(), 2);
    assert!(home.found("zyzzyva", &Effort::whole()).is_empty());
    let none = chitin_memory::index::forget(&here.join("none.sqlite"), &begins).unwrap();
    assert_eq!(none.pieces, 0);
}
