//! How far a server is from its end.

/// How far a server is from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It takes everything in.
    Open,
    /// Another process serves by now. What is asked here is passed on to it.
    Moved,
    /// It takes nothing more in; turns that run go on.
    Draining,
    /// It is over: streams end.
    Closed,
}
