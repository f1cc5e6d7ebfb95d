//! Spans for a collector of OpenTelemetry, where the program was built with them and somebody names one.

use crate::error::RuntimeError;
use crate::{Host, Notes};
use chitin_gateway::Gateway;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What sends spans, if something does.
pub struct Telemetry(Option<(JoinHandle<()>, CancellationToken)>);

impl Telemetry {
    /// Begins to send spans, if a collector is named.
    #[cfg(feature = "otel")]
    pub fn start(host: &Host, gateway: &Gateway, notes: &Notes) -> Result<Self, RuntimeError> {
        use crate::error::ErrorKind;
        use chitin_telemetry::{Exporter, TelemetrySettings};
        use std::sync::Arc;
        let read = TelemetrySettings::read(|name| host.env.get(name).map(str::to_owned));
        let wrong =
            |error: String| RuntimeError::new(ErrorKind::Config, crate::display::sentence(&error));
        let Some(settings) = read.map_err(|error| wrong(error.to_string()))? else {
            return Ok(Self(None));
        };
        let secrets = host.secrets.clone();
        let redact = Arc::new(move |text: &str| secrets.redact(text));
        let exporter = Exporter::new(settings, &host.trust(), redact, notes.sink());
        let end = CancellationToken::new();
        let running = exporter.map_err(wrong)?.run(gateway, end.clone());
        Ok(Self(Some((tokio::spawn(running), end))))
    }

    /// Says that spans cannot be sent, if a collector is named.
    #[cfg(not(feature = "otel"))]
    pub fn start(host: &Host, _: &Gateway, notes: &Notes) -> Result<Self, RuntimeError> {
        if host.env.get("OTEL_EXPORTER_OTLP_ENDPOINT").is_some() {
            notes.note(
                "an OpenTelemetry collector is configured, but this program was built without the feature `otel`",
            );
        }
        Ok(Self(None))
    }

    /// Sends what is left.
    pub async fn end(self) {
        if let Some((running, end)) = self.0 {
            end.cancel();
            let _ = running.await;
        }
    }
}
