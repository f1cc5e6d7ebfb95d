//! Sends spans on, beside everything else.

use crate::otlp;
use crate::settings::TelemetrySettings;
use crate::spans::{Recorder, Span};
use chitin_gateway::{Gateway, ListenerEvent, Subscription, Topic};
use chitin_net::{TlsRoots, certificate_problem, client_builder};
use futures_util::FutureExt;
use secrecy::ExposeSecret;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long spans wait for others.
const EVERY: Duration = Duration::from_secs(5);
/// How many go at once.
const AT_ONCE: usize = 512;
/// How many wait while a collector is away; further ones are let go.
const MOST_WAITING: usize = 4_096;
/// How long a collector may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Takes secrets out of a text.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Sends what a gateway does to a collector.
pub struct Exporter {
    settings: TelemetrySettings,
    client: reqwest::Client,
    redact: Redact,
    note: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Exporter {
    /// Makes an exporter, which trusts whom it is told to. Every name, fact and reason passes `redact`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When no client can be made for the address, in words.
    pub fn new(
        settings: TelemetrySettings,
        trust: &TlsRoots,
        redact: Redact,
        note: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Self, String> {
        let client = client_builder(trust.tls_for(&settings.url)?)
            .build()
            .map_err(|error| format!("the HTTP client cannot be made: {error}"))?;
        Ok(Self {
            settings,
            client,
            redact,
            note,
        })
    }

    /// Listens, from now on, and returns what sends until it is told to end; what is there then is sent. The gateway is not kept.
    pub fn run(
        self,
        gateway: &Gateway,
        cancel: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<> {
        let happenings = gateway.subscribe(Topic::All);
        self.send_all(happenings, cancel)
    }

    async fn send_all(self, mut happenings: Subscription, cancel: CancellationToken) {
        let mut recorder = Recorder::default();
        let mut waiting = Waiting::default();
        let mut tick = tokio::time::interval(EVERY);
        loop {
            let ends = tokio::select! {
                heard = happenings.next() => match heard {
                    Some(ListenerEvent::Happening(happening)) => {
                        waiting.add(recorder.hear(&happening));
                        false
                    }
                    // Spans of turns whose end was missed are never whole.
                    Some(ListenerEvent::Missed(_)) => {
                        recorder = Recorder::default();
                        false
                    }
                    None => true,
                },
                _ = tick.tick() => { self.flush(&mut waiting).await; false }
                () = cancel.cancelled() => {
                    while let Some(Some(ListenerEvent::Happening(happening))) = happenings.next().now_or_never() {
                        waiting.add(recorder.hear(&happening));
                    }
                    true
                }
            };
            if ends || waiting.spans.len() >= AT_ONCE {
                self.flush(&mut waiting).await;
            }
            if ends {
                return;
            }
        }
    }

    /// Sends what waits. What a collector does not take stays for the next time.
    async fn flush(&self, waiting: &mut Waiting) {
        while !waiting.spans.is_empty() {
            let count = waiting.spans.len().min(AT_ONCE);
            let spans: Vec<Span> = waiting.spans[..count]
                .iter()
                .map(|span| span.redacted(&*self.redact))
                .collect();
            match self.send(&spans).await {
                Ok(()) => {
                    waiting.spans.drain(..count);
                    waiting.told = false;
                }
                Err(reason) => {
                    if !std::mem::replace(&mut waiting.told, true) {
                        (self.note)(&format!(
                            "spans cannot be sent: {reason}; they are tried again"
                        ));
                    }
                    return;
                }
            }
        }
    }

    async fn send(&self, spans: &[Span]) -> Result<(), String> {
        let body = otlp::body(&self.settings.service, spans).to_string();
        let mut request = self
            .client
            .post(&self.settings.url)
            .timeout(LONGEST)
            .header("content-type", "application/json")
            .body(body);
        for (name, value) in &self.settings.headers {
            request = request.header(name, value.expose_secret());
        }
        match request.send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(format!(
                "the collector answers {}",
                answer.status().as_u16()
            )),
            // The error would name the address, which may hold a key.
            Err(error) if error.is_timeout() => {
                Err("the collector does not answer in time".to_owned())
            }
            Err(error) => Err(certificate_problem(&error).map_or_else(
                || "the collector cannot be reached".to_owned(),
                |problem| format!("the collector cannot be reached: {problem}"),
            )),
        }
    }
}

#[derive(Default)]
struct Waiting {
    spans: Vec<Span>,
    /// Whether people were told that the collector is away.
    told: bool,
}

impl Waiting {
    fn add(&mut self, spans: Vec<Span>) {
        let room = MOST_WAITING.saturating_sub(self.spans.len());
        self.spans.extend(spans.into_iter().take(room));
    }
}
