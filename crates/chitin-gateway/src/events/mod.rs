//! Events: what happens in the gateway, told to listeners by job, by session or all of it. No turn waits for a slow listener.

mod bus;
mod event;

pub use bus::{EventBus, ListenerEvent, Subscription, Topic};
pub use event::{EventKind, GatewayEvent, JobPlacement};
