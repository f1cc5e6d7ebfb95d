//! Logging in on the page, and out.

use crate::answer::{Caller, unauthorized};
use crate::auth::{self, Needs};
use crate::body::{Body, json, read_json};
use crate::error::ApiError;
use crate::login::COOKIE;
use crate::shared::Shared;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, SET_COOKIE};
use hyper::{HeaderMap, Request, Response, StatusCode};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

/// Who signs in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginRequest {
    /// The server's token.
    #[schemars(with = "String")]
    token: SecretString,
}

/// Signed in.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LoginReply {
    /// The value for the header `x-chitin-csrf`.
    csrf: String,
}

/// Who is signed in.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Me {
    /// The server's version.
    version: String,
    /// The contract.
    contract: String,
    /// The value for the header `x-chitin-csrf`; absent for whoever sent the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    csrf: Option<String>,
}

/// Lets in who knows the token: a cookie for the browser, and what its page proves itself with.
pub(crate) async fn login(
    shared: &Shared,
    caller: &Caller,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let (head, body) = request.into_parts();
    shared.auth.check_page(&head.headers, Needs::NoOrigin)?;
    let asked: LoginRequest = read_json(&head.headers, body, shared).await?;
    if !shared.auth.knows(asked.token.expose_secret().trim()) {
        shared.count_failure(caller.address)?;
        return Err(unauthorized());
    }
    let fresh = shared.logins.begin(shared.now());
    let fresh = fresh
        .ok_or_else(|| ApiError::internal("The operating system provides no random numbers."))?;
    shared.keep_logins().await;
    let reply = LoginReply { csrf: fresh.csrf };
    let mut response = json(StatusCode::OK, &reply);
    set_cookie(&mut response, &head.headers, &fresh.name, "");
    Ok(response)
}

/// Shows out whoever asks, now and after a restart.
pub(crate) async fn logout(shared: &Shared, headers: &HeaderMap) -> Response<Body> {
    if let Some(name) = auth::cookie(headers, COOKIE) {
        shared.logins.end(name);
        shared.keep_logins().await;
    }
    let mut response = json(StatusCode::OK, &super::Success::DONE);
    set_cookie(&mut response, headers, "", "; Max-Age=0");
    response
}

/// Says whether somebody is logged in. A page asks this first, so being nobody is no mistake that counts.
pub(crate) fn me(shared: &Shared, headers: &HeaderMap) -> Result<Response<Body>, ApiError> {
    let mut said = Me {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        contract: shared.gateway.parts().contract.name.to_owned(),
        csrf: None,
    };
    if !shared.auth.lets_in(headers) {
        let name = auth::cookie(headers, COOKIE).ok_or_else(unauthorized)?;
        let csrf = shared.logins.csrf(name, shared.now());
        let csrf = csrf.ok_or_else(unauthorized)?;
        shared.auth.check_page(headers, Needs::NoOrigin)?;
        said.csrf = Some(csrf);
    }
    Ok(json(StatusCode::OK, &said))
}

/// Sets the cookie. Scripts cannot read it, no other site sends it, and it keeps to TLS unless the browser is on this machine.
fn set_cookie(response: &mut Response<Body>, asked: &HeaderMap, name: &str, more: &str) {
    let secure = if auth::is_near(asked) { "" } else { "; Secure" };
    let cookie = format!("{COOKIE}={name}; Path=/; HttpOnly; SameSite=Strict{secure}{more}");
    if let Ok(mut cookie) = HeaderValue::try_from(cookie) {
        cookie.set_sensitive(true);
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
}
