//! The door to registries.

use crate::auth::Keychain;
use crate::http::{Action, Endpoint, Failure, Patience, Request, Transport, refused, wrong_answer};
use crate::options::RegistryOptions;
use bytes::Bytes;
use chitin_pack::PackError;
use chitin_pack::reference::Reference;
use reqwest::{Method, Response, StatusCode};

/// Speaks to OCI registries. One value serves any number of them, at once; tokens are kept in it.
#[derive(Debug)]
pub struct RegistryClient {
    pub(crate) transport: Transport,
}

impl RegistryClient {
    /// Makes a client. Nothing is sent yet.
    pub fn new(options: RegistryOptions, keychain: Keychain) -> Result<Self, PackError> {
        Ok(Self {
            transport: Transport::new(options, keychain)?,
        })
    }

    /// Asks a registry whether it is one and takes our credentials.
    ///
    /// Cancellation safe: nothing is changed.
    pub async fn check(&self, host: &str) -> Result<(), PackError> {
        let probe: Reference = format!("{host}/check").parse()?;
        let endpoint = self.endpoint(&probe)?;
        let mut patience = self.patience();
        loop {
            match self.probe(&endpoint).await {
                Ok(()) => return Ok(()),
                Err(failure) => patience.wait(failure, None).await?,
            }
        }
    }

    async fn probe(&self, endpoint: &Endpoint) -> Result<(), Failure> {
        let request = Request::new(endpoint, "", Action::Pull, Method::GET, endpoint.url(""));
        let response = self.transport.send(&request).await?;
        match response.status() {
            StatusCode::OK => Ok(()),
            StatusCode::NOT_FOUND => {
                Err(wrong_answer(endpoint, "it does not know the protocol").into())
            }
            _ => Err(refused(endpoint, "the registry", response).await),
        }
    }

    /// Decides how the host of a reference is spoken to.
    pub(crate) fn endpoint(&self, reference: &Reference) -> Result<Endpoint, PackError> {
        let host = reference.host()?;
        Endpoint::new(host, self.transport.options.plain_http)
    }

    pub(crate) const fn patience(&self) -> Patience {
        Patience::new(self.transport.options.retries)
    }

    /// Sends a request that only reads until it gets an answer, and reads that.
    pub(crate) async fn read(
        &self,
        request: &Request<'_>,
        what: &str,
        limit: usize,
    ) -> Result<FetchedBody, PackError> {
        let mut patience = self.patience();
        loop {
            match self.read_once(request, what, limit).await {
                Ok(found) => return Ok(found),
                Err(failure) => patience.wait(failure, None).await?,
            }
        }
    }

    async fn read_once(
        &self,
        request: &Request<'_>,
        what: &str,
        limit: usize,
    ) -> Result<FetchedBody, Failure> {
        let response = self.transport.send(request).await?;
        if response.status() != StatusCode::OK {
            return Err(refused(request.endpoint, what, response).await);
        }
        let header = |name: &str| header(&response, name);
        let (digest, link, media_type) = (
            header("docker-content-digest"),
            header("link"),
            header("content-type"),
        );
        let length = header("content-length").and_then(|length| length.parse().ok());
        let body = if request.method == Method::HEAD {
            Bytes::new()
        } else {
            self.transport
                .body(request.endpoint, response, limit)
                .await?
        };
        Ok(FetchedBody {
            body,
            digest,
            link,
            media_type,
            length,
        })
    }
}

/// An answer that was read.
#[derive(Debug)]
pub(crate) struct FetchedBody {
    pub(crate) body: Bytes,
    /// The digest that the registry gives it.
    pub(crate) digest: Option<String>,
    /// Where it goes on.
    pub(crate) link: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) length: Option<u64>,
}

/// Returns a header as text.
pub(crate) fn header(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}
