//! Names, markers and words of OpenClaw that this crate reads or writes.
