//! `chitin init`: seeds a workspace, only what is absent.

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::printer::{Paint, Printer, Render};
use chitin_config::home;
use chitin_guard::{FoundProgram, ProgramOrder, ProgramSearch};
use chitin_runtime::Host;
use chitin_runtime::Setup;
use chitin_runtime::context::template_directory;
use chitin_workspace::seed::{
    self, OnVanished, SeedError, SeedFiles, SeedRequest, SetupStatus, TemplateError, Templates,
};
use serde::Serialize;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Create a workspace, or add the files that are missing.
///
/// Nothing is overwritten and nothing is deleted. If a workspace had files and has lost them all, `--reseed` is needed to seed it again: the files may be worth looking for.
///
/// A template directory may hold AGENTS.md, SOUL.md, TOOLS.md, IDENTITY.md, USER.md, HEARTBEAT.md and BOOTSTRAP.md, which replace the built-in templates, and CHANNELS.md, MCP.md, PERMISSIONS.md, RUNTIME.md and SKILLS.md, which have no built-in template. Other files in it are ignored.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin init ./my-agent
  chitin init --agent ops
  chitin init ./my-agent --templates ~/agent-templates
  chitin init ./my-agent --no-git --json
  chitin init ./my-agent --dry-run")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// Create only the directory, no files.
    #[arg(long)]
    empty: bool,

    /// Use the templates in this directory, and the built-in ones for files that it lacks. `templates` in `chitin.json5` sets it permanently.
    #[arg(long, value_name = "DIR", conflicts_with = "empty")]
    templates: Option<PathBuf>,

    /// Do not create a git repository in a new workspace.
    #[arg(long)]
    no_git: bool,

    /// Seed again although earlier files are missing.
    #[arg(long)]
    reseed: bool,

    /// Only list what would be written.
    #[arg(long)]
    dry_run: bool,
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    directory: PathBuf,
    contract: &'static str,
    created: Vec<String>,
    kept: Vec<String>,
    #[serde(
        serialize_with = "chitin_workspace::json_path::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    retired: Option<PathBuf>,
    #[serde(
        serialize_with = "chitin_workspace::json_path::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    templates: Option<PathBuf>,
    git: bool,
    status: SetupStatus,
    dry_run: bool,
    #[serde(skip)]
    shown: String,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Report, CliError> {
        let setup = Setup::find(host, &self.target.target(), &printer.notes())?;
        let contract = setup.contract();
        let home = chitin_runtime::chitin_home(host);
        let now = Host::now();
        let own = self.template_directory(host, &setup, home.as_deref());
        let templates = own.as_deref().map(Templates::read).transpose();
        let templates = templates.map_err(unusable_templates)?;
        for name in templates.iter().flat_map(Templates::unused) {
            printer.note(&format!(
                "`{name}` in the template directory is ignored; `chitin init --help` lists the supported files"
            ));
        }
        let git = find_git(host, &setup.directory);
        let wants_git = !self.no_git && !self.empty && git.path.is_some();
        if !self.no_git && !self.empty && !wants_git {
            for refused in &git.refused {
                printer.note(&refused.to_string());
            }
        }
        let make_repository = |directory: &Path| match &git.path {
            Some(git) => git_init(git, directory),
            None => Ok(()),
        };
        let request = SeedRequest {
            directory: &setup.directory,
            contract,
            files: if self.empty {
                SeedFiles::DirectoryOnly
            } else {
                SeedFiles::Templates
            },
            templates: templates.as_ref(),
            now: &now,
            state_directory: home.as_deref(),
            vanished: if self.reseed {
                OnVanished::SeedAgain
            } else {
                OnVanished::Refuse
            },
            git: if wants_git {
                Some(&make_repository)
            } else {
                None
            },
        };
        let seeded = if self.dry_run {
            seed::plan(&request)
        } else {
            seed::seed(&request)
        };
        let seeded = seeded.map_err(|error| explain(error, &setup.directory))?;
        let names = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
        Ok(Report {
            shown: chitin_runtime::shown(&setup.directory, host),
            directory: setup.directory,
            contract: contract.name,
            git: wants_git && seeded.brand_new,
            created: names(seeded.created),
            kept: names(seeded.kept),
            retired: seeded.retired,
            templates: own,
            status: seeded.status,
            dry_run: self.dry_run,
        })
    }
}

