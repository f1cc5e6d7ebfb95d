//! The table that a person reads at a glance.

use super::whole;
use crate::printer::{Paint, Render, grouped, plain};
use chitin_context::degrade::Degraded;
use chitin_context::refresh::RefreshRule;
use chitin_context::view::{FileState, FileView, FragmentView, NOT_THERE, View};
use chitin_context::warning::ContextWarning;
use chitin_context::{CacheClass, FragmentOrigin, FragmentRole};
use chitin_runtime::context::report::ContextReport;
use std::fmt;
use std::path::Path;

/// How wide the bar of shares is.
const BAR: usize = 12;

/// The report of a context as a table.
struct Table<'a>(&'a ContextReport);

impl Render for ContextReport {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        Table(self).text(out, paint)
    }
}

impl Table<'_> {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let view = &self.0.view;
        writeln!(
            out,
            "{}  {}, {}, {} turn\n",
            paint.bold(&plain(&self.0.directory, '\u{fffd}')),
            view.contract,
            plain(&self.0.session, '\u{fffd}'),
            self.0.turn
        )?;
        let names: Vec<String> = view.fragments.iter().map(|one| self.name(one)).collect();
        let width = names.iter().map(|name| name.chars().count()).max();
        let width = width.unwrap_or_default().clamp(12, 44);
        let header = format!(
            "  {:width$}  {:8} {:>9}   {:>9}  {:>7}  {:17}  cache",
            "part", "state", "raw", "injected", "tokens", "share"
        );
        writeln!(out, "{}", paint.dim(&header))?;
        for (fragment, name) in view.fragments.iter().zip(&names) {
            self.row(out, paint, fragment, name, width)?;
        }
        whole::rows(self.0, out, paint, width)?;
        self.absent(out, paint)?;
        self.origins(out, paint)?;
        self.totals(out, paint)?;
        self.trouble(out, paint)
    }

    /// What a row is called: a key, a file's name, or its path below the workspace.
    fn name(&self, fragment: &FragmentView) -> String {
        match &fragment.origin {
            FragmentOrigin::Section { key } => format!("· {key}"),
            FragmentOrigin::Boundary => String::new(),
            FragmentOrigin::File { path, .. } => plain(&self.relative(path), '\u{fffd}'),
        }
    }

    fn relative(&self, path: &str) -> String {
        let below = Path::new(path).strip_prefix(&self.0.base);
        below.map_or_else(|_| path.to_owned(), |below| below.display().to_string())
    }

    fn row(
        &self,
        out: &mut dyn fmt::Write,
        paint: Paint,
        fragment: &FragmentView,
        name: &str,
        width: usize,
    ) -> fmt::Result {
        if fragment.origin == FragmentOrigin::Boundary {
            let share = percent(self.0.view.cached.tokens, self.0.view.total.tokens);
            let line = format!("  ┄┄┄ cache boundary: {share} of the prompt is above ┄┄┄");
            return writeln!(out, "{}", paint.dim(&line));
        }
        let file = self.file_of(fragment);
        let state = file.map_or("", |file| file.state.word());
        let painted = |text: String| match file.map(|file| file.state) {
            Some(FileState::Cut | FileState::Missing) => paint.warn(&text),
            Some(FileState::Refused) => paint.bad(&text),
            Some(FileState::Whole | FileState::LeftOut) => text,
            None => paint.dim(&text),
        };
        let raw = file
            .filter(|file| file.raw.units > 0)
            .map_or_else(String::new, |file| grouped(file.raw.units));
        let arrow = if raw.is_empty() { ' ' } else { '→' };
        let place = match fragment.role {
            FragmentRole::System => "",
            FragmentRole::Conversation => ", in the conversation",
            FragmentRole::BeforeUser => ", before the user's message",
            FragmentRole::AfterUser => ", after the user's message",
            FragmentRole::FirstMessage => ", in the first message",
        };
        let line = format!(
            "  {:width$}  {state:8} {raw:>9} {arrow} {:>9}  {:>7}  {:17}  {}{place}",
            clipped(name, width),
            grouped(fragment.injected.units),
            grouped(fragment.injected.tokens),
            bar(fragment.injected.tokens, self.0.request.size.tokens),
            cache_word(fragment.cache),
        );
        writeln!(out, "{}", painted(line.trim_end().to_owned()))?;
        if let Some(file) = file.filter(|file| !file.reason.is_empty() && file.reason != NOT_THERE)
        {
            writeln!(out, "    {}", paint.dim(&plain(&file.reason, '\u{fffd}')))?;
        }
        Ok(())
    }

    fn file_of(&self, fragment: &FragmentView) -> Option<&FileView> {
        let at = self
            .0
            .view
            .fragments
            .iter()
            .position(|one| std::ptr::eq(one, fragment))?;
        self.0
            .view
            .files
            .iter()
            .find(|file| file.fragment == Some(at))
    }

    fn absent(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let absent: Vec<&FileView> = self
            .0
            .view
            .files
            .iter()
            .filter(|file| file.state == FileState::LeftOut)
            .collect();
        if absent.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", paint.bold("Not in the prompt"))?;
        for file in absent {
            let name = plain(&self.relative(&file.path), '\u{fffd}');
            let reason = plain(&file.reason, '\u{fffd}');
            writeln!(out, "  {name}: {}", paint.dim(&reason))?;
        }
        Ok(())
    }

    /// Where texts come from that are not the owner's. Where there are none, nothing is taken away.
    fn origins(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let origins = &self.0.origins;
        if origins.untrusted.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", paint.bold("Origins"))?;
        writeln!(out, "  the owner's: {}", origins.trusted.join(", "))?;
        for untrusted in &origins.untrusted {
            let text = plain(&untrusted.text, '\u{fffd}');
            writeln!(out, "  {} {text}", paint.warn("not the owner's:"))?;
        }
        for taken in &origins.taken_away {
            let allow = paint.dim(&format!("(`access.untrusted.allow`: `{}`)", taken.allow));
            writeln!(out, "  needs the owner to {} {allow}", taken.what)?;
        }
        Ok(())
    }

    fn totals(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let total = &self.0.view.total;
        writeln!(
            out,
            "\n{} {} characters, {} bytes, {} lines, {}{} tokens ({})",
            paint.bold("System prompt:"),
            grouped(total.units),
            grouped(total.bytes),
            grouped(total.lines),
            if self.0.tokens_basis == "exact" {
                ""
            } else {
                "about "
            },
            grouped(total.tokens),
            self.0.tokens_basis
        )?;
        whole::lines(self.0, out, paint)?;
        writeln!(out, "  {}", plain(&self.0.model.line(), '\u{fffd}'))?;
        let limits = &self.0.view.limits;
        let unit = match limits.unit {
            chitin_context::budget::LimitUnit::Characters => "characters",
            chitin_context::budget::LimitUnit::Tokens => "tokens",
        };
        let bounds = if limits.per_file == usize::MAX {
            "no limits: this contract does not truncate".to_owned()
        } else {
            let total = limits.total.map_or_else(|| "no limit".to_owned(), grouped);
            let per_file = grouped(limits.per_file);
            format!("limits: {per_file} {unit} a file, {total} for all files")
        };
        writeln!(
            out,
            "  {}",
            paint.dim(&format!(
                "{bounds}; edits take effect {}",
                match self.0.refresh {
                    RefreshRule::Live => "on the next turn",
                    RefreshRule::Session => "when the session is reset or compacted",
                }
            ))
        )
    }

    /// What the author should look at.
    fn trouble(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for line in trouble(&self.0.view, self.0.degraded.as_ref()) {
            let line = plain(&line, '\u{fffd}');
            writeln!(out, "{} {line}", paint.warn("warning:"))?;
        }
        Ok(())
    }
}

