//! Traces of a gateway: lock files and leases. Whether it runs they do not say by themselves (H91, H93, H95).

use crate::database::{Database, Rows};
use crate::problem::Problems;
use crate::walk::{self, reading};
use chitin_guard::Root;
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;

/// A lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayLock {
    /// Its name.
    pub file: String,
    /// The process that made it.
    pub pid: Option<u64>,
    /// The port that it listens on; none if it is no gateway.
    pub port: Option<u64>,
}

/// Returns the lock files in the state directory.
pub(crate) fn locks(state: &Root) -> Vec<GatewayLock> {
    let temporary = Path::new("tmp");
    let mut found = Vec::new();
    for directory in walk::directories(state, temporary) {
        if !directory.starts_with("openclaw") {
            continue;
        }
        let directory = temporary.join(directory);
        for name in walk::files(state, &directory) {
            if !(name.starts_with("gateway") && name.ends_with(".lock")) {
                continue;
            }
            let read = state.read(&directory.join(&name), &reading(1 << 20));
            let bytes = read.map(|read| read.bytes).unwrap_or_default();
            // White space follows the JSON.
            let value: Value = serde_json::from_slice(bytes.trim_ascii()).unwrap_or_default();
            found.push(GatewayLock {
                file: name,
                pid: value["pid"].as_u64(),
                port: value["port"].as_u64(),
            });
        }
    }
    found
}

/// Returns the leases of gateways, as they are.
pub(crate) fn leases(database: &Database, problems: &mut Problems) -> Vec<Value> {
    let wanted = Rows {
        table: "state_leases",
        needed: &["scope", "payload_json"],
        wanted: &[],
        of: Some(("scope", "gateway-owner")),
        order: &["lease_key"],
        most: 1_000,
    };
    let mut found = Vec::new();
    let outcome = database.rows(&wanted, &mut |row| {
        found.extend(row.json(1));
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    found
}
