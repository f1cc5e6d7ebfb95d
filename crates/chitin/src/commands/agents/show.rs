//! `chitin agents show [DIR]`: what the adapter that claims a directory makes of it.

use crate::args::TargetArgs;
use crate::commands::count;
use crate::error::CliError;
use crate::printer::{Paint, Printer, Render, plain};
use chitin_protocol::agent_id::AgentId;
use chitin_runtime::{AgentIdOrigin, Host, Setup, shown};
use chitin_workspace::adapter::AgentDefinition;
use serde::Serialize;
use std::fmt;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin agents show ./my-agent
  chitin agents show ./my-agent --with ../team --json
  chitin agents show --agent ops")]
pub(super) struct ShowArgs {
    #[command(flatten)]
    target: TargetArgs,
}

/// One agent, as everything that handles it sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    id: AgentId,
    /// Why it has this id.
    identity_from: AgentIdOrigin,
    contract: &'static str,
    #[serde(flatten)]
    definition: AgentDefinition,
    #[serde(skip)]
    directory: String,
    #[serde(skip)]
    with: Vec<String>,
}

impl ShowArgs {
    pub(super) fn run(&self, host: &Host, printer: &Printer) -> Result<Shown, CliError> {
        let setup = Setup::find(host, &self.target.target(), &printer.notes())?;
        Ok(Shown {
            definition: setup.definition(host)?,
            directory: shown(&setup.directory, host),
            with: setup.with.iter().map(|other| shown(other, host)).collect(),
            contract: setup.contract().name,
            identity_from: setup.identity,
            id: setup.agent,
        })
    }
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let definition = &self.definition;
        writeln!(out, "{}", paint.bold(&plain(&definition.name, ' ')))?;
        let why = match self.identity_from {
            AgentIdOrigin::Named => "named with --agent",
            AgentIdOrigin::Configured => "configured",
            AgentIdOrigin::Directory => "from the directory's name and path",
        };
        writeln!(out, "    id          {}  {}", self.id, paint.dim(why))?;
        writeln!(out, "    directory   {}", plain(&self.directory, ' '))?;
        for other in &self.with {
            writeln!(out, "    with        {}", plain(other, ' '))?;
        }
        writeln!(
            out,
            "    adapter     {}",
            plain(&definition.adapter_name, ' ')
        )?;
        writeln!(out, "    contract    {}", self.contract)?;
        for (part, text) in [
            ("identity", &definition.identity),
            ("persona", &definition.persona),
            ("user", &definition.user_profile),
            ("rules", &definition.operating_rules),
        ] {
            let size = if text.trim().is_empty() {
                paint.dim("none")
            } else {
                count(text.lines().count(), "line")
            };
            writeln!(out, "    {part:11} {size}")?;
        }
        writeln!(out, "    skills      {}", definition.skill_paths.len())?;
        let extensions: Vec<&str> = definition.extensions.iter().map(|(name, _)| name).collect();
        let extensions = if extensions.is_empty() {
            paint.dim("none")
        } else {
            plain(&extensions.join(", "), ' ')
        };
        writeln!(out, "    extensions  {extensions}")?;
        for warning in &definition.warnings {
            writeln!(
                out,
                "    {} {}",
                paint.warn("warning:"),
                plain(&warning.to_string(), ' ')
            )?;
        }
        Ok(())
    }
}
