//! `chitin unpack`: an artifact becomes a directory, all of it or nothing.

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::ship::{self, Finder, NetworkArgs, RefreshArgs, TrustArgs, count, size, with_packages};
use chitin_pack::artifact::Artifact;
use chitin_pack::compat::MEMORY_SURFACE;
use chitin_pack::materialize::{
    ActionKind, ApplyOptions, How, LayoutFidelity, LayoutMode, LayoutOptions, MissingSurfaces,
    Overwrite, PlannedStep, UnpackPlan, WriteLayer, apply, plan,
};
use chitin_pack::signatures::SignatureVerdict;
use chitin_pack::{Digest, PackWarning};
use chitin_registry::{ArtifactOrigin, WholeAgent};
use chitin_runtime::Host;
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::path::PathBuf;

/// Unpack an artifact as a workspace, or for another runtime.
///
/// The whole plan is computed first, then applied in one step or not at all. Existing files with other content are conflicts; all are listed and nothing is written, unless you allow overwriting. Unrelated files are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin unpack my-agent:1.2.0 ./my-agent
  chitin unpack my-agent.tar ./my-agent --plan
  chitin unpack registry.example/team/agent:1.2.0 ./agent --require-signature
  chitin unpack my-agent:1.2.0 ./project --adapter claude-code

