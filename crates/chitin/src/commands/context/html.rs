//! The page for a browser: the workspace through the eyes of every contract.

use super::Args;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::page::{self, Page};
use crate::printer::{Paint, Printer, Render};
use chitin_context::view::{FileState, Measure};
use chitin_context::{
    BudgetDecision, CacheClass, Context, FragmentOrigin, FragmentRole, FragmentSource,
};
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use chitin_runtime::context::report::ContextReport;
use chitin_runtime::context::{
    ComparedContext, FileSource, HistoryState, Reckoning, TurnContext, WhichTurn,
};
use chitin_runtime::display::sentence;
use chitin_runtime::{AgentTarget, Setup, shown};
use chitin_runtime::{Host, Notes};
use memchr::memchr_iter;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// How much of an existing file is looked at to know an earlier page.
const HEAD_BYTES: u64 = 4096;

/// What was written.
#[derive(Debug, Serialize)]
struct Wrote {
    file: String,
    bytes: usize,
    views: Vec<String>,
}

impl Render for Wrote {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "wrote {} ({} bytes)",
            paint.bold(&self.file),
            self.bytes
        )
    }
}

pub(super) fn write(
    args: &Args,
    host: &Host,
    setup: &Setup,
    seen: &TurnContext,
    other: Option<&ComparedContext>,
    file: &Path,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let mut views = vec![one_view(
        args,
        host,
        setup,
        seen,
        seen.context.contract.name,
    )];
    if let Some(other) = other {
        views.push(one_view(
            args,
            host,
            &other.setup,
            &other.context,
            &other.label,
        ));
    }
    for contract in chitin_contract::ALL {
        if views.iter().any(|view| view.label == contract.name) {
            continue;
        }
        let target = AgentTarget {
            contract: Some(contract.name.to_owned()),
            ..args.target.target()
        };
        // A contract that cannot read the workspace, or has no such session, is left out of the switcher.
        let request = args.turn.request();
        let looked = request
            .find(host, &target, &Notes::none())
            .and_then(|setup| {
                let seen = request.context(host, &setup, FileSource::Disk)?;
                Ok(one_view(args, host, &setup, &seen, contract.name))
            });
        match looked {
            Ok(view) => views.push(view),
            Err(error) => printer.note(&format!("not shown as {}: {error}", contract.name)),
        }
    }
    let title = setup.directory.file_name();
    let page = Page {
        title: title.map_or_else(
            || "workspace".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        ),
        directory: shown(&setup.directory, host),
        session: Some(seen.session.clone()),
        turn: match seen.turn {
            WhichTurn::First => "first turn".to_owned(),
            WhichTurn::Next | WhichTurn::AsStored => "later turn".to_owned(),
        },
        generator: concat!("chitin ", env!("CARGO_PKG_VERSION")).to_owned(),
        texts: texts(&seen.context),
        views,
    };
    let bytes = page::render(&page);
    save(host, &seen.context, file, bytes.as_bytes())?;
    printer.result(&Wrote {
        file: file.display().to_string(),
        bytes: bytes.len(),
        views: page.views.into_iter().map(|view| view.label).collect(),
    })
}

/// Writes the page whole or not at all, and never in place of a file that it is about.
fn save(host: &Host, context: &Context, file: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let path = chitin_guard::normalized(&host.env.resolve(file));
    let mut records = context.files.records.iter();
    if records.any(|record| record.path == path) {
        let message = format!("`{}` is a file of the workspace.", file.display());
        return Err(CliError::new(FailureKind::Usage, message)
            .hint("use another file name, such as `context.html`"));
    }
    let unwritable = |error: Box<dyn std::error::Error + Send + Sync>| {
        let message = format!("`{}` cannot be written.", file.display());
        CliError::new(FailureKind::User, message).caused_by(error)
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(CliError::new(
            FailureKind::Usage,
            format!("`{}` is not a file name.", file.display()),
        ));
    };
    let root = Root::open(parent).map_err(|error| unwritable(Box::new(error)))?;
    if !may_replace(&root, Path::new(name)) {
        let message = format!("`{}` exists and was not written by Chitin.", file.display());
        return Err(CliError::new(FailureKind::Refused, message)
            .hint("name another file, or delete this one first"));
    }
    root.replace(Path::new(name), bytes)
        .map_err(|error| unwritable(Box::new(error)))?;
    Ok(())
}

