//! What of the list fits, worked out from lengths alone: nothing is written until the answer is known (S54–S59).

use super::Form;
use super::compat::{LEAD, LIST_END, LIST_START};
use super::description::{CutLengths, is_blank};
use super::entry::{DESCRIPTION_LINE, Described, Entry};
use super::prose::{CatalogueNotice, counted_guidance, counted_notice};
use chitin_contract::{CatalogueFitting, CatalogueRules, WindowShare};

/// What is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    /// The form.
    pub(super) form: Form,
    /// How many skills.
    pub(super) included: usize,
    /// Whether the notice is printed that form and count call for.
    pub(super) notice: bool,
    /// Whether the note about remote nodes is printed.
    pub(super) remote: bool,
    /// The length to which descriptions are cut because the window is small.
    pub(super) window_cut: Option<usize>,
    /// The length as limits count it.
    pub(super) counted: usize,
}

impl Choice {
    /// Returns what is written of each description.
    pub(super) fn described(&self) -> Described {
        match (self.form, self.window_cut) {
            (Form::Full, None) => Described::Whole,
            (Form::Full, Some(cut)) => Described::Cut(cut),
            (Form::Shortened(cut), None) => Described::CutOrGone(cut),
            (Form::Shortened(cut), Some(window)) => Described::CutOrGone(cut.min(window)),
            (Form::Compact, _) => Described::Gone,
        }
    }
}

/// Lengths of everything that could be written.
pub(super) struct Lengths<'a> {
    /// The skills that the count allows, in order.
    entries: &'a [Entry<'a>],
    /// The lengths of the first 0, 1, 2… skills without descriptions.
    compact: Vec<usize>,
    /// The length of all of them with whole descriptions.
    full: usize,
    /// How many there are to list, those above the count included.
    total: usize,
    /// The length of the note about remote nodes, if there is one.
    remote: Option<usize>,
    rules: &'a CatalogueRules,
}

