//! What the shared vocabulary promises.

mod session_keys;