/// Only nothing, an empty file and an earlier page may be replaced. What cannot be read is left to the write to refuse.
fn may_replace(root: &Root, name: &Path) -> bool {
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Allow,
        max_bytes: HEAD_BYTES,
        oversized: Oversized::Keep,
    };
    root.read(name, &policy).is_ok_and(|read| {
        let head = String::from_utf8_lossy(&read.bytes);
        head.is_empty() || head.contains(page::GENERATOR)
    }) || root.kind(name).is_none()
}

fn texts(context: &Context) -> Vec<page::FileText> {
    let records = context.files.records.iter();
    records
        .filter_map(|record| {
            Some(page::FileText {
                path: record.path.to_string_lossy().into_owned(),
                name: record.name.to_string(),
                text: record.content()?.text.to_string(),
            })
        })
        .collect()
}

fn one_view(
    args: &Args,
    host: &Host,
    setup: &Setup,
    seen: &TurnContext,
    label: &str,
) -> page::View {
    let context = &seen.context;
    let report = args.figures(host, setup, seen);
    let plain = &report.view;
    let fragments = context
        .fragments
        .iter()
        .zip(&plain.fragments)
        .map(|(fragment, figures)| {
            let (kind, title, path) = match &fragment.origin {
                FragmentOrigin::Boundary => (
                    page::FragmentKind::Boundary,
                    "cache boundary".to_owned(),
                    None,
                ),
                FragmentOrigin::Section { key } => {
                    (page::FragmentKind::Section, (*key).to_owned(), None)
                }
                FragmentOrigin::File { name, path, .. } => (
                    page::FragmentKind::File,
                    name.to_string(),
                    Some(path.to_string()),
                ),
            };
            let (decision, reason) = decision(&fragment.decision);
            let mut pieces = Vec::with_capacity(fragment.pieces.len() + 1);
            if !fragment.lead.is_empty() {
                pieces.push(page::PieceView {
                    text: fragment.lead.to_owned(),
                    source: page::PieceSource::Ours,
                    first_line: None,
                });
            }
            let whole = file_text(context, path.as_deref());
            pieces.extend(fragment.pieces.iter().map(|piece| {
                let (source, at) = match piece.source {
                    FragmentSource::Ours => (page::PieceSource::Ours, None),
                    FragmentSource::Given => (page::PieceSource::Given, None),
                    FragmentSource::File { start, .. } => (page::PieceSource::File, Some(start)),
                    FragmentSource::Rewritten { start, .. } => {
                        (page::PieceSource::Rewritten, Some(start))
                    }
                };
                page::PieceView {
                    text: piece.text.as_str().to_owned(),
                    source,
                    first_line: at.map(|at| line_of(whole, at)),
                }
            }));
            page::FragmentView {
                id: path.clone().unwrap_or_else(|| title.clone()),
                kind,
                title,
                path,
                role: match fragment.role {
                    FragmentRole::System => page::Role::System,
                    // A message of its own before the user's.
                    FragmentRole::Conversation | FragmentRole::BeforeUser => page::Role::BeforeUser,
                    FragmentRole::AfterUser | FragmentRole::FirstMessage => page::Role::AfterUser,
                },
                cache: match fragment.cache {
                    CacheClass::Stable => page::Cache::Stable,
                    CacheClass::Session => page::Cache::Session,
                    CacheClass::Dynamic => page::Cache::Dynamic,
                },
                raw: size(figures.raw),
                injected: size(figures.injected),
                decision,
                reason,
                pieces,
            }
        });
    let fragments: Vec<_> = fragments.collect();
    let files = plain.files.iter().map(|file| {
        let text = file_text(context, Some(&file.path));
        page::FileView {
            name: file.name.clone(),
            path: file.path.clone(),
            state: match file.state {
                FileState::Whole => page::FileState::Whole,
                FileState::Cut => page::FileState::Cut,
                FileState::Missing => page::FileState::Missing,
                FileState::Refused => page::FileState::Refused,
                FileState::LeftOut => page::FileState::LeftOut,
            },
            raw: size(file.raw),
            injected: size(file.injected),
            reason: file.reason.clone(),
            fragment: file.fragment,
            regions: file
                .regions
                .iter()
                .map(|region| page::Region {
                    kept: region.missing.is_none(),
                    start_line: line_of(text, region.start),
                    end_line: line_of(text, region.end.saturating_sub(1).max(region.start)),
                    text: text
                        .get(region.start..region.end)
                        .unwrap_or_default()
                        .to_owned(),
                    why: region
                        .missing
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                })
                .collect(),
        }
    });
    page::View {
        label: label.to_owned(),
        contract: context.contract.name.to_owned(),
        summary: context.contract.summary.to_owned(),
        model: model_line(&report.model),
        request: request(&report),
        tokens_basis: report.tokens_basis.to_owned(),
        size: size(plain.total),
        cached: size(plain.cached),
        boundary: plain.boundary,
        files: files.collect(),
        fragments,
        warnings: super::table::trouble(plain, seen.degraded.as_ref())
            .into_iter()
            .chain(report.notes.iter().map(|note| sentence(note)))
            .collect(),
    }
}

