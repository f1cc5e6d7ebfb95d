//! What the shared vocabulary promises.

mod schemas;
mod session_keys;
