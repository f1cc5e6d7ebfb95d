//! What a gateway does, as spans for an OpenTelemetry collector.
//!
//! In: what happens in a gateway. Out: one span for each turn, with one for each call of a tool and each request to a model below it, sent as OTLP over
//! HTTP in its JSON form. No word that anybody said is in them: names, numbers and times only, without
//! the secrets that the caller knows. A collector that is slow or away costs
//! spans, never turns.
//!
//! The JSON form is a hundred lines and needs nothing that is not here already; the SDK of OpenTelemetry would bring forty crates.

mod export;
mod otlp;
mod settings;
mod spans;

pub use export::{Exporter, Redact};
pub use settings::{SettingError, TelemetrySettings};
pub use spans::{Recorder, Span, SpanKind};
