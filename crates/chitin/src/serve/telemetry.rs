//! Spans for a collector of OpenTelemetry, where the program was built with them and somebody names one.

use crate::error::CliError;
use crate::printer::Printer;
use chitin_gateway::Gateway;
use chitin_runtime::Host;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What sends spans, if something does.
pub(crate) struct Telemetry(Option<(JoinHandle<()>, CancellationToken)>);

impl Telemetry {
    /// Begins to send spans, if a collector is named.
    #[cfg(feature = "otel")]
    pub(crate) fn start(
        host: &Host,
        gateway: &Gateway,
        printer: &Printer,
    ) -> Result<Self, CliError> {
        use crate::error::Kind;
        use chitin_telemetry::{Exporter, TelemetrySettings};
        let read = TelemetrySettings::read(|name| host.env.get(name).map(str::to_owned));
        let wrong =
            |error: String| CliError::new(Kind::Config, chitin_runtime::display::sentence(&error));
        let Some(settings) = read.map_err(|error| wrong(error.to_string()))? else {
            return Ok(Self(None));
        };
        let say = printer.clone();
        let note = std::sync::Arc::new(move |text: &str| say.note(text));
        let exporter = Exporter::new(settings, host.trust(), note);
        let end = CancellationToken::new();
        let running = exporter.map_err(wrong)?.run(gateway, end.clone());
        Ok(Self(Some((tokio::spawn(running), end))))
    }

    /// Says that spans cannot be sent, if a collector is named.
    #[cfg(not(feature = "otel"))]
    #[expect(clippy::unnecessary_wraps, reason = "the other one can fail")]
    pub(crate) fn start(host: &Host, _: &Gateway, printer: &Printer) -> Result<Self, CliError> {
        if host.env.get("OTEL_EXPORTER_OTLP_ENDPOINT").is_some() {
            printer.note(
                "a collector is named, but this program was built without the feature `otel`",
            );
        }
        Ok(Self(None))
    }

    /// Sends what is left.
    pub(crate) async fn end(self) {
        if let Some((running, end)) = self.0 {
            end.cancel();
            let _ = running.await;
        }
    }
}
