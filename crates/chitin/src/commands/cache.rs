//! `chitin cache`: the local store of artifacts.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::ship::{count, short, size, state};
use chitin_pack::store::{Checkup, Store, StoreRepair, StoreUsage, Sweep, Swept, Tagged};
use chitin_pack::{Digest, ExitKind};
use chitin_runtime::Host;
use clap::Subcommand;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// Show, verify and prune the local artifact store.
///
/// The store is an OCI image layout in Chitin's home. It contains packed and pulled artifacts; deleting it loses nothing that is in a registry or in a workspace.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin cache
  chitin cache check --repair
  chitin cache remove my-agent:1.1.0
  chitin cache gc --dry-run

Exit codes: 0 success; 1 wrong arguments; 2 damage was found, or a file failed.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the artifacts.
    List,
    /// Check every blob against its digest, and that none is missing.
    Check {
        /// Remove damaged blobs, so that they can be fetched again.
        #[arg(long)]
        repair: bool,
    },
    /// Remove names; the next `gc` deletes what no name refers to.
    Remove {
        /// The names.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Delete blobs that no name refers to, and unfinished ones.
    Gc {
        /// Only list what would be deleted.
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Serialize)]
struct Listed {
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    directory: PathBuf,
    artifacts: Vec<Tagged>,
    usage: StoreUsage,
    #[serde(skip)]
    shown: String,
}

#[derive(Debug, Serialize)]
struct Checked {
    clean: bool,
    repaired: bool,
    #[serde(flatten)]
    checkup: Checkup,
}

#[derive(Debug, Serialize)]
struct Removed {
    removed: Vec<(String, Digest)>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Collected {
    dry_run: bool,
    #[serde(flatten)]
    swept: Swept,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let directory = Store::directory_of(&state(host)?);
        let shown = chitin_runtime::shown(&directory, host);
        let Some(store) = Store::open(&directory)? else {
            return match &self.action {
                None | Some(Action::List | Action::Check { .. } | Action::Gc { .. }) => {
                    printer.note("the store does not exist yet: nothing was packed or pulled");
                    Ok(Exit::Success)
                }
                Some(Action::Remove { .. }) => {
                    let error = CliError::new(FailureKind::User, "There is no store yet.");
                    Err(error.hint("`chitin pack` creates it"))
                }
            };
        };
        match &self.action {
            None | Some(Action::List) => printer.result(&Listed {
                artifacts: store.tags()?,
                usage: store.usage()?,
                directory,
                shown,
            }),
            Some(Action::Check { repair }) => {
                let how = if *repair {
                    StoreRepair::RemoveDamaged
                } else {
                    StoreRepair::Report
                };
                let checkup = store.check(how)?;
                printer.result(&Checked {
                    clean: checkup.is_clean(),
                    repaired: *repair,
                    checkup,
                })
            }
            Some(Action::Remove { names }) => {
                let mut removed = Vec::new();
                for name in names {
                    let Some(was) = store.untag(name)? else {
                        let message =
                            format!("There is no `{}` in the store.", plain(name, '\u{fffd}'));
                        return Err(CliError::new(FailureKind::User, message)
                            .hint("`chitin cache` lists the names"));
                    };
                    removed.push((name.clone(), was.digest));
                }
                printer.result(&Removed { removed })
            }
            Some(Action::Gc { dry_run }) => {
                let how = if *dry_run {
                    Sweep::Rehearse
                } else {
                    Sweep::Remove
                };
                let swept = store.sweep(how)?;
                printer.result(&Collected {
                    dry_run: *dry_run,
                    swept,
                })
            }
        }
    }
}

impl Render for Listed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for tagged in &self.artifacts {
            let name = plain(&tagged.name, '\u{fffd}');
            writeln!(
                out,
                "  {name:<44} {}",
                paint.dim(&short(&tagged.manifest.digest))
            )?;
        }
        writeln!(
            out,
            "{} in {}: {}, {}; {} could be freed.",
            count(self.artifacts.len(), "artifact"),
            paint.bold(&self.shown),
            count(self.usage.blobs, "blob"),
            size(self.usage.bytes),
            size(self.usage.unreferenced_bytes)
        )
    }
}

impl Render for Checked {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for digest in &self.checkup.damaged {
            let what = if self.repaired { "removed" } else { "damaged" };
            writeln!(out, "  {} {digest}", paint.bad(what))?;
        }
        for missing in &self.checkup.missing {
            let by = plain(&missing.needed_by, '\u{fffd}');
            writeln!(
                out,
                "  {} {}, needed by {by}",
                paint.bad("missing"),
                missing.digest
            )?;
        }
        for path in &self.checkup.strange {
            writeln!(
                out,
                "  {} {}",
                paint.warn("strange"),
                plain(&path.to_string_lossy(), '\u{fffd}')
            )?;
        }
        let state = if self.clean {
            "All is well"
        } else {
            "Damage found"
        };
        writeln!(
            out,
            "{state}: {} read, {}.",
            count(self.checkup.blobs, "blob"),
            size(self.checkup.bytes)
        )?;
        if !self.clean {
            writeln!(
                out,
                "Pack or pull the affected artifacts again; `chitin cache check --repair` removes damaged blobs."
            )?;
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.clean {
            Exit::Success
        } else {
            Exit::Ship(ExitKind::Local)
        }
    }
}

impl Render for Removed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for (name, digest) in &self.removed {
            writeln!(
                out,
                "  {} {} {}",
                paint.good("removed"),
                plain(name, '\u{fffd}'),
                paint.dim(&short(digest))
            )?;
        }
        writeln!(out, "`chitin cache gc` frees the space.")
    }
}

impl Render for Collected {
    fn text(&self, out: &mut dyn fmt::Write, _paint: Paint) -> fmt::Result {
        let verb = if self.dry_run { "Would free" } else { "Freed" };
        writeln!(
            out,
            "{verb} {}: {} and {}; {} stay, {}.",
            size(self.swept.removed_bytes),
            count(self.swept.removed.len(), "blob"),
            count(self.swept.unfinished, "unfinished file"),
            count(self.swept.kept, "blob"),
            size(self.swept.kept_bytes)
        )
    }
}