impl<'a> Lengths<'a> {
    pub(super) fn new(
        entries: &'a [Entry<'a>],
        total: usize,
        remote: Option<usize>,
        rules: &'a CatalogueRules,
    ) -> Self {
        let mut compact = Vec::with_capacity(entries.len() + 1);
        let (mut so_far, mut described) = (0, 0);
        compact.push(so_far);
        for entry in entries {
            so_far += entry.compact;
            described += entry.description + DESCRIPTION_LINE;
            compact.push(so_far);
        }
        Self {
            entries,
            compact,
            full: so_far + described,
            total,
            remote,
            rules,
        }
    }

    /// Decides what is written under a limit, for a model with a window of so many tokens.
    pub(super) fn choose(&self, limit: usize, context_tokens: Option<usize>) -> Choice {
        let choice = match self.rules.fitting {
            CatalogueFitting::NamesOnly { notice_reserve } => {
                self.names_only(limit, notice_reserve)
            }
            CatalogueFitting::Shortened { shortest, longest } => {
                self.shortened(limit, shortest, longest)
            }
        };
        match (&self.rules.window_share, context_tokens) {
            (Some(share), Some(tokens)) if tokens > 0 => self.cut_for_window(choice, share, tokens),
            (Some(_) | None, _) => choice,
        }
    }

    /// The list alone is held against the limit; what stands before it is always printed.
    fn names_only(&self, limit: usize, notice_reserve: usize) -> Choice {
        let all = self.entries.len();
        let (form, included, skills) = if self.list(Form::Full, all, self.full) <= limit {
            (Form::Full, all, self.full)
        } else {
            let room = limit.checked_sub(notice_reserve);
            let fits = |count: usize| {
                let length = self.list(Form::Compact, count, self.compact[count]);
                room.is_some_and(|room| length <= room)
            };
            let count = largest(all, fits);
            (Form::Compact, count, self.compact[count])
        };
        let shown = Shown {
            notice: true,
            remote: true,
        };
        self.choice(form, included, skills, shown)
    }

    /// Everything is held against the limit. A note about remote nodes gives way first, then descriptions, then skills; the
    /// notice gives way only if no skill fits beside it.
    fn shortened(&self, limit: usize, shortest: usize, longest: usize) -> Choice {
        let all = self.entries.len();
        let length = |form, count, skills, notice| {
            let shown = Shown {
                notice,
                remote: false,
            };
            self.choice(form, count, skills, shown).counted
        };
        let compact = |count: usize, notice| {
            length(Form::Compact, count, self.compact[count], notice) <= limit
        };
        let finish = |form, count, skills, notice| {
            let with_remote = Shown {
                notice,
                remote: true,
            };
            let choice = self.choice(form, count, skills, with_remote);
            if choice.counted <= limit {
                return choice;
            }
            let shown = Shown {
                notice,
                remote: false,
            };
            self.choice(form, count, skills, shown)
        };
        if length(Form::Full, all, self.full, true) <= limit {
            return finish(Form::Full, all, self.full, true);
        }
        let mut count = largest(all, |count| compact(count, true));
        if count == 0 && all > 0 {
            if length(Form::Full, all, self.full, false) <= limit {
                return finish(Form::Full, all, self.full, false);
            }
            count = largest(all, |count| compact(count, false));
        }
        let notice = compact(count, true);
        if count > 0 {
            let frame = length(
                Form::Shortened(shortest),
                count,
                self.compact[count],
                notice,
            );
            let lengths = self.cut_lengths(count, shortest, longest, BlankLines::Gone);
            if let Some((cut, described)) = limit
                .checked_sub(frame)
                .and_then(|room| lengths.largest_within(room))
            {
                let skills = self.compact[count] + described;
                return finish(Form::Shortened(cut), count, skills, notice);
            }
        }
        finish(Form::Compact, count, self.compact[count], notice)
    }

    /// Cuts descriptions once more when the list takes too much of the window. Nothing else gives way.
    fn cut_for_window(&self, choice: Choice, share: &WindowShare, tokens: usize) -> Choice {
        let target = tokens / share.tokens_per_unit.max(1);
        if choice.counted <= target {
            return choice;
        }
        let count = choice.included;
        let (blank_lines, printed, longest) = match choice.form {
            Form::Full => (
                BlankLines::Kept,
                self.full - self.compact[count],
                share.longest,
            ),
            Form::Shortened(cut) if cut > share.shortest => {
                let lengths = self.cut_lengths(count, cut, cut, BlankLines::Gone);
                (BlankLines::Gone, lengths.under(cut), share.longest.min(cut))
            }
            // It is as short as it would become.
            Form::Shortened(_) | Form::Compact => return choice,
        };
        let lengths = self.cut_lengths(count, share.shortest, longest, blank_lines);
        let rest = choice.counted - printed;
        let (cut, described) = target
            .checked_sub(rest)
            .and_then(|room| lengths.largest_within(room))
            .unwrap_or((share.shortest, lengths.under(share.shortest)));
        if described >= printed {
            return choice;
        }
        Choice {
            window_cut: Some(cut),
            counted: rest + described,
            ..choice
        }
    }

    /// Measures the first descriptions, lines included, for every length that they may be cut to.
    fn cut_lengths(
        &self,
        count: usize,
        shortest: usize,
        longest: usize,
        blank_lines: BlankLines,
    ) -> CutLengths {
        let mut lengths = CutLengths::new(shortest..=longest);
        for entry in &self.entries[..count] {
            match blank_lines {
                BlankLines::Gone if is_blank(entry.text()) => {}
                BlankLines::Gone | BlankLines::Kept => lengths.add(entry.text(), DESCRIPTION_LINE),
            }
        }
        lengths
    }

    /// Returns the length of a list with its guidance; no skills make no list.
    fn list(&self, form: Form, count: usize, skills: usize) -> usize {
        if count == 0 {
            return 0;
        }
        LEAD.len() + counted_guidance(form, self.rules) + LIST_START.len() + skills + LIST_END.len()
    }

    fn choice(&self, form: Form, included: usize, skills: usize, shown: Shown) -> Choice {
        let notice = CatalogueNotice::needed(included, self.total, form).filter(|_| shown.notice);
        let remote = self.remote.filter(|_| shown.remote);
        let parts = [
            remote.unwrap_or(0),
            notice.map_or(0, |notice| counted_notice(&notice, self.rules)),
            self.list(form, included, skills),
        ];
        let joints = parts.iter().filter(|length| **length > 0).count();
        Choice {
            form,
            included,
            notice: notice.is_some(),
            remote: remote.is_some(),
            window_cut: None,
            counted: parts.iter().sum::<usize>() + joints.saturating_sub(1),
        }
    }
}

/// What stands before the list, if there is any of it.
#[derive(Clone, Copy)]
struct Shown {
    notice: bool,
    remote: bool,
}

/// What becomes of the line of a description that is blank.
#[derive(Clone, Copy)]
enum BlankLines {
    /// It stays.
    Kept,
    /// It is left out.
    Gone,
}

/// Returns the largest count up to `all` that fits. A longer list never fits where a shorter one does not: a skill takes
/// more than a notice can save.
fn largest(all: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, all);
    while low < high {
        let middle = high - (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
