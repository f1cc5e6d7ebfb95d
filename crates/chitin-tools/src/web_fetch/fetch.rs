//! One fetch: every hop is looked up, judged, and connected to the very address that was judged.

use super::address::{AllowedAddresses, inner_address};
use chitin_net::{TlsRoots, client_builder};
use chitin_protocol::settings::WebFetchSettings;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use thiserror::Error;

/// No honest address is longer.
const LONGEST_URL: usize = 4096;

/// What a fetch may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchOptions {
    /// Inner addresses that are allowed.
    pub allowed: AllowedAddresses,
    /// How much of a page is read.
    pub max_bytes: usize,
    /// How long a fetch may take in all.
    pub time: Duration,
    /// How many redirects are followed.
    pub redirects: u32,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self::from(&WebFetchSettings::default())
    }
}

impl From<&WebFetchSettings> for FetchOptions {
    fn from(settings: &WebFetchSettings) -> Self {
        let allowed = settings.allow_addresses.iter().flatten();
        Self {
            allowed: AllowedAddresses::new(allowed.map(String::as_str)),
            max_bytes: settings
                .max_bytes
                .map_or(2 * 1024 * 1024, |bytes| bytes as usize),
            time: Duration::from_secs(settings.seconds.map_or(30, u64::from)),
            redirects: settings.redirects.unwrap_or(5),
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(super) struct Fetched {
    /// Where it came from, after redirects.
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    /// Whether the body is longer than was read.
    pub(super) is_cut: bool,
}

/// Why nothing came back.
#[derive(Debug, Error)]
pub(super) enum FetchError {
    #[error(
        "cannot fetch `{0}`: only `http` and `https` URLs with a host and without credentials are allowed"
    )]
    NoUrl(String),
    #[error(
        "`{url}` was not fetched: `{address}` is {what}. The user can allow it with `tools.webFetch.allowAddresses`"
    )]
    Inner {
        url: String,
        address: IpAddr,
        what: &'static str,
    },
    #[error("could not resolve `{host}`: {source}")]
    Lookup {
        host: String,
        source: std::io::Error,
    },
    #[error("`{0}` has no address")]
    NoAddress(String),
    #[error("there are more than {0} redirects")]
    Redirects(u32),
    #[error("it took longer than {} seconds", .0.as_secs())]
    Time(Duration),
    #[error("{0}")]
    Http(String),
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        // The cause of the cause says what happened; the first one only that something did.
        let error = error.without_url();
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        Self::Http(text)
    }
}

/// Fetches a page. Dropping the future ends it.
pub(super) async fn fetch(
    url: &str,
    options: &FetchOptions,
    trust: &TlsRoots,
) -> Result<Fetched, FetchError> {
    tokio::time::timeout(options.time, follow(url, options, trust))
        .await
        .unwrap_or(Err(FetchError::Time(options.time)))
}

async fn follow(
    url: &str,
    options: &FetchOptions,
    trust: &TlsRoots,
) -> Result<Fetched, FetchError> {
    let mut url = checked_url(url)?;
    for _ in 0..=options.redirects {
        let response = get(&url, options, trust).await?;
        let target = response
            .status()
            .is_redirection()
            .then(|| response.headers().get(LOCATION)?.to_str().ok())
            .flatten();
        let Some(target) = target else {
            return read(url, response, options.max_bytes).await;
        };
        let next = url
            .join(target)
            .map_err(|_| FetchError::NoUrl(target.to_owned()))?;
        url = checked_url(next.as_str())?;
    }
    Err(FetchError::Redirects(options.redirects))
}

fn checked_url(text: &str) -> Result<Url, FetchError> {
    let wrong = || FetchError::NoUrl(text.chars().take(200).collect());
    if text.len() > LONGEST_URL {
        return Err(wrong());
    }
    let mut url = Url::parse(text.trim()).map_err(|_| wrong())?;
    let is_plain = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain {
        return Err(wrong());
    }
    url.set_fragment(None);
    Ok(url)
}

async fn get(url: &Url, options: &FetchOptions, trust: &TlsRoots) -> Result<Response, FetchError> {
    let host = url.host_str().unwrap_or_default().to_owned();
    let addresses = judged_addresses(url, &host, options).await?;
    let tls = trust.tls_for(url.as_str()).map_err(FetchError::Http)?;
    // No proxy: it would look the name up again, and reach whatever it can reach.
    let client = client_builder(tls)
        .user_agent(concat!("chitin/", env!("CARGO_PKG_VERSION")))
        // The name is not looked up a second time.
        .resolve_to_addrs(&host, &addresses)
        .build()?;
    let accept = "text/html, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5";
    Ok(client
        .get(url.clone())
        .header(ACCEPT, accept)
        .send()
        .await?)
}

/// Looks a host up and keeps the addresses that may be connected to.
async fn judged_addresses(
    url: &Url,
    host: &str,
    options: &FetchOptions,
) -> Result<Vec<SocketAddr>, FetchError> {
    let port = url.port_or_known_default().unwrap_or(443);
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = match literal.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => tokio::net::lookup_host((host, port))
            .await
            .map_err(|source| FetchError::Lookup {
                host: host.to_owned(),
                source,
            })?
            .collect(),
    };
    let mut refused = None;
    let mut judged = Vec::new();
    for address in found {
        match inner_address(address.ip()) {
            Some(what) if !options.allowed.allow(address.ip()) => {
                refused = refused.or(Some(FetchError::Inner {
                    url: url.to_string(),
                    address: address.ip(),
                    what,
                }));
            }
            Some(_) | None => judged.push(address),
        }
    }
    // A name with one inner address is a trap, whatever the others are.
    match (refused, judged.is_empty()) {
        (Some(refused), _) => Err(refused),
        (None, true) => Err(FetchError::NoAddress(host.to_owned())),
        (None, false) => Ok(judged),
    }
}

async fn read(url: Url, mut response: Response, max_bytes: usize) -> Result<Fetched, FetchError> {
    let status = response.status().as_u16();
    let content_type = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_lowercase();
    let mut body = Vec::new();
    let mut is_cut = false;
    while let Some(chunk) = response.chunk().await? {
        let room = max_bytes - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(Fetched {
        url,
        status,
        content_type,
        body,
        is_cut,
    })
}
