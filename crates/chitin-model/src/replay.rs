//! A model that answers what was recorded.

use crate::error::ModelError;
use crate::local;
use crate::model::{EventStream, Model, Prepared};
use crate::normalise::{difference, likeness, normalise};
use crate::recording::{Exchange, Step};
use crate::request::{Api, ModelRequest};
use crate::scripted::failure;
use crate::stream::StreamEvent;
use chitin_contract::ProviderRules;
use chitin_guard::plain_file;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The largest recording that is read, in bytes.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Its provider.
const PROVIDER: &str = "replay";

/// A model that answers what was recorded by [`RecordModel`](crate::RecordModel), found by the normalised request. A request that was recorded more
/// than once gets its answers in their order, and then the last one again.
#[derive(Debug)]
pub struct ReplayModel {
    name: String,
    exchanges: Vec<Exchange>,
    /// How often each key was asked for.
    asked: Mutex<HashMap<String, usize>>,
}

impl ReplayModel {
    /// Reads a recording.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let text = plain_file::read(path, LARGEST)
            .map_err(|error| ModelError::Unscripted(error.to_string()))?;
        let mut exchanges = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            exchanges.push(serde_json::from_str(line).map_err(|error| {
                ModelError::Unscripted(format!(
                    "line {} of `{}` is not a recorded exchange: {error}",
                    index + 1,
                    path.display()
                ))
            })?);
        }
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            exchanges,
            asked: Mutex::new(HashMap::new()),
        })
    }

    fn find(&self, key: &str, request: &Value) -> Result<&Exchange, ModelError> {
        let matching: Vec<&Exchange> = self.exchanges.iter().filter(|e| e.key == key).collect();
        let Some(last) = matching.last() else {
            return Err(ModelError::Unscripted(self.unknown(request)));
        };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = asked.entry(key.to_owned()).or_insert(0);
        let chosen = matching.get(*times).unwrap_or(last);
        *times += 1;
        Ok(chosen)
    }

    /// Says how a request differs from the most similar one that is known.
    fn unknown(&self, request: &Value) -> String {
        let nearest = self
            .exchanges
            .iter()
            .enumerate()
            .max_by_key(|(_, exchange)| likeness(&exchange.request, request));
        let name = &self.name;
        let Some((index, nearest)) = nearest else {
            return format!("the recording `{name}` is empty");
        };
        let how =
            difference(&nearest.request, request).unwrap_or_else(|| "nothing differs".to_owned());
        format!(
            "the recording `{name}` has {} exchanges, but not this request; the nearest is number {}: {how}",
            self.exchanges.len(),
            index + 1
        )
    }
}

impl Model for ReplayModel {
    fn provider(&self) -> &'static str {
        PROVIDER
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn api(&self) -> Api {
        Api::Scripted
    }

    /// The body is the request in plain JSON, not normalised: what would be sent is what is shown.
    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, ModelError> {
        let request = ModelRequest {
            model: &self.name,
            ..*request
        };
        local::prepare(Api::Scripted, format!("replay:{}", self.name), &request)
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let given = local::given(&prepared)?;
            let normalised = normalise(&ModelRequest {
                model: "",
                system: &given.system,
                messages: &given.messages,
                tools: &given.tools,
                max_tokens: 0,
                context_window: None,
                thinking: None,
                retention: crate::request::Retention::None,
                extra: &Map::new(),
                rules: &ProviderRules::CANONICAL,
            });
            let exchange = self.find(&normalised.key, &normalised.request)?;
            let events: Option<Vec<StreamEvent>> = exchange
                .events
                .iter()
                .cloned()
                .map(Step::into_event)
                .collect();
            match (&exchange.error, events) {
                (Some(error), Some(events)) if events.is_empty() => Err(failure(PROVIDER, error)),
                (_, Some(events)) => Ok(local::play(events, Duration::ZERO, cancel)),
                (_, None) => Err(ModelError::Unscripted(format!(
                    "an exchange of `{}` does not end in an answer",
                    self.name
                ))),
            }
        })
    }
}