fn size(measure: Measure) -> page::Size {
    page::Size {
        units: measure.units,
        bytes: measure.bytes,
        tokens: measure.tokens,
        lines: measure.lines,
    }
}

fn decision(decision: &BudgetDecision) -> (String, String) {
    match decision {
        BudgetDecision::BuiltIn => ("built in".to_owned(), String::new()),
        BudgetDecision::Whole => ("whole".to_owned(), String::new()),
        BudgetDecision::Cut { limit, causes } => {
            let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
            (
                "cut".to_owned(),
                format!("truncated to {limit}: {}", causes.join(", ")),
            )
        }
        BudgetDecision::Missing => ("missing".to_owned(), "the file does not exist".to_owned()),
        BudgetDecision::Refused { reason } => (
            "refused".to_owned(),
            format!("{reason}: {}", reason.meaning()),
        ),
    }
}

fn file_text<'a>(context: &'a Context, path: Option<&str>) -> &'a str {
    let record = context
        .files
        .records
        .iter()
        .find(|record| path.is_some_and(|path| record.path.to_string_lossy() == path));
    record
        .and_then(|record| record.content())
        .map_or("", |content| &content.text)
}

/// The line of a byte, counted from 1.
fn line_of(text: &str, byte: usize) -> usize {
    1 + memchr_iter(b'\n', &text.as_bytes()[..byte.min(text.len())]).count()
}

/// What the page says of the model.
fn model_line(model: &Reckoning) -> page::ModelLine {
    page::ModelLine {
        name: model.model.clone(),
        window: model.window,
        share_permille: model.share_permille,
        price_per_turn: model.cost.map(|cost| cost.to_string()),
        price_cached: model.cost_cached.map(|cost| cost.to_string()),
    }
}

/// What the page says of the whole request.
fn request(report: &ContextReport) -> page::Request {
    let part = |name: &str, note: String, tokens| page::RequestPart {
        name: name.to_owned(),
        note,
        tokens,
    };
    let (tools, history) = (&report.tool_definitions, &report.history);
    let mut parts = vec![
        part(
            "Tool definitions",
            format!("{} tools", tools.tools.len()),
            Some(tools.size.tokens),
        ),
        part(
            "History",
            match history.state {
                HistoryState::New => "no history".to_owned(),
                HistoryState::Expired => "no history: the session expired".to_owned(),
                HistoryState::Kept => format!("{} messages", history.messages),
                HistoryState::Unknown => "it could not be read".to_owned(),
            },
            history.size.map(|size| size.tokens),
        ),
    ];
    if let Some(message) = report.message {
        parts.push(part("Message", String::new(), Some(message.tokens)));
    }
    page::Request {
        size: size(report.request.size),
        complete: report.request.complete,
        parts,
    }
}
