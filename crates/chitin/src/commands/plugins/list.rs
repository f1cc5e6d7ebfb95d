//! `chitin plugins list`.

use super::{NOTHING, configured, describe_offer, until_interrupted};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use chitin_agent::engine::slot;
use chitin_plugin::protocol::PluginOffer;
use chitin_plugin::{PluginSet, PluginTrial};
use chitin_protocol::settings::PluginSettings;
use chitin_runtime::{Configuration, Host};
use futures_util::future::join_all;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    /// The context engine that is configured for all agents.
    context_engine: String,
    plugins: Vec<Row>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: String,
    command: Vec<String>,
    state: State,
    /// The plugin's own name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_itself: Option<String>,
    offers: Vec<PluginOffer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    /// The level of the sandbox, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Ready,
    Failed,
    Disabled,
}

pub(super) fn run(host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let (configuration, set) = configured(host, printer)?;
    let mut plugins = until_interrupted(join_all(
        configuration
            .plugins
            .iter()
            .map(|(name, settings)| row(&set, name, settings)),
    ))?;
    let context_engine = selected(&configuration);
    for row in &mut plugins {
        row.judge_selection(&context_engine);
    }
    printer.result(&Listed {
        context_engine,
        plugins,
    })
}

fn selected(configuration: &Configuration) -> String {
    let own = configuration.layers.settings(None).context_engine;
    own.unwrap_or_else(|| slot(configuration.value()).to_owned())
}

impl Row {
    /// A program that is selected as the context engine and is none is of no use, however well it runs.
    fn judge_selection(&mut self, context_engine: &str) {
        let is_selected = self.name == context_engine && self.state == State::Ready;
        if is_selected && !self.offers.contains(&PluginOffer::ContextEngine) {
            self.state = State::Failed;
            self.problem = Some("it is the selected context engine, and it offers none".to_owned());
            self.hint = Some("Select another with `contextEngine` in `chitin.json5`.".to_owned());
        }
    }
}

async fn row(set: &PluginSet, name: &str, settings: &PluginSettings) -> Row {
    let mut row = Row {
        name: name.to_owned(),
        command: settings.command.clone(),
        state: State::Disabled,
        calls_itself: None,
        offers: Vec::new(),
        priority: settings.priority,
        sandbox: None,
        problem: None,
        hint: None,
    };
    if settings.enabled == Some(false) {
        return row;
    }
    let Some(PluginTrial {
        greeting, sandbox, ..
    }) = set.greet(name).await
    else {
        return row;
    };
    row.sandbox = sandbox.map(|report| report.level.name());
    match greeting {
        Ok((handshake, _)) => {
            row.state = State::Ready;
            row.offers = handshake.offers;
            row.priority = row.priority.or_else(|| handshake.adapter?.priority);
            row.calls_itself = Some(match &handshake.version {
                Some(version) => format!("{} {version}", handshake.name),
                None => handshake.name,
            });
        }
        Err(fault) => {
            row.state = State::Failed;
            row.problem = Some(fault.to_string());
            row.hint = Some(fault.hint(name));
        }
    }
    row
}

impl Render for Listed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        if self.plugins.is_empty() {
            return writeln!(
                out,
                "No plugins are configured. `plugins` in `chitin.json5` names them."
            );
        }
        for row in &self.plugins {
            let state = match row.state {
                State::Ready => paint.good("ready"),
                State::Failed => paint.bad("failed"),
                State::Disabled => paint.dim("disabled"),
            };
            let name = paint.bold(&plain(&row.name, ' '));
            writeln!(out, "{name}  {state}")?;
            writeln!(out, "    command  {}", plain(&row.command.join(" "), ' '))?;
            if let Some(own) = &row.calls_itself {
                writeln!(out, "    program  {}", plain(own, ' '))?;
            }
            if !row.offers.is_empty() {
                let is_selected = row.name == self.context_engine;
                let offers = row.offers.iter().map(|offer| match (offer, row.priority) {
                    (PluginOffer::Adapter, Some(priority)) => {
                        format!("adapter (priority {priority})")
                    }
                    (PluginOffer::ContextEngine, _) if is_selected => {
                        "contextEngine (selected)".to_owned()
                    }
                    (offer, _) => describe_offer(offer),
                });
                writeln!(
                    out,
                    "    offers   {}",
                    offers.collect::<Vec<_>>().join(", ")
                )?;
            }
            if row.offers.is_empty() && row.calls_itself.is_some() {
                writeln!(out, "    offers   {NOTHING}")?;
            }
            match row.sandbox {
                Some("none") => writeln!(out, "    sandbox  {}", paint.warn("none"))?,
                Some(level) => writeln!(out, "    sandbox  {level}, workspace read-only")?,
                None => {}
            }
            if let Some(problem) = &row.problem {
                writeln!(out, "    problem  {}", plain(problem, ' '))?;
            }
            if let Some(hint) = &row.hint {
                writeln!(out, "    {}", paint.dim(&format!("hint: {hint}")))?;
            }
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.plugins.iter().any(|row| row.state == State::Failed) {
            Exit::Findings
        } else {
            Exit::Success
        }
    }
}
