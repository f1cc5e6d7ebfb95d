//! A backup is put back: read to its end and checked while a new home is made beside the old one, and put in its place in one step.

use super::archive::{self, BackupHead, BackupTotals};
use super::{BackupError, BackupProgress};
use crate::serve::{JOB_LOG, PublishedAddress};
use chitin_guard::TargetDirectory;
use chitin_store::{JobLog, StoreError};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How a backup is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoreOptions<'a> {
    /// Whether a home that is not empty is set aside.
    pub force: bool,
    /// The time, for the name of the home that is set aside.
    pub now: &'a str,
}

/// What was put back, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreReport {
    /// What the backup says about itself.
    pub backup: BackupHead,
    /// Files and bytes.
    #[serde(flatten)]
    pub totals: BackupTotals,
    /// Where the home is; nothing if the backup was only checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// Where the home is now that was there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<PathBuf>,
}

/// Reads a backup to its end and checks all of it. Nothing is written.
pub fn check_backup(
    source: impl Read,
    progress: BackupProgress<'_>,
) -> Result<RestoreReport, BackupError> {
    let mut totals = BackupTotals::default();
    let (backup, totals) = archive::read(
        source,
        |_| Ok(()),
        |file, _| {
            totals.files += 1;
            totals.bytes += file.size;
            progress(totals);
            Ok(())
        },
    )?;
    Ok(RestoreReport {
        backup,
        totals,
        home: None,
        set_aside: None,
    })
}

/// Puts a backup in the place of a home. Until all of it is checked and on the disk, the home is as it was; from then on it is the new one.
pub fn restore_backup(
    source: impl Read,
    home: &Path,
    options: RestoreOptions<'_>,
    progress: BackupProgress<'_>,
) -> Result<RestoreReport, BackupError> {
    let place = TargetDirectory::find(home).map_err(BackupError::placing(home))?;
    place.clear_leftovers();
    if !place.is_vacant() && !options.force {
        return Err(BackupError::NotEmpty { path: home.into() });
    }
    // Held until the new home is in place, so that no server begins meanwhile.
    let _log = unused(home)?;
    let tree = place.begin_fresh().map_err(BackupError::staging(home))?;
    let mut totals = BackupTotals::default();
    let (backup, totals) = archive::read(
        source,
        |_| Ok(()),
        |file, content| {
            let mut new = tree
                .file(Path::new(&file.path), file.executable)
                .map_err(BackupError::placing(home))?;
            copy(content, &mut new, home)?;
            totals.files += 1;
            totals.bytes += file.size;
            progress(totals);
            Ok(())
        },
    )?;
    let name = home
        .file_name()
        .map_or_else(|| "home".into(), OsString::from);
    let mut aside = name;
    aside.push(format!(".before-restore-{}", plain(options.now)));
    let set_aside = tree
        .put_in_place(&aside)
        .map_err(BackupError::staging(home))?;
    Ok(RestoreReport {
        backup,
        totals,
        home: Some(home.to_path_buf()),
        set_aside,
    })
}

/// Copies a content; tells a backup that cannot be read from a home that cannot be written.
fn copy(from: &mut dyn Read, to: &mut impl io::Write, home: &Path) -> Result<(), BackupError> {
    let mut buffer = vec![0; 128 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(archive::damaged(error)),
        };
        to.write_all(&buffer[..count])
            .map_err(|error| BackupError::NotPlaced {
                path: home.into(),
                source: error.into(),
            })?;
    }
}

/// Makes sure that no server uses a home, and keeps one from starting as long as what is returned lives.
fn unused(home: &Path) -> Result<Option<JobLog>, BackupError> {
    let in_use = |what: String| BackupError::InUse {
        path: home.into(),
        what,
    };
    if let Some(address) = PublishedAddress::of_running(home) {
        return Err(in_use(format!("a server at {address}")));
    }
    if !chitin_guard::exists(&home.join(JOB_LOG)) {
        return Ok(None);
    }
    match JobLog::open(&home.join(JOB_LOG)) {
        Ok((log, _)) => Ok(Some(log)),
        Err(StoreError::Busy { .. }) => Err(in_use("it has the job log".to_owned())),
        // A log that cannot be used is set aside with all the rest.
        Err(_) => Ok(None),
    }
}

/// Returns an instant as it stands in names of files.
fn plain(now: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    now.chars().take(19).map(kept).collect()
}
