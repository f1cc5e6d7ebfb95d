//! Judges a configuration by the tables of its release (R103).
//!
//! Paths are those of the recorded validators: an unknown key is reported at the object that holds it, everything else at
//! the value itself, and a value that fits none of several shapes once.

use super::keys::{AgentList, ReleaseKeys};
use super::load::value_at;
use super::scan::{Step, dotted};
use super::shape::{Fields, Shape, field, names};
use super::{Issue, IssueSeverity, checks, roster};
use chitin_contract::ConfigRules;
use chitin_protocol::nearest::nearest;
use serde_json::{Map, Value};

/// More findings than anybody reads; the rest is not looked for.
const MAX_FINDINGS: usize = 200;

/// How many known names a hint lists when none is near.
const MAX_LISTED: usize = 12;

/// A finding before it has a place.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// The value it is about.
    pub path: Vec<Step>,
    /// The value to point at, when that is another one.
    pub point: Option<Vec<Step>>,
    pub message: String,
    pub hint: Option<String>,
    /// The keys that are not known, when that is what it is about.
    pub unknown_keys: Vec<String>,
    /// Whether those keys are known, and only have no effect here.
    pub idle: bool,
    /// Whether the value has the right shape and only breaks a further rule; rules around it are then still judged.
    pub soft: bool,
}

impl Finding {
    pub(super) fn soft(path: &[Step], message: impl Into<String>) -> Self {
        Self {
            soft: true,
            ..Self::hard(path, message)
        }
    }

    fn hard(path: &[Step], message: impl Into<String>) -> Self {
        Self {
            path: path.to_vec(),
            point: None,
            message: message.into(),
            hint: None,
            unknown_keys: Vec::new(),
            idle: false,
            soft: false,
        }
    }

    /// The path to look up in the text.
    pub(super) fn pointed(&self) -> &[Step] {
        self.point.as_deref().unwrap_or(&self.path)
    }
}

/// Judges a whole configuration as the release's own function for it does: what belongs to plugins is left to them. Findings carry no
/// place: the value does not remember its text.
pub fn validate(value: &Value, rules: ConfigRules) -> Vec<Issue> {
    find(value, rules)
        .into_iter()
        .filter(|finding| !rules.is_of_plugins(&finding.path))
        .map(|finding| Issue {
            hint: finding.hint,
            ..Issue::new(IssueSeverity::Error, dotted(&finding.path), finding.message)
        })
        .collect()
}

/// Judges a whole configuration by the table and the further rules of a release.
pub(super) fn find(value: &Value, rules: ConfigRules) -> Vec<Finding> {
    let moved = match rules.agent_list() {
        AgentList::Known => None,
        AgentList::Moved => roster::list_to_entries(value),
    };
    let Some(moved) = moved else {
        let mut findings = find_by_rules(value, rules);
        if rules.agent_list() == AgentList::Moved {
            findings.iter_mut().for_each(roster::explain_unmoved);
            findings.extend(roster::find_repeated(value));
        }
        return findings;
    };
    let mut findings = find_by_rules(&moved.value, rules);
    for finding in &mut findings {
        moved.point_back(finding);
    }
    findings
}

fn find_by_rules(value: &Value, rules: ConfigRules) -> Vec<Finding> {
    let mut findings = find_by(rules.shape(), value);
    // A further rule is judged where all that it is about has the right shape.
    let hard: Vec<_> = findings
        .iter()
        .map(|finding| finding.path.clone())
        .collect();
    for (pattern, check) in rules.checks() {
        for path in matching(value, pattern) {
            if !hard.iter().any(|other| other.starts_with(&path)) {
                let Some(found) = value_at(value, &path) else {
                    continue;
                };
                checks::run(*check, found, &path, &mut findings);
            }
        }
    }
    findings
}

/// Lists the values of a configuration that a dotted pattern names; `*` stands for any one step, `a|b` for either.
pub(super) fn matching(value: &Value, pattern: &str) -> Vec<Vec<Step>> {
    let mut found = vec![Vec::new()];
    for step in pattern.split('.').filter(|step| !step.is_empty()) {
        let mut next = Vec::new();
        for path in found {
            let below = |step| [path.as_slice(), &[step]].concat();
            match value_at(value, &path) {
                Some(Value::Object(fields)) => next.extend(
                    fields
                        .keys()
                        .filter(|key| step == "*" || step.split('|').any(|name| name == *key))
                        .map(|key| below(Step::Key(key.clone()))),
                ),
                Some(Value::Array(items)) if step == "*" => {
                    next.extend((0..items.len()).map(|index| below(Step::Index(index))));
                }
                _ => {}
            }
        }
        found = next;
    }
    found
}