Adapters, and where the files go:
  openclaw        every file under its own name, byte for byte; extension files, `.agents/skills/` and documents too
  claude-code     CLAUDE.md; skills in .claude/skills/, servers in .mcp.json, subagents in .claude/agents/
  codex           AGENTS.md; skills in .agents/skills/, servers in .codex/config.toml
  cursor          AGENTS.md; persona and rules in .cursor/rules/*.mdc, skills in .cursor/skills/, servers in .cursor/mcp.json
  github-copilot  .github/copilot-instructions.md; rules in .github/instructions/, skills in .github/skills/
  windsurf        AGENTS.md; rules in .windsurf/rules/, skills in .windsurf/skills/
  opencode        AGENTS.md; skills in .opencode/skills/, servers in opencode.jsonc, subagents in .opencode/agent/
  generic         INSTRUCTIONS.md; skills in skills/
SOUL.md, IDENTITY.md, USER.md and TOOLS.md become sections of the instructions file, except for openclaw and cursor.
Linked documents keep their paths in every layout.

Exit codes: 0 done; 1 wrong arguments; 2 conflicts, damage or a hostile archive; 3 the registry failed; 4 packages
cannot be resolved; 5 the artifact does not fit the target; 6 no valid signature.")]
pub(crate) struct Args {
    /// The artifact: a name in the local store, a directory, an archive, a digest, or a reference.
    artifact: String,

    /// The target directory; created if it does not exist.
    directory: PathBuf,

    /// Print every action and write nothing.
    #[arg(long)]
    plan: bool,

    /// The layout; by default that of the runtime that the artifact was packed for.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,

    /// Write every file byte for byte; the default for OpenClaw's layout.
    #[arg(long, conflicts_with = "permissive")]
    exact: bool,

    /// Merge prompt, rules and persona into the workspace files.
    #[arg(long)]
    permissive: bool,

    /// Fail if AGENTS.md or TOOLS.md is not in the artifact; the other files are optional.
    #[arg(long)]
    strict: bool,

    /// Write exactly what stax itself would: nothing composed, no layers of Chitin's own.
    #[arg(long)]
    stax: bool,

    /// Ignore the options set in the artifact, such as `writeMemory`.
    #[arg(long)]
    ignore_options: bool,

    /// Replace files that have other content.
    #[arg(long)]
    overwrite: bool,

    /// Leave skills out.
    #[arg(long)]
    no_skills: bool,

    /// Leave memory out.
    #[arg(long)]
    no_memory: bool,

    /// Leave `BOOTSTRAP.md` out.
    #[arg(long)]
    no_bootstrap: bool,

    /// Write `MEMORY.md` if the artifact has it, even if its options do not ask for it.
    #[arg(long)]
    memory_file: bool,

    /// The lock file for packages; by default the packages that were pulled, or the current ones.
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,

    #[command(flatten)]
    trust: TrustArgs,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    refresh: RefreshArgs,
}

/// What was done, or would be.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Unpacked {
    artifact: String,
    source: ArtifactOrigin,
    digest: Digest,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    directory: PathBuf,
    adapter: &'static str,
    fidelity: &'static str,
    lossy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Vec<PlannedStep>>,
    written: Vec<String>,
    unchanged: usize,
    bytes: u64,
    signature: Option<SignatureVerdict>,
    warnings: Vec<PackWarning>,
    #[serde(skip)]
    shown: String,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let finder = Finder::new(host, &self.network, printer)?.refreshing(self.refresh);
        let adding = finder.store.adding()?;
        let found = finder.find(&self.artifact)?;
        let verdict = self.trust.judge(host, &found)?;
        finder.keep(&found)?;
        let digest = found.artifact.digest;
        let whole = with_packages(&finder, found.artifact, self.lock.as_deref())?;
        let (options, preset) = self.options(whole.agent())?;
        let plan = plan(whole.contents(), &options)?;
        let mut warnings = preset;
        warnings.extend(whole.warnings().iter().cloned());
        warnings.extend(plan.warnings.iter().cloned());
        warnings.extend(verdict.warnings.iter().cloned());
        let directory = host.env.resolve(&self.directory);
        let mut unpacked = Unpacked {
            artifact: found.name,
            source: found.origin,
            digest,
            adapter: plan.adapter,
            fidelity: plan.fidelity,
            lossy: plan.lossy,
            actions: None,
            written: Vec::new(),
            unchanged: 0,
            bytes: plan.files().iter().map(|file| file.size).sum(),
            signature: Some(verdict).filter(|verdict| !verdict.signatures.is_empty()),
            warnings,
            shown: chitin_runtime::shown(&directory, host),
            directory,
        };
        if self.plan {
            unpacked.actions = Some(plan.actions(whole.contents())?);
        } else {
            self.carry_out(&plan, &whole, &mut unpacked, host, printer)?;
        }
        drop(adding);
        ship::warn(printer, &unpacked.warnings);
        printer.result(&unpacked)
    }

    fn carry_out(
        &self,
        plan: &UnpackPlan,
        whole: &WholeAgent,
        unpacked: &mut Unpacked,
        host: &Host,
        printer: &Printer,
    ) -> Result<(), CliError> {
        let overwrite = if self.overwrite {
            Overwrite::Allow
        } else {
            Overwrite::Refuse
        };
        let applied = apply(
            plan,
            whole.contents(),
            &unpacked.directory,
            ApplyOptions { overwrite },
        )?;
        if applied.how == How::Exchanged
            && host
                .env
                .working_directory()
                .starts_with(&unpacked.directory)
        {
            printer.note("your shell is still in the old directory; `cd .` enters the new one");
        }
        unpacked.written = applied.written;
        unpacked.unchanged = applied.unchanged.len();
        unpacked.warnings.extend(applied.warnings);
        Ok(())
    }

    /// What the artifact's maker set, and over it what the command line says.
    fn options(&self, artifact: &Artifact) -> Result<(LayoutOptions, Vec<PackWarning>), CliError> {
        let adapter = self.adapter.as_deref();
        let (preset, mut warnings) = LayoutOptions::preset(artifact, adapter)?;
        let mut options = preset;
        if self.ignore_options {
            options = LayoutOptions {
                adapter: options.adapter,
                config: options.config,
                ..LayoutOptions::default()
            };
            warnings.clear();
        }
        if self.stax {
            options.layout = LayoutFidelity::Stax;
        }
        match (self.exact, self.permissive) {
            (true, _) => options.mode = Some(LayoutMode::Exact),
            (_, true) => options.mode = Some(LayoutMode::Permissive),
            _ => {}
        }
        for (off, layer) in [
            (self.no_skills, &mut options.skills),
            (self.no_memory, &mut options.memory),
            (self.no_bootstrap, &mut options.bootstrap),
        ] {
            if off {
                *layer = WriteLayer::No;
            }
        }
        if self.strict {
            options.missing = MissingSurfaces::Refuse;
        }
        if self.memory_file {
            options.config.insert(
                "memoryFile".into(),
                json!(format!("surfaces/{MEMORY_SURFACE}")),
            );
        }
        Ok((options, warnings))
    }
}

impl Render for Unpacked {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        if let Some(actions) = &self.actions {
            for action in actions {
                let verb = match action.kind {
                    ActionKind::Mkdir => "make ",
                    ActionKind::Write => "write",
                };
                writeln!(
                    out,
                    "  {} {}",
                    paint.good(verb),
                    plain(&action.path, '\u{fffd}')
                )?;
            }
            let loss = if self.lossy { ", with losses" } else { "" };
            return writeln!(
                out,
                "{} for {} ({}{loss}); nothing was written.",
                count(actions.len(), "action"),
                self.adapter,
                self.fidelity
            );
        }
        for path in &self.written {
            writeln!(out, "  {} {}", paint.good("wrote"), plain(path, '\u{fffd}'))?;
        }
        let place = paint.bold(&self.shown);
        match (self.written.len(), self.unchanged) {
            (0, 0) => writeln!(
                out,
                "The layout of {} supports none of its contents; nothing was written.",
                self.adapter
            ),
            (0, _) => writeln!(out, "{place} is already up to date."),
            (written, 0) => writeln!(
                out,
                "Unpacked {} into {place}, {}.",
                count(written, "file"),
                size(self.bytes)
            ),
            (written, unchanged) => writeln!(
                out,
                "Unpacked {} into {place}; {} had the same content.",
                count(written, "file"),
                count(unchanged, "file")
            ),
        }
    }
}
