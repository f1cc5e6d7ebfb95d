//! The stage of a workspace case: a fresh parent directory with the described workspace in it.
#![expect(
    clippy::disallowed_methods,
    reason = "cases describe trees, links and odd entries on purpose"
)]

use crate::tree::base64;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Texts longer than this stand as a digest.
const WHOLE_TEXT_UNITS: usize = 3000;

/// A fresh parent directory with the described workspace in it.
#[derive(Debug)]
pub struct Stage {
    parent: TempDir,
    /// The workspace.
    pub workspace: PathBuf,
}

impl Stage {
    /// Builds the tree that a case describes.
    pub fn build(input: &Value) -> Result<Self> {
        let parent = TempDir::with_prefix("case-")?;
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o755))?;
        let base = fs::canonicalize(parent.path())?;
        let length = input["workspace_path_len"]
            .as_u64()
            .and_then(|n| usize::try_from(n).ok());
        let stem = base.join("ws");
        let missing = length
            .unwrap_or(0)
            .saturating_sub(stem.to_string_lossy().encode_utf16().count());
        let workspace = base.join(format!("ws{}", "x".repeat(missing)));
        let stage = Self { parent, workspace };
        let described = &input["workspace"];
        let absent = described["absent"] == true || input["workspace_absent"] == true;
        if !absent {
            fs::create_dir_all(&stage.workspace)?;
        }
        stage.fill(described)?;
        Ok(stage)
    }

    /// Returns the parent directory.
    pub fn parent(&self) -> PathBuf {
        fs::canonicalize(self.parent.path()).unwrap_or_else(|_| self.parent.path().into())
    }

    /// Puts real paths in place of placeholders.
    pub fn fill_in(&self, text: &str) -> String {
        let name = self
            .workspace
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        text.replace("{WORKSPACE_NAME}", &name)
            .replace("{WORKSPACE}", &self.workspace.to_string_lossy())
            .replace("{PARENT}", &self.parent().to_string_lossy())
    }

    /// Puts placeholders in place of real paths.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&*self.workspace.to_string_lossy(), "{WORKSPACE}")
            .replace(&*self.parent().to_string_lossy(), "{PARENT}")
    }

    /// Describes a text as cases do: whole, or by its digest.
    pub fn text_fields(&self, text: &str) -> Value {
        let shown = self.redact(text);
        if text.encode_utf16().count() <= WHOLE_TEXT_UNITS {
            return json!({ "content": shown });
        }
        let digest =
            Sha256::digest(shown.as_bytes())
                .iter()
                .fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                });
        json!({ "sha256": digest })
    }

    /// Writes one described file below the workspace.
    pub fn write(&self, entry: &Value) -> Result<()> {
        let path = self.at(entry)?;
        fs::write(&path, content(entry)?)
            .with_context(|| format!("cannot write `{}`", path.display()))
    }

    fn fill(&self, described: &Value) -> Result<()> {
        for directory in list(described, "dirs") {
            fs::create_dir_all(
                self.workspace
                    .join(directory.as_str().context("a directory's path")?),
            )?;
        }
        for file in list(described, "files") {
            self.write(file)?;
        }
        for link in list(described, "symlinks") {
            symlink(
                self.fill_in(link["target"].as_str().context("a link's target")?),
                self.at(link)?,
            )?;
        }
        for link in list(described, "hardlinks") {
            fs::hard_link(
                self.workspace
                    .join(link["target"].as_str().context("a link's target")?),
                self.at(link)?,
            )?;
        }
        for fifo in list(described, "fifos") {
            let mode = rustix::fs::Mode::from_raw_mode(0o644);
            let path = self.parented(fifo)?;
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0)?;
        }
        for socket in list(described, "sockets") {
            // The name of a socket is short by law; bind beside the deep path and move it there.
            let near = self.parent().join("s");
            drop(UnixListener::bind(&near)?);
            fs::rename(near, self.parented(socket)?)?;
        }
        for mode in list(described, "modes") {
            let bits = u32::from_str_radix(mode["mode"].as_str().context("mode bits")?, 8)?;
            fs::set_permissions(self.at(mode)?, fs::Permissions::from_mode(bits))?;
        }
        Ok(())
    }

    fn at(&self, entry: &Value) -> Result<PathBuf> {
        self.parented(&entry["path"])
    }

    fn parented(&self, path: &Value) -> Result<PathBuf> {
        let path = lexical(&self.workspace.join(path.as_str().context("a path")?));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(path)
    }
}

impl Drop for Stage {
    /// Gives back the permissions that a case took away, so that the directory can be removed.
    fn drop(&mut self) {
        fn open(path: &Path) {
            let Ok(metadata) = fs::symlink_metadata(path) else {
                return;
            };
            if metadata.is_dir() {
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
                for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                    open(&entry.path());
                }
            }
        }
        open(self.parent.path());
    }
}

/// Reads `text`, `base64` or `parts`.
pub fn content(entry: &Value) -> Result<Vec<u8>> {
    if let Some(text) = entry["text"].as_str() {
        return Ok(text.as_bytes().to_vec());
    }
    if let Some(encoded) = entry["base64"].as_str() {
        return base64(encoded);
    }
    if let Some(part) = entry["repeat"].as_str() {
        let count = usize::try_from(entry["count"].as_u64().context("a count")?)?;
        return Ok(part.repeat(count).into_bytes());
    }
    let parts = entry["parts"]
        .as_array()
        .context("neither text nor bytes nor parts")?;
    parts
        .iter()
        .map(content)
        .try_fold(Vec::new(), |mut all, part| {
            all.extend(part?);
            Ok(all)
        })
}

fn list<'a>(described: &'a Value, key: &str) -> &'a [Value] {
    described[key]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn lexical(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::ParentDir => {
                result.pop();
            }
            std::path::Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}