pub(super) fn find_by(shape: &Shape, value: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    judge(shape, value, &mut Vec::new(), &mut findings);
    findings
}

fn judge(shape: &Shape, value: &Value, path: &mut Vec<Step>, found: &mut Vec<Finding>) {
    if found.len() >= MAX_FINDINGS {
        return;
    }
    match *shape {
        Shape::Any => {}
        Shape::Required(shape) => judge(shape, value, path, found),
        Shape::Moved(to) => found.push(Finding {
            hint: Some(format!("move it to `{to}`")),
            ..Finding::hard(path, "This key is no longer read here.")
        }),
        Shape::List(each) => match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Step::Index(index));
                    judge(each, item, path, found);
                    path.pop();
                }
            }
            other => found.push(expected(path, "a list", other)),
        },
        Shape::ListOf(each, least, most) => {
            judge(&Shape::List(each), value, path, found);
            let count = value.as_array().map(Vec::len);
            if count.is_some_and(|count| !(least..=most).contains(&count)) {
                found.push(expected(path, &describe(shape), value));
            }
        }
        Shape::Tuple(members) => match value {
            Value::Array(items) if items.len() == members.len() => {
                for (index, (each, item)) in members.iter().zip(items).enumerate() {
                    path.push(Step::Index(index));
                    judge(each, item, path, found);
                    path.pop();
                }
            }
            other => found.push(expected(path, &describe(shape), other)),
        },
        Shape::Map(each) => fields(&[], value, path, found, &Others::Each(each)),
        Shape::Keyed(keys, object) => {
            for key in value.as_object().into_iter().flat_map(Map::keys) {
                if !fits(keys, &Value::String(key.clone())) {
                    path.push(Step::Key(key.clone()));
                    found.push(Finding::hard(
                        path,
                        format!("`{key}` cannot be a key here."),
                    ));
                    path.pop();
                }
            }
            judge(object, value, path, found);
        }
        Shape::Object(known) => fields(known, value, path, found, &Others::Refused),
        Shape::Open(known) => fields(known, value, path, found, &Others::Each(&Shape::Any)),
        Shape::Partly(here, elsewhere) => {
            fields(here, value, path, found, &Others::Elsewhere(elsewhere));
        }
        Shape::OpenWith(known, each) => fields(known, value, path, found, &Others::Each(each)),
        Shape::Either(shapes) => either(shapes, value, path, found),
        Shape::Chosen(shapes) => {
            let mut meant = shapes.iter().filter(|shape| has_constants(shape, value));
            match (meant.next(), meant.next()) {
                (Some(one), None) => judge(one, value, path, found),
                _ => either(shapes, value, path, found),
            }
        }
        Shape::All(shapes) => {
            let before = found.len();
            for shape in shapes {
                if found.len() == before {
                    judge(shape, value, path, found);
                }
            }
        }
        Shape::Checked(shape, check) => {
            let before = found.len();
            judge(shape, value, path, found);
            if found[before..].iter().all(|finding| finding.soft) {
                checks::run(check, value, path, found);
            }
        }
        Shape::Text
        | Shape::SomeText
        | Shape::Flag
        | Shape::Only(_)
        | Shape::Whole(..)
        | Shape::Number(..)
        | Shape::Positive
        | Shape::TextOf(_)
        | Shape::Exactly(_)
        | Shape::Null
        | Shape::OneOf(_) => {
            if !fits(shape, value) {
                let mut finding = expected(path, &describe(shape), value);
                if let (Shape::OneOf(words), Value::String(text)) = (shape, value) {
                    finding.hint = nearest(text, words.iter().copied()).map(did_you_mean);
                }
                found.push(finding);
            }
        }
    }
}

