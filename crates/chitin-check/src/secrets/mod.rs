//! Secrets in text: one pass over the tokens, no regular expressions, and nothing found is ever shown whole.

mod assignments;
mod blocks;
mod randomness;
mod shapes;
mod tokens;

use super::finding::{Draft, Findings};
use super::rules;
use super::subject::Subject;
use std::borrow::Cow;
use std::ops::Range;

/// More secrets than this in one text are not looked for.
const MAX_SECRETS: usize = 10_000;

/// What sort of secret it is; the order decides between two readings of the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SecretKind {
    PrivateKey,
    Webhook,
    Key,
    WebToken,
    Assignment,
}

/// A secret in a text.
#[derive(Debug, Clone)]
pub(crate) struct Secret {
    pub(crate) span: Range<usize>,
    pub(crate) kind: SecretKind,
    /// What it is, as the object of a sentence.
    pub(crate) what: Cow<'static, str>,
    /// What may be shown of it.
    pub(crate) shown: String,
}

impl Secret {
    fn new(
        kind: SecretKind,
        span: Range<usize>,
        what: impl Into<Cow<'static, str>>,
        shown: String,
    ) -> Self {
        Self {
            span,
            kind,
            what: what.into(),
            shown,
        }
    }
}

/// Finds the secrets of a text, in order, none overlapping another.
pub(crate) fn scan(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    blocks::scan(text, &mut found);
    tokens::scan(text, &mut found);
    assignments::scan(text, &mut found);
    if found.is_empty() {
        return found;
    }
    found.sort_by_key(|secret| (secret.kind, secret.span.start));
    let mut kept: Vec<Secret> = Vec::new();
    // The stronger reading comes first; a weaker one that touches it only makes it wider.
    for secret in found {
        let at = kept.partition_point(|other| other.span.end <= secret.span.start);
        match kept.get_mut(at) {
            Some(other) if other.span.start < secret.span.end => {
                other.span.start = other.span.start.min(secret.span.start);
                other.span.end = other.span.end.max(secret.span.end);
            }
            Some(_) | None => kept.insert(at, secret),
        }
    }
    // Widening can make neighbours touch.
    kept.dedup_by(|later, earlier| {
        let overlap = later.span.start < earlier.span.end;
        if overlap {
            earlier.span.end = earlier.span.end.max(later.span.end);
        }
        overlap
    });
    kept
}

/// Replaces every secret in a text by what may be shown of it.
pub fn redact_secrets(text: &str) -> Cow<'_, str> {
    let secrets = scan(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut at = 0;
    for secret in &secrets {
        safe.push_str(&text[at..secret.span.start]);
        safe.push_str(&secret.shown);
        at = secret.span.end;
    }
    safe.push_str(&text[at..]);
    Cow::Owned(safe)
}

/// Reports the secrets of a subject.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for secret in &subject.secrets {
        let Secret { what, shown, .. } = secret;
        let (rule, message) = match secret.kind {
            SecretKind::PrivateKey => (&rules::PRIVATE_KEY, format!("Found {what}.")),
            SecretKind::Webhook => (&rules::WEBHOOK, format!("Found {what}: `{shown}`.")),
            SecretKind::Key => (&rules::PROVIDER_KEY, format!("Found {what}: `{shown}`.")),
            SecretKind::WebToken => (&rules::JSON_WEB_TOKEN, format!("Found {what}: `{shown}`.")),
            SecretKind::Assignment => (
                &rules::SECRET_ASSIGNMENT,
                format!(
                    "{what} of {} characters looks like a secret.",
                    secret.span.len()
                ),
            ),
        };
        findings.at(subject, secret.span.clone(), Draft::new(rule, message));
    }
}
