//! One request: sent, redirected, and sent again with credentials when the registry asks for them.

use super::challenge::Challenge;
use super::client;
use super::endpoint::Endpoint;
use super::failure::{Failure, wrong_answer};
use super::payload::Payload;
use crate::auth::{Credentials, Keychain};
use crate::options::RegistryOptions;
use bytes::Bytes;
use chitin_pack::PackError;
use reqwest::header::{
    AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A registry's storage is one redirect away, sometimes two.
const MAX_REDIRECTS: usize = 5;

/// What a request is to be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Read.
    Pull,
    /// Read and write.
    Push,
}

/// A request that can be sent more than once.
#[derive(Debug)]
pub(crate) struct Request<'r> {
    pub(crate) endpoint: &'r Endpoint,
    /// What it is about; empty for the registry itself.
    pub(crate) repository: &'r str,
    pub(crate) action: Action,
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Payload,
}

impl<'r> Request<'r> {
    pub(crate) fn new(
        endpoint: &'r Endpoint,
        repository: &'r str,
        action: Action,
        method: Method,
        url: Url,
    ) -> Self {
        Self {
            endpoint,
            repository,
            action,
            method,
            url,
            headers: HeaderMap::new(),
            body: Payload::empty(),
        }
    }

    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    pub(crate) fn body(mut self, body: Payload) -> Self {
        self.body = body;
        self
    }

    fn scope(&self) -> String {
        let actions = match self.action {
            Action::Pull => "pull",
            Action::Push => "pull,push",
        };
        match self.repository {
            "" => String::new(),
            repository => format!("repository:{repository}:{actions}"),
        }
    }
}

/// The client with what it knows of registries so far.
pub(crate) struct Transport {
    pub(super) client: Client,
    pub(crate) options: RegistryOptions,
    keychain: Keychain,
    known: Mutex<HashMap<String, Credentials>>,
    /// What answered the last challenge, by registry and scope.
    grants: Mutex<HashMap<(String, String), HeaderValue>>,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Transport {
    pub(crate) fn new(options: RegistryOptions, keychain: Keychain) -> Result<Self, PackError> {
        Ok(Self {
            client: client::make(&options)?,
            options,
            keychain,
            known: Mutex::default(),
            grants: Mutex::default(),
        })
    }

    /// Sends a request. Any status but 401 is the caller's to judge.
    pub(crate) async fn send(&self, request: &Request<'_>) -> Result<Response, Failure> {
        let key = (request.endpoint.host.clone(), request.scope());
        let grant = lock(&self.grants).get(&key).cloned();
        let response = self.follow(request, grant.as_ref()).await?;
        if response.status() != StatusCode::UNAUTHORIZED || !request.endpoint.owns(response.url()) {
            return Ok(response);
        }
        let challenge = Challenge::find(response.headers());
        drop(response);
        let grant = self.answer(request.endpoint, challenge, &key.1).await?;
        let response = self.follow(request, Some(&grant)).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            lock(&self.grants).insert(key, grant);
        }
        Ok(response)
    }

    /// Follows redirects of what only reads. Credentials stay with the registry.
    async fn follow(
        &self,
        request: &Request<'_>,
        grant: Option<&HeaderValue>,
    ) -> Result<Response, Failure> {
        let endpoint = request.endpoint;
        let mut url = request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut builder = self
                .client
                .request(request.method.clone(), url.clone())
                .headers(request.headers.clone());
            if let Some(grant) = grant
                && endpoint.owns(&url)
            {
                builder = builder.header(AUTHORIZATION, grant.clone());
            }
            if !matches!(request.method, Method::GET | Method::HEAD) {
                // A body that is read while it is sent does not know its length.
                builder = builder
                    .header(CONTENT_LENGTH, request.body.length())
                    .body(request.body.body());
            }
            let response = self.execute(endpoint, builder).await?;
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED
            {
                return Ok(response);
            }
            let location = response.headers().get(LOCATION);
            let next = location
                .and_then(|location| location.to_str().ok())
                .and_then(|location| endpoint.follow(&url, location));
            url = match next {
                Some(next) if matches!(request.method, Method::GET | Method::HEAD) => next,
                _ => {
                    let text = "it sends us to an address that is not used";
                    return Err(wrong_answer(endpoint, text).into());
                }
            };
        }
        Err(wrong_answer(endpoint, "it sends us round in circles").into())
    }

    pub(super) async fn execute(
        &self,
        endpoint: &Endpoint,
        request: RequestBuilder,
    ) -> Result<Response, Failure> {
        let patience = self.options.timeouts.answer;
        match tokio::time::timeout(patience, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(Failure::of_connection(endpoint, error)),
            Err(_) => Err(Failure::of_silence(endpoint, patience)),
        }
    }

    /// Looks credentials up once per registry.
    pub(super) async fn credentials(&self, host: &str) -> Result<Credentials, PackError> {
        if let Some(known) = lock(&self.known).get(host) {
            return Ok(known.clone());
        }
        let found = self.keychain.find(host).await?;
        lock(&self.known).insert(host.to_owned(), found.clone());
        Ok(found)
    }

    /// Reads the whole of a small answer.
    pub(crate) async fn body(
        &self,
        endpoint: &Endpoint,
        response: Response,
        limit: usize,
    ) -> Result<Bytes, Failure> {
        read_limited(endpoint, response, limit, self.options.timeouts.idle).await
    }
}

/// Nothing that is kept under these locks can be half-written.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads an answer that must not be longer than a limit.
pub(crate) async fn read_limited(
    endpoint: &Endpoint,
    mut response: Response,
    limit: usize,
    idle: Duration,
) -> Result<Bytes, Failure> {
    let mut body = Vec::new();
    loop {
        let piece = match tokio::time::timeout(idle, response.chunk()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => return Ok(body.into()),
            Ok(Err(error)) => return Err(Failure::of_connection(endpoint, error)),
            Err(_) => return Err(Failure::of_silence(endpoint, idle)),
        };
        if body.len() + piece.len() > limit {
            return Err(wrong_answer(endpoint, "an answer that is too long").into());
        }
        body.extend_from_slice(&piece);
    }
}
