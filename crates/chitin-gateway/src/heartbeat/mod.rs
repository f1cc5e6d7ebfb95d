//! Turns that a timer begins: when they happen, for which agents, and when one is skipped (R90–R93).
//!
//! | file | does |
//! |---|---|
//! | `settings.rs`, `hours.rs`, `visibility.rs` | what the configuration says: which agents, when, and what channels get |
//! | `content.rs`, `tasks.rs` | what HEARTBEAT.md asks for |
//! | `skip.rs` | when a heartbeat is skipped |
//! | `timetable.rs` | when which agent's next heartbeat is due |
//! | `prompt.rs` | what the model is asked |
//! | `run.rs` | [`crate::Gateway::start_heartbeats`]: the timer, the turn, and what is kept of it |

mod content;
mod hours;
mod prompt;
mod run;
mod settings;
mod skip;
mod tasks;
mod timetable;
mod visibility;

pub use content::is_empty;
pub use hours::{ActiveHours, ClockZone, user_zone};
pub use prompt::{DEFAULT_PROMPT, prompt};
pub use run::{BeatOutcome, BeatReport, BeatingAgent};
pub use settings::{HeartbeatSettings, beating};
pub use skip::{Beat, Skip, is_repeat, skip};
pub use tasks::{Task, task_prompt, tasks};
pub use timetable::{Beats, DueBeat};
pub use visibility::Visibility;
