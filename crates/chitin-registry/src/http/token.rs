//! Tokens: what a registry's challenge is answered with.

use super::challenge::Challenge;
use super::endpoint::Endpoint;
use super::failure::{Failure, refused, wrong_answer};
use super::transport::{Transport, read_limited};
use crate::auth::Credentials;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_pack::{ErrorClass, PackError};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// Longer tokens are nobody's.
const MAX_TOKEN_BYTES: usize = 256 * 1024;

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<SecretString>,
    access_token: Option<SecretString>,
}

impl Transport {
    /// Answers a challenge: returns what goes into the `Authorization` header.
    pub(super) async fn answer(
        &self,
        endpoint: &Endpoint,
        challenge: Option<Challenge>,
        wanted: &str,
    ) -> Result<HeaderValue, Failure> {
        let credentials = self.credentials(&endpoint.host).await?;
        match (challenge, &credentials) {
            (None, _) => {
                let text = "it wants credentials and does not say which";
                Err(wrong_answer(endpoint, text).into())
            }
            (Some(_), Credentials::RegistryToken(token)) => Ok(bearer(endpoint, token)?),
            (Some(Challenge::Basic), Credentials::Basic { user, password }) => {
                Ok(basic(user, password))
            }
            (Some(Challenge::Basic), Credentials::Anonymous | Credentials::IdentityToken(_)) => {
                Err(nobody(endpoint).into())
            }
            (
                Some(Challenge::Bearer {
                    realm,
                    service,
                    scope,
                }),
                credentials,
            ) => {
                let scope = if wanted.is_empty() {
                    scope
                } else {
                    Some(wanted.to_owned())
                };
                let token = self
                    .ask_for_token(endpoint, &realm, service, scope, credentials)
                    .await?;
                Ok(bearer(endpoint, &token)?)
            }
        }
    }

    /// The registry named the realm, and the credentials are the registry's: they may go there, over TLS.
    async fn ask_for_token(
        &self,
        endpoint: &Endpoint,
        realm: &str,
        service: Option<String>,
        scope: Option<String>,
        credentials: &Credentials,
    ) -> Result<SecretString, Failure> {
        let mut url = Url::parse(realm)
            .ok()
            .filter(|url| endpoint.may_lead_to(url))
            .ok_or_else(|| {
                wrong_answer(
                    endpoint,
                    "tokens are handed out at an address that is not used",
                )
            })?;
        let mut pairs = Vec::new();
        pairs.extend(service.as_deref().map(|service| ("service", service)));
        pairs.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let request = match credentials {
            Credentials::IdentityToken(token) => {
                pairs.extend([
                    ("grant_type", "refresh_token"),
                    ("client_id", "chitin"),
                    ("refresh_token", token.expose_secret()),
                ]);
                let form = encoded(&pairs);
                self.client
                    .request(Method::POST, url)
                    .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .body(form)
            }
            Credentials::Basic { user, password } => {
                url.query_pairs_mut().extend_pairs(pairs);
                let header = basic(user, password);
                self.client.get(url).header(AUTHORIZATION, header)
            }
            Credentials::Anonymous | Credentials::RegistryToken(_) => {
                url.query_pairs_mut().extend_pairs(pairs);
                self.client.get(url)
            }
        };
        let response = self.execute(endpoint, request).await?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
                if matches!(credentials, Credentials::Anonymous) =>
            {
                return Err(nobody(endpoint).into());
            }
            _ => return Err(refused(endpoint, "a token", response).await),
        }
        let idle = self.options.timeouts.idle;
        let body = read_limited(endpoint, response, MAX_TOKEN_BYTES, idle).await?;
        serde_json::from_slice::<TokenAnswer>(&body)
            .ok()
            .and_then(|answer| answer.token.or(answer.access_token))
            .ok_or_else(|| wrong_answer(endpoint, "a token that is not one").into())
    }
}

fn nobody(endpoint: &Endpoint) -> PackError {
    let message = format!("`{}` wants credentials, and there are none", endpoint.host);
    PackError::new(ErrorClass::Unauthorized, message).hint("log in to the registry first")
}

fn basic(user: &str, password: &SecretString) -> HeaderValue {
    let pair = format!("{user}:{}", password.expose_secret());
    let text = format!("Basic {}", STANDARD.encode(pair));
    // Base64 is always a header; the other branch is never taken.
    let mut header =
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Basic"));
    header.set_sensitive(true);
    header
}

fn bearer(endpoint: &Endpoint, token: &SecretString) -> Result<HeaderValue, PackError> {
    let text = format!("Bearer {}", token.expose_secret());
    let mut header = HeaderValue::from_str(&text)
        .map_err(|_| wrong_answer(endpoint, "a token that is not one"))?;
    header.set_sensitive(true);
    Ok(header)
}

/// Writes pairs as a form.
fn encoded(pairs: &[(&str, &str)]) -> String {
    Url::parse("form:/")
        .map(|mut url| {
            url.query_pairs_mut().extend_pairs(pairs);
            url.query().unwrap_or_default().to_owned()
        })
        .unwrap_or_default()
}
