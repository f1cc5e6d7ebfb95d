//! A small language for what a configuration may hold. The tables in [`super::keys`] are written in it, or read into it.

use serde_json::Value;

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Anything: what nobody here knows is not judged.
    Any,
    /// Text.
    Text,
    /// Text that is not empty.
    SomeText,
    /// `true` or `false`.
    Flag,
    /// Exactly this flag.
    Only(bool),
    /// A whole number from the first to the second, both included.
    Whole(i64, i64),
    /// A number from the first to the second, both included.
    Number(f64, f64),
    /// A number above zero.
    Positive,
    /// Text by a rule.
    TextOf(&'static TextRule),
    /// This very value.
    Exactly(&'static Value),
    /// `null`.
    Null,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of such values.
    List(&'static Shape),
    /// A list of such values that has at least and at most so many.
    ListOf(&'static Shape, usize, usize),
    /// A list of exactly these.
    Tuple(&'static [Shape]),
    /// An object with free keys and such values.
    Map(&'static Shape),
    /// An object with these keys and no others.
    Object(Fields),
    /// An object with these keys and any others.
    Open(Fields),
    /// An object with keys that count here, and keys that only count elsewhere: those are known and not judged.
    Partly(Fields, Fields),
    /// An object with these keys, and others with such values.
    OpenWith(Fields, &'static Shape),
    /// One of several shapes; a failure is reported as one, at the value.
    Either(&'static [Shape]),
    /// One of several objects; the one whose constants fit is meant.
    Chosen(&'static [Shape]),
    /// All of these at once.
    All(&'static [Shape]),
    /// An object whose keys are judged by the first.
    Keyed(&'static Shape, &'static Shape),
    /// A value that must be there; all others may be left out.
    Required(&'static Shape),
    /// Nothing: what stood here has another place now.
    Moved(&'static str),
    /// Such a value, about which something more must hold.
    Checked(&'static Shape, Check),
}

impl Shape {
    /// Tells whether it is an object of which some keys count only elsewhere.
    pub(super) const fn is_partly(&self) -> bool {
        matches!(self, Self::Partly(..))
    }
}

/// A rule about text.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextRule {
    /// The least length in UTF-16 units.
    pub least: usize,
    /// The greatest.
    pub most: usize,
    /// Whether it is a web address.
    pub address: bool,
    /// What fits it.
    pub pattern: Option<&'static str>,
}

/// The keys of an object, in groups so that releases can share them; a later group has the last word.
pub(super) type Fields = &'static [&'static [Field]];

/// A key and what it may hold.
pub(super) type Field = (&'static str, Shape);

/// What a table of keys cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// A duration such as `15m`, or a number of the default unit.
    Duration,
    /// A size such as `2mb`, or a number of bytes.
    ByteSize,
    /// An interval, and hours of the day as `HH:MM`.
    Heartbeat,
    /// `allow` and `alsoAllow` exclude each other.
    AllowOrAlsoAllow,
    /// `mode` excludes the two switches that it replaces.
    ExecModeAlone,
    /// A binding to an external agent names one conversation.
    BindingPeer,
    /// Groups that are broadcast to name agents of the list.
    BroadcastAgents,
    /// As before, and bindings name agents of the roster too.
    BindingAndBroadcastAgents,
    /// A duration, or nothing.
    Interval,
    /// Hours of the day as `HH:MM`.
    ActiveHours,
    /// Of several agents it is said who owns what belongs to none.
    Ownership,
    /// A picture inside the workspace, on the web, or in the value itself.
    Avatar,
    /// Containers that stay contained.
    Sandbox,
    /// A browser is started or reached.
    BrowserProfile,
    /// An address that starts with `http://` or `https://`.
    WebAddress,
    /// A tailnet reaches only what listens on this machine.
    TailscaleBind,
    /// A tailnet needs a way to tell who asks.
    TailscaleAuth,
    /// `provider` is one of `providers`, and is said when there are several.
    NamedProvider,
    /// A server of tools that can be started or reached, in today's spelling.
    McpServer,
    /// A provider that the release does not bring says where it is and what it has.
    CustomProvider,
    /// Settings of one search provider that have another place now.
    SearchSettings,
}

pub(super) const TEXTS: Shape = Shape::List(&Shape::Text);
pub(super) const TEXT_MAP: Shape = Shape::Map(&Shape::Text);
/// The largest whole number that a JavaScript number holds without loss.
pub(super) const MOST: i64 = 9_007_199_254_740_991;
pub(super) const COUNT: Shape = Shape::Whole(1, MOST);
pub(super) const COUNT_OR_ZERO: Shape = Shape::Whole(0, MOST);
pub(super) const NOT_NEGATIVE: Shape = Shape::Number(0.0, f64::MAX);
pub(super) const ANY_NUMBER: Shape = Shape::Number(f64::MIN, f64::MAX);
pub(super) const TEXT_OR_NUMBER: Shape = Shape::Either(&[Shape::Text, ANY_NUMBER]);
pub(super) const TEXTS_OR_NUMBERS: Shape = Shape::List(&TEXT_OR_NUMBER);
pub(super) const ANY_MAP: Shape = Shape::Map(&Shape::Any);

/// Finds what a key may hold.
pub(super) fn field(fields: Fields, name: &str) -> Option<&'static Shape> {
    fields
        .iter()
        .rev()
        .flat_map(|group| group.iter())
        .find(|(known, _)| *known == name)
        .map(|(_, shape)| shape)
}

/// Lists the known keys of an object.
pub(super) fn names(fields: Fields) -> impl Iterator<Item = &'static str> {
    fields
        .iter()
        .flat_map(|group| group.iter())
        .map(|(name, _)| *name)
}

impl TextRule {
    /// Tells whether a text keeps the rule. A pattern that cannot be read refuses nothing.
    pub(super) fn fits(&self, text: &str) -> bool {
        let length = text.encode_utf16().count();
        (self.least..=self.most).contains(&length)
            && (!self.address || is_address(text))
            && self.pattern.is_none_or(|pattern| {
                fancy_regex::Regex::new(pattern)
                    .map_or(true, |pattern| pattern.is_match(text).unwrap_or(true))
            })
    }

    /// Says what is expected.
    pub(super) fn describe(&self) -> String {
        match (self.address, self.pattern, self.least, self.most) {
            (true, ..) => "a web address".to_owned(),
            (_, Some(pattern), ..) => format!("text of the form `{pattern}`"),
            (_, None, least, usize::MAX) => format!("text of at least {least} characters"),
            (_, None, least, most) => format!("text of {least} to {most} characters"),
        }
    }
}

/// Tells whether a text is an absolute address: a scheme, a colon, and something behind it.
fn is_address(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && !rest.trim_start_matches('/').is_empty()
    })
}
