//! A small language for what a configuration may hold. The tables in [`super::keys`] are written in it.

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
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of such values.
    List(&'static Shape),
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
    /// A six-digit colour.
    HexColour,
}

pub(super) const TEXTS: Shape = Shape::List(&Shape::Text);
pub(super) const TEXT_MAP: Shape = Shape::Map(&Shape::Text);
/// The largest whole number that a JavaScript number holds without loss.
pub(super) const MOST: i64 = 9_007_199_254_740_991;
pub(super) const COUNT: Shape = Shape::Whole(1, MOST);
pub(super) const COUNT_OR_ZERO: Shape = Shape::Whole(0, MOST);
pub(super) const NOT_NEGATIVE: Shape = Shape::Number(0.0, f64::MAX);
pub(super) const ANY_NUMBER: Shape = Shape::Number(f64::MIN, f64::MAX);
pub(super) const SHARE: Shape = Shape::Number(0.0, 1.0);
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