/// What becomes of keys that no table lists.
enum Others {
    Refused,
    /// These are known; all others are refused.
    Elsewhere(Fields),
    Each(&'static Shape),
}

fn fields(
    known: Fields,
    value: &Value,
    path: &mut Vec<Step>,
    found: &mut Vec<Finding>,
    others: &Others,
) {
    let Value::Object(members) = value else {
        found.push(expected(path, "an object", value));
        return;
    };
    for (name, shape) in known.iter().flat_map(|group| group.iter()) {
        if matches!(shape, Shape::Required(_)) && !members.contains_key(*name) {
            path.push(Step::Key((*name).to_owned()));
            found.push(Finding {
                point: Some(path[..path.len() - 1].to_vec()),
                ..Finding::hard(path, format!("`{name}` is missing."))
            });
            path.pop();
        }
    }
    let (mut unknown, mut idle) = (Vec::new(), Vec::new());
    for (name, member) in members {
        let shape = match (field(known, name), others) {
            (Some(shape), _) => shape,
            (None, Others::Each(shape)) => shape,
            (None, Others::Elsewhere(elsewhere)) if field(elsewhere, name).is_some() => {
                idle.push(name.as_str());
                continue;
            }
            (None, Others::Refused | Others::Elsewhere(_)) => {
                unknown.push(name.as_str());
                continue;
            }
        };
        path.push(Step::Key(name.clone()));
        judge(shape, member, path, found);
        path.pop();
    }
    if !idle.is_empty() {
        found.push(idle_keys(&idle, path));
    }
    if !unknown.is_empty() {
        found.push(unknown_keys(known, &unknown, members, path));
    }
}

/// Says once per object which keys are OpenClaw's alone.
fn idle_keys(idle: &[&str], path: &[Step]) -> Finding {
    let message = match idle {
        [one] => format!("`{one}` is known to OpenClaw and has no effect here."),
        many => format!(
            "{} are known to OpenClaw and have no effect here.",
            quoted(many)
        ),
    };
    Finding {
        point: pointed(idle, path),
        unknown_keys: idle.iter().map(|&name| name.to_owned()).collect(),
        idle: true,
        ..Finding::hard(path, message)
    }
}

/// Points at the first of several keys of an object.
fn pointed(names: &[&str], path: &[Step]) -> Option<Vec<Step>> {
    let first = names.first()?;
    Some([path, &[Step::Key((*first).to_owned())]].concat())
}

/// Says once per object which keys are not known, pointing at the first of them.
fn unknown_keys(
    known: Fields,
    unknown: &[&str],
    members: &Map<String, Value>,
    path: &[Step],
) -> Finding {
    let listed: Vec<_> = unknown.iter().map(|name| format!("`{name}`")).collect();
    let message = match listed.as_slice() {
        [one] => format!("{one} is not a known key here."),
        many => format!("{} are not known keys here.", many.join(", ")),
    };
    let unused = || names(known).filter(|name| !members.contains_key(*name));
    let near = unknown.iter().find_map(|name| nearest(name, unused()));
    let hint = near.map(did_you_mean).or_else(|| {
        let mut all: Vec<_> = Vec::new();
        for name in names(known) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        (!all.is_empty() && all.len() <= MAX_LISTED)
            .then(|| format!("known keys here are {}", quoted(&all)))
    });
    Finding {
        point: pointed(unknown, path),
        hint,
        unknown_keys: unknown.iter().map(|&name| name.to_owned()).collect(),
        ..Finding::hard(path, message)
    }
}

fn either(shapes: &'static [Shape], value: &Value, path: &mut Vec<Step>, found: &mut Vec<Finding>) {
    // An object can only be the one shape that says what an object means here.
    if let (Value::Object(_), Some(shape)) = (value, shapes.iter().find(|s| s.is_partly())) {
        return judge(shape, value, path, found);
    }
    // Nor can it be any but the one that it says it is.
    let mut chosen = shapes.iter().rev().filter_map(|shape| match shape {
        Shape::Chosen(options) => options.iter().find(|option| has_constants(option, value)),
        _ => None,
    });
    if let Some(shape) = chosen.next() {
        return judge(shape, value, path, found);
    }
    let mut soft_only = Vec::new();
    for shape in shapes {
        let mut tried = Vec::new();
        judge(shape, value, path, &mut tried);
        if tried.is_empty() {
            return;
        }
        if tried.iter().all(|finding| finding.soft) {
            soft_only.push(tried);
        }
    }
    // One shape that fits but for a further rule is what was meant.
    if let [one] = soft_only.as_mut_slice() {
        found.append(one);
        return;
    }
    let mut described: Vec<_> = shapes.iter().map(describe).collect();
    described.dedup();
    found.push(expected(path, &described.join(" or "), value));
}

/// Tells whether an object has the constants of a shape, which say that it is meant.
fn has_constants(shape: &Shape, value: &Value) -> bool {
    let (Shape::Object(groups) | Shape::Open(groups)) = shape else {
        return false;
    };
    let mut constants = groups
        .iter()
        .flat_map(|group| group.iter())
        .filter_map(|(name, shape)| match shape {
            Shape::Required(Shape::OneOf(words)) => Some((name, *words)),
            _ => None,
        })
        .peekable();
    constants.peek().is_some()
        && constants.all(|(name, words)| {
            value[*name]
                .as_str()
                .is_some_and(|word| words.contains(&word))
        })
}

/// Tells whether a value has a shape, and all that is inside it.
pub(super) fn has_shape(shape: &Shape, value: &Value) -> bool {
    find_by(shape, value).is_empty()
}

fn fits(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Text, Value::String(_))
        | (Shape::Flag, Value::Bool(_))
        | (Shape::Null, Value::Null) => true,
        (Shape::SomeText, Value::String(text)) => !text.is_empty(),
        (Shape::Only(wanted), Value::Bool(flag)) => wanted == flag,
        (Shape::Exactly(wanted), value) => match (wanted.as_f64(), value.as_f64()) {
            (Some(wanted), Some(number)) => wanted.total_cmp(&number).is_eq(),
            _ => *wanted == value,
        },
        (Shape::TextOf(rule), Value::String(text)) => rule.fits(text),
        (Shape::OneOf(words), Value::String(text)) => words.contains(&text.as_str()),
        (Shape::Whole(min, max), Value::Number(number)) => number
            .as_i64()
            .or_else(|| whole(number.as_f64()?))
            .is_some_and(|number| (*min..=*max).contains(&number)),
        (Shape::Number(min, max), Value::Number(number)) => number
            .as_f64()
            .is_some_and(|number| (*min..=*max).contains(&number)),
        (Shape::Positive, Value::Number(number)) => {
            number.as_f64().is_some_and(|number| number > 0.0)
        }
        _ => false,
    }
}