impl Args {
    /// Returns the directory of the user's own templates: the flag's, else that of `chitin.json5`.
    fn template_directory(
        &self,
        host: &Host,
        setup: &Setup,
        chitin_home: Option<&Path>,
    ) -> Option<PathBuf> {
        if self.empty {
            return None;
        }
        let user_home = home::plain_home(&host.env);
        let working_directory = host.env.working_directory();
        if let Some(given) = &self.templates {
            return Some(match given.to_str() {
                Some(text) => home::path_from(text, user_home.as_deref(), working_directory),
                None => working_directory.join(given),
            });
        }
        template_directory(host, setup, chitin_home)
    }
}

fn unusable_templates(error: TemplateError) -> CliError {
    let hint = match &error {
        TemplateError::Directory { .. } => {
            "name a directory with `--templates`, or change `templates` in `chitin.json5`"
        }
        TemplateError::File { .. } => {
            "a template is a plain file of at most 2 MiB, or a link to one in the same directory"
        }
    };
    CliError::new(
        FailureKind::User,
        "Could not read the templates; nothing was written.",
    )
    .caused_by(error)
    .hint(hint)
}

/// Finds `git`, unless what has its name is in the workspace or can be changed by others.
fn find_git(host: &Host, directory: &Path) -> FoundProgram {
    let search = ProgramSearch {
        path: host.env.get("PATH").unwrap_or_default(),
        order: ProgramOrder::SystemOnPath,
        never_in: &[directory.to_path_buf()],
    };
    search.find("git")
}

fn git_init(git: &Path, directory: &Path) -> io::Result<()> {
    let done = Command::new(git)
        .args(["init", "--quiet"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if done.success() {
        Ok(())
    } else {
        Err(io::Error::other("`git init` failed"))
    }
}

fn explain(error: SeedError, directory: &Path) -> CliError {
    let shown = directory.display();
    match error {
        SeedError::Vanished { .. } => CliError::new(
            FailureKind::Refused,
            format!("`{shown}` has lost its files; nothing was written."),
        )
        .caused_by(error)
        .hint("look for the files first: a backup, another disk, `git log`")
        .hint("`chitin init --reseed` starts again with templates"),
        SeedError::Write(error) => {
            CliError::new(FailureKind::User, format!("Could not seed `{shown}`.")).caused_by(error)
        }
        SeedError::Git { source, .. } => CliError::new(
            FailureKind::User,
            "The files were written, but `git init` failed.",
        )
        .caused_by(source)
        .hint("`--no-git` skips it"),
    }
}

impl Render for Report {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let (wrote, verb) = if self.dry_run {
            ("would write", "Would seed")
        } else {
            ("wrote", "Seeded")
        };
        for name in &self.created {
            writeln!(out, "  {} {name}", paint.good(wrote))?;
        }
        for name in &self.kept {
            writeln!(out, "  {} {name}", paint.dim("kept"))?;
        }
        if let Some(retired) = &self.retired {
            writeln!(
                out,
                "  {} BOOTSTRAP.md to {}",
                paint.warn("moved"),
                retired.display()
            )?;
        }
        if self.git {
            writeln!(
                out,
                "  {} a git repository",
                paint.good(if self.dry_run { "would make" } else { "made" })
            )?;
        }
        let place = paint.bold(&self.shown);
        if self.created.is_empty() {
            writeln!(out, "{place} already has every file of {}.", self.contract)?;
        } else {
            writeln!(out, "{verb} {place} for {}.", self.contract)?;
        }
        match self.status {
            SetupStatus::Pending if self.dry_run => {
                writeln!(out, "BOOTSTRAP.md would be used in the first conversation.")
            }
            SetupStatus::Pending => {
                writeln!(out, "BOOTSTRAP.md will be used in the first conversation.")
            }
            SetupStatus::Complete => Ok(()),
        }
    }
}
