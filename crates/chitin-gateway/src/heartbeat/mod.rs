//! Turns that nobody typed: when they happen, to whom, and when they are left out (R90–R93).
//!
//! [`HeartbeatSettings`] is what a configuration says for one agent, [`beating`] says which agents have any,
//! [`is_empty`] looks into HEARTBEAT.md, [`ActiveHours`] at the clock, and [`skip`] puts it together.

mod beats;
mod content;
mod hours;
mod settings;
mod skip;
mod tasks;
mod visibility;
mod words;

pub use beats::{Beats, DueBeat};
pub use content::is_empty;
pub use hours::{ActiveHours, Zone, user_zone};
pub use settings::{HeartbeatSettings, beating};
pub use skip::{Beat, Skip, is_repeat, skip};
pub use tasks::{Task, task_prompt, tasks};
pub use visibility::Visibility;
pub use words::{DEFAULT_PROMPT, prompt};