/// What the author should look at, a sentence each: refusals, cuts, what spoils the cache, what a plan did.
pub(super) fn trouble(view: &View, degraded: Option<&Degraded>) -> Vec<String> {
    let mut lines: Vec<String> = view.warnings.iter().map(sentence).collect();
    for at in &view.volatile {
        let part = match &view.fragments[*at].origin {
            FragmentOrigin::Section { key } => (*key).to_owned(),
            FragmentOrigin::File { name, .. } => name.to_string(),
            FragmentOrigin::Boundary => continue,
        };
        lines.push(format!(
            "`{part}` may change on any turn and is above the cache boundary; a change invalidates the cache from there on."
        ));
    }
    if let Some(degraded) = degraded.filter(|degraded| degraded.taken > 0 || !degraded.fits()) {
        let fits = if degraded.fits() {
            ""
        } else {
            "; it still does not fit"
        };
        lines.push(format!(
            "The plan `{}` took {} of its {} steps: {} tokens became {}, {} are allowed{fits}.",
            degraded.plan.name,
            degraded.taken,
            degraded.plan.steps.len(),
            grouped(degraded.before),
            grouped(degraded.after),
            grouped(degraded.allowed)
        ));
    }
    lines
}

const fn cache_word(class: CacheClass) -> &'static str {
    match class {
        CacheClass::Stable => "stable",
        CacheClass::Session => "session",
        CacheClass::Dynamic => "dynamic",
    }
}

fn clipped(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    let tail: Vec<char> = name.chars().rev().take(width.saturating_sub(1)).collect();
    std::iter::once('…').chain(tail.into_iter().rev()).collect()
}

fn percent(part: usize, whole: usize) -> String {
    format!("{} %", (part * 200 + whole.max(1)) / (2 * whole.max(1)))
}

/// Draws a share as a bar and a percentage.
pub(super) fn bar(part: usize, whole: usize) -> String {
    let eighths = (part * BAR * 8).div_ceil(whole.max(1)).min(BAR * 8);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(['▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8 - 1]);
    }
    let share = percent(part, whole);
    format!("{bar:BAR$} {share:>4}")
}

/// Says what went otherwise than the author may think, as a sentence.
fn sentence(warning: &ContextWarning) -> String {
    match warning {
        ContextWarning::Refused { name, reason } => {
            format!("`{name}` was not read ({reason}): {}.", reason.meaning())
        }
        ContextWarning::Oversize { name, size } => {
            format!(
                "`{name}` has {} bytes; only its beginning was read.",
                grouped_u64(*size)
            )
        }
        ContextWarning::Truncated {
            name,
            length,
            limit,
        } => format!(
            "`{name}` has {} characters and was truncated to {}.",
            grouped(*length),
            grouped(*limit)
        ),
        ContextWarning::Stopped { remaining } => format!(
            "Only {} were left of the limit for all files; all further files are omitted.",
            grouped(*remaining)
        ),
        ContextWarning::Skipped { name } => format!("`{name}` has no path and was skipped."),
    }
}

fn grouped_u64(number: u64) -> String {
    usize::try_from(number).map_or_else(|_| number.to_string(), grouped)
}
