//! `chitin config validate`.

use super::marked::Marked;
use super::{may_tell, networks};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Render};
use chitin_config::{
    ConfigError, ConfigFile, Issue, IssueSeverity, LoadedChitinConfig, LoadedConfig, OWN_FILE,
    place_issue,
};
use chitin_contract::Contract;
use chitin_gateway::route::Routing;
use chitin_runtime::Host;
use chitin_runtime::{self, chosen_contract};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// What checking came to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Validated {
    file: PathBuf,
    /// The contract whose keys it was judged by; Chitin's own file has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    contract: Option<&'static str>,
    present: bool,
    /// Whether nothing is wrong, in any file.
    valid: bool,
    issues: Vec<Marked>,
    files: Vec<ConfigFile>,
    /// Chitin's own file, where it is judged beside the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnFile>,
    #[serde(skip)]
    file_valid: bool,
}

/// Chitin's own file, judged.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnFile {
    file: PathBuf,
    valid: bool,
}

/// A file, judged.
#[derive(Default)]
struct Sheet {
    present: bool,
    issues: Vec<Marked>,
    files: Vec<ConfigFile>,
}

impl Sheet {
    /// A file that cannot be read at all.
    fn broken(error: &ConfigError) -> Self {
        let line = error.source.source_line.as_deref();
        let line = line.filter(|line| !may_tell(line));
        Self {
            present: true,
            issues: vec![Marked::new(error.issue(), line)],
            files: Vec::new(),
        }
    }

    fn is_valid(&self) -> bool {
        !self.issues.iter().any(Marked::is_error)
    }
}

/// Judges a file, or those that are in use.
pub(super) fn run(
    host: &Host,
    contract: Option<&str>,
    file: Option<&Path>,
) -> Result<Validated, CliError> {
    let named = file.map(|file| host.env.resolve(file));
    if let Some(path) = &named
        && path.ends_with(OWN_FILE)
    {
        let directory = path.parent().unwrap_or(path);
        let sheet = match chitin_config::load_chitin_config(directory) {
            Ok(own) => own_sheet(own.ok_or_else(|| missing(path))?, Vec::new()),
            Err(error) => Sheet::broken(&error),
        };
        return Ok(Validated::of(path.clone(), None, sheet, None));
    }
    let home = chitin_runtime::chitin_home(host);
    let own = match home.as_deref().map(chitin_config::load_chitin_config) {
        None | Some(Ok(None)) => Ok(None),
        Some(Ok(own)) => Ok(own),
        Some(Err(error)) => Err(error),
    };
    let usable = own.as_ref().ok().and_then(Option::as_ref);
    let rules = chosen_contract(host, contract, usable)?;
    let Some(path) = named else {
        let path = chitin_runtime::config_file(host, rules)?;
        let lacks = networks::of_accounts(host, contract, usable);
        let (lacks, elsewhere) = split(lacks, usable);
        let sheet = openclaw_sheet(&path, host, rules, elsewhere);
        let beside = match own {
            Ok(own) => own.map(|own| (own.path.clone(), own_sheet(own, lacks))),
            Err(error) => home.map(|home| (home.join(OWN_FILE), Sheet::broken(&error))),
        };
        return Ok(Validated::of(path, Some(rules.name), sheet, beside));
    };
    let sheet = openclaw_sheet(&path, host, rules, Vec::new());
    if !sheet.present {
        return Err(missing(&path));
    }
    Ok(Validated::of(path, Some(rules.name), sheet, None))
}

fn missing(path: &Path) -> CliError {
    CliError::new(
        FailureKind::User,
        format!("`{}` does not exist.", path.display()),
    )
}

