//! A server in a home of its own, with a model that answers from a script.

use super::released;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A home, a workspace and a script.
pub(crate) struct Yard {
    directory: tempfile::TempDir,
    pub(crate) program: PathBuf,
}

impl Yard {
    /// Makes one whose model takes so long for an answer.
    pub(crate) fn new(model: Duration) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        std::fs::create_dir_all(path.join("home/.chitin")).unwrap();
        std::fs::create_dir_all(path.join("home/.openclaw")).unwrap();
        std::fs::create_dir_all(path.join("workspace")).unwrap();
        std::fs::write(
            path.join("workspace/AGENTS.md"),
            "Keep the yard.\n".repeat(40),
        )
        .unwrap();
        let script = format!(
            "{{\"text\":\"Done.\",\"times\":0,\"delayMs\":{}}}\n",
            model.as_millis()
        );
        std::fs::write(path.join("script.jsonl"), script).unwrap();
        std::fs::write(
            path.join("home/.chitin/chitin.json5"),
            "{ server: { maxConnections: 5000, requestsPerMinute: 600000 }, trace: { trajectory: false } }",
        )
        .unwrap();
        std::fs::write(
            path.join("home/.openclaw/openclaw.json"),
            "{ agents: { defaults: { maxConcurrent: 4000 } } }",
        )
        .unwrap();
        Self {
            program: released(),
            directory,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Starts a server, and waits until it listens.
    pub(crate) fn serve(&self) -> Server {
        let mut command = Command::new(&self.program);
        let model = format!("scripted/{}", self.path().join("script.jsonl").display());
        let mut process = command
            .args([
                "serve",
                "--json",
                "--listen",
                "127.0.0.1:0",
                "--model",
                &model,
            ])
            .arg(self.path().join("workspace"))
            .env_clear()
            .env("HOME", self.path().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let address = loop {
            assert!(out.read_line(&mut said).unwrap() > 0, "it ended: {said}");
            if let Ok(value) = serde_json::from_str::<Value>(&said) {
                let address = value["address"].as_str().unwrap();
                break address.trim_start_matches("http://").to_owned();
            }
        };
        let token = self.path().join("home/.chitin/server-token");
        let token = std::fs::read_to_string(token).unwrap().trim().to_owned();
        Server {
            process,
            address,
            token,
        }
    }
}

/// A server that runs.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Server {
    /// Returns what the kernel says of its memory, in KiB.
    pub(crate) fn memory(&self, name: &str) -> u64 {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).unwrap();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches("kB").trim().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
