//! How a reply reaches people: silent tokens taken off, split into chunks, sent to the surface that the job names.
//!
//! | file | does |
//! |---|---|
//! | `deliver.rs` | the reply of one job on its way: whole, in blocks, or as a preview that is edited |
//! | `listen.rs` | follows the events of the turn and sends what is due |
//! | `live.rs`, `preview.rs` | a preview: which messages are sent, edited or deleted, and doing so |
//! | `blocks.rs` | replies that go out block by block |
//! | `render.rs` | text for a surface: silent tokens, chunks, which message it replies to |
//! | `send.rs` | sends, edits and deletes with retries |
//! | `reply_to.rs` | rules: which message a reply points at, and threads on Slack and Discord |
//! | `sent.rs` | what tools of the turn said already, so that the reply does not repeat it |
//! | `last_surface.rs` | where a session was last used, for replies that nobody asked for |
//! | `message_tool/` | the `message` tool |

mod blocks;
pub(crate) mod deliver;
mod last_surface;
mod listen;
pub mod live;
pub mod message_tool;
mod preview;
mod render;
pub mod reply_to;
mod send;
mod sent;