/// Tells what is about Chitin's own file from the rest.
fn split(issues: Vec<Issue>, own: Option<&LoadedChitinConfig>) -> (Vec<Issue>, Vec<Issue>) {
    let is_in = |issue: &Issue, own: &LoadedChitinConfig| {
        let mut files = own.files.iter();
        files.any(|file| Some(&file.path) == issue.file.as_ref())
    };
    issues
        .into_iter()
        .partition(|issue| own.is_some_and(|own| is_in(issue, own)))
}

fn own_sheet(own: LoadedChitinConfig, lacks: Vec<Issue>) -> Sheet {
    let mut issues = own.issues.clone();
    for issue in issues
        .iter_mut()
        .filter(|issue| chitin_runtime::guards(&issue.path))
    {
        // No command goes on with it, so it is no small matter.
        issue.severity = IssueSeverity::Error;
    }
    issues.extend(networks::of_own(&own));
    issues.extend(lacks);
    sort(&mut issues);
    Sheet {
        present: true,
        issues: Marked::all(issues, &own.files, &own.value),
        files: own.files,
    }
}

fn openclaw_sheet(path: &Path, host: &Host, rules: &Contract, lacks: Vec<Issue>) -> Sheet {
    match chitin_config::load(path, &host.env, rules.config) {
        Ok(Some(loaded)) => {
            let mut issues = loaded.issues.clone();
            issues.extend(networks::of_openclaw(&loaded));
            issues.extend(guests(&loaded, rules));
            issues.extend(lacks);
            sort(&mut issues);
            Sheet {
                present: true,
                issues: Marked::all(issues, &loaded.files, &loaded.value),
                files: loaded.files,
            }
        }
        Ok(None) => Sheet {
            issues: Marked::all(lacks, &[], &serde_json::Value::Null),
            ..Sheet::default()
        },
        Err(error) => Sheet::broken(&error),
    }
}

/// Says which session guests have where that differs from what people may expect.
fn guests(loaded: &LoadedConfig, rules: &Contract) -> Option<Issue> {
    let note = Routing::guest_note(&loaded.value, rules)?;
    let issue = Issue::new(IssueSeverity::Note, "session.dmScope", note);
    Some(place_issue(issue, &loaded.files, &loaded.value))
}

/// People fix a file from top to bottom. What has no place comes last.
fn sort(issues: &mut [Issue]) {
    issues.sort_by(|a, b| {
        let place = |issue: &Issue| {
            (
                issue.file.is_none(),
                issue.file.clone(),
                issue.line,
                issue.column,
            )
        };
        place(a).cmp(&place(b))
    });
}

impl Validated {
    fn of(
        file: PathBuf,
        contract: Option<&'static str>,
        sheet: Sheet,
        own: Option<(PathBuf, Sheet)>,
    ) -> Self {
        let mut validated = Self {
            file,
            contract,
            present: sheet.present,
            file_valid: sheet.is_valid(),
            valid: sheet.is_valid(),
            issues: sheet.issues,
            files: sheet.files,
            own: None,
        };
        if let Some((file, sheet)) = own {
            let valid = sheet.is_valid();
            validated.valid &= valid;
            validated.issues.extend(sheet.issues);
            validated.files.extend(sheet.files);
            validated.own = Some(OwnFile { file, valid });
        }
        validated
    }
}

impl Render for Validated {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for marked in &self.issues {
            marked.text(out, paint)?;
        }
        let verdict = |valid: bool| {
            if valid {
                paint.good("valid")
            } else {
                paint.bad("not valid")
            }
        };
        let (file, is) = (self.file.display(), verdict(self.file_valid));
        match self.contract {
            _ if !self.present => writeln!(out, "There is no `{file}`; nothing to check.")?,
            Some(contract) => writeln!(out, "`{file}` is {is} for {contract}.")?,
            None => writeln!(out, "`{file}` is {is}.")?,
        }
        if let Some(own) = &self.own {
            let is = verdict(own.valid);
            writeln!(out, "`{}` is {is}.", own.file.display())?;
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.valid {
            Exit::Success
        } else {
            Exit::Config
        }
    }
}