/// `3.0` is as whole as `3`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only whole numbers well inside the range are cast"
)]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9.1e15).then_some(number as i64)
}

fn expected(path: &[Step], wanted: &str, value: &Value) -> Finding {
    Finding::hard(path, format!("Expected {wanted}; found {}.", kind(value)))
}

fn describe(shape: &Shape) -> String {
    match *shape {
        Shape::Any => "anything".to_owned(),
        Shape::Text => "text".to_owned(),
        Shape::SomeText => "text that is not empty".to_owned(),
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Only(flag) => format!("`{flag}`"),
        Shape::Whole(min, super::shape::MOST) => format!("a whole number from {min}"),
        Shape::Whole(min, max) => format!("a whole number from {min} to {max}"),
        Shape::Number(f64::MIN, f64::MAX) => "a number".to_owned(),
        Shape::Number(min, f64::MAX) => format!("a number from {min}"),
        Shape::Number(min, max) => format!("a number from {min} to {max}"),
        Shape::Positive => "a number above zero".to_owned(),
        Shape::OneOf(words) => match words {
            [one] => format!("`{one}`"),
            many => format!("one of {}", quoted(many)),
        },
        Shape::TextOf(rule) => rule.describe(),
        Shape::Exactly(value) => format!("`{value}`"),
        Shape::Null => "`null`".to_owned(),
        Shape::ListOf(_, least, usize::MAX) => format!("a list of at least {least}"),
        Shape::ListOf(_, least, most) => format!("a list of {least} to {most}"),
        Shape::Tuple(members) => format!("a list of {}", members.len()),
        Shape::List(_) => "a list".to_owned(),
        Shape::Keyed(_, object) => describe(object),
        Shape::All(shapes) => shapes.last().map(describe).unwrap_or_default(),
        Shape::Map(_)
        | Shape::Object(_)
        | Shape::Open(_)
        | Shape::Partly(..)
        | Shape::OpenWith(..) => "an object".to_owned(),
        Shape::Either(shapes) | Shape::Chosen(shapes) => {
            shapes.iter().map(describe).collect::<Vec<_>>().join(" or ")
        }
        Shape::Moved(_) => "nothing".to_owned(),
        Shape::Required(shape) | Shape::Checked(shape, _) => describe(shape),
    }
}

/// Names the kind of a value; short words and numbers are shown, long texts may be secrets.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "`null`".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("`{number}`"),
        Value::String(text) if text.len() <= 24 && !text.contains('\n') => format!("`\"{text}\"`"),
        Value::String(_) => "other text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn quoted(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}
