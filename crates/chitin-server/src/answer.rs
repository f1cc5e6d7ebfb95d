//! One request: may it, what is it, what is the answer.

use crate::auth::{self, Needs};
use crate::body::Body;
use crate::connection::Seat;
use crate::error::{ApiError, ErrorFormat};
use crate::metrics::Label;
use crate::operations::{Access, Endpoint, Operation};
use crate::route::{NoRoute, Query, Route};
use crate::shared::Shared;
use crate::{api, forward, login, metrics, openai, openapi, socket, webhook};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Method, Request, Response, StatusCode};
use std::net::IpAddr;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Who asks.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Where from.
    pub(crate) address: IpAddr,
    /// Which of our addresses was asked.
    pub(crate) local: IpAddr,
    /// The room that the connection takes.
    pub(crate) seat: Arc<Seat>,
}

/// Answers a request, whatever it is.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    caller: Caller,
    request: Request<Incoming>,
) -> Response<Body> {
    let format = ErrorFormat::of(request.uri().path());
    if shared.gateway.has_left() {
        let passed_on = forward::request(&shared, &caller, request).await;
        return passed_on.unwrap_or_else(|problem| problem.response(format));
    }
    let route = find(&shared, &request);
    let label = route.as_ref().map_or(Label::NONE, Label::of);
    let counted = Arc::clone(&shared);
    // Text that is edited and sent back must be the text of the file.
    let is_exact = route.as_ref().is_ok_and(Route::is_exact);
    let answered = match admit(&shared, &caller, &request, route) {
        Ok(route) => Box::pin(by_route(shared, caller, route, request)).await,
        Err(problem) => Err(problem),
    };
    let mut response = answered.unwrap_or_else(|problem| problem.response(format));
    counted.metrics.answered(label, response.status());
    if !is_exact
        && let Body::Whole(Some(bytes)) = response.body_mut()
        && bytes.starts_with(b"{")
    {
        counted.attached.redact_json(bytes);
    }
    if counted.gateway.has_left() && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        forward::ends(&mut response);
    }
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Nothing of ours stands in pages of others, not even as a picture.
    let own = HeaderValue::from_static("same-origin");
    headers.insert("cross-origin-resource-policy", own);
    response
}

/// Finds the endpoint. What networks call never stands in the way of our own.
fn find(shared: &Shared, request: &Request<Incoming>) -> Result<Route, NoRoute> {
    let (method, path) = (request.method().as_str(), request.uri().path());
    let found = Route::find(method, path);
    if found != Err(NoRoute::Unknown) {
        return found;
    }
    let mut webhooks = shared.attached.webhooks.iter();
    match webhooks.position(|webhook| webhook.path() == path) {
        Some(at) if method == "POST" => Ok(Route::Webhook(at)),
        Some(_) => Err(NoRoute::Method("POST".to_owned())),
        None => Err(NoRoute::Unknown),
    }
}

/// Says which endpoint it is, to those who may know.
fn admit(
    shared: &Shared,
    caller: &Caller,
    request: &Request<Incoming>,
    route: Result<Route, NoRoute>,
) -> Result<Route, ApiError> {
    let (uri, headers) = (request.uri(), request.headers());
    shared.count_request(caller.address)?;
    shared.auth.check_host(headers, uri, caller.local)?;
    shared.auth.check_origin(headers)?;
    let token = match &route {
        Ok(Route::Page(_) | Route::Webhook(_)) => false,
        Ok(Route::Operation(operation, _)) => operation.access == Access::Token,
        // Whoever has no token learns nothing about what there is.
        Err(_) => true,
    };
    // Whoever shows it keeps the connection, whatever was asked.
    if auth::has_token(headers) && shared.auth.lets_in(headers) {
        caller.seat.is_known();
    }
    if token {
        authorize(shared, caller, request, route.as_ref().ok())?;
    }
    match route {
        Ok(route) if is_always_open(&route) => Ok(route),
        Ok(_) if !shared.is_open() => Err(ApiError::closing()),
        Ok(route) => Ok(route),
        Err(NoRoute::Unknown) => Err(ApiError::missing("There is no such endpoint.")),
        Err(NoRoute::Method(allow)) => Err(ApiError {
            allow: Some(allow.as_str().into()),
            ..ApiError::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "method_not_allowed",
                format!("This endpoint takes {allow}."),
            )
        }),
    }
}

/// Tells whether an endpoint answers while the server is shutting down.
fn is_always_open(route: &Route) -> bool {
    match route {
        Route::Page(_) => true,
        Route::Operation(operation, _) => matches!(
            operation.endpoint,
            Endpoint::Health | Endpoint::Ready | Endpoint::Metrics | Endpoint::OpenApi
        ),
        Route::Webhook(_) => false,
    }
}

/// Lets in who knows the token, and our own page after somebody logged in on it.
fn authorize(
    shared: &Shared,
    caller: &Caller,
    request: &Request<Incoming>,
    route: Option<&Route>,
) -> Result<(), ApiError> {
    let headers = request.headers();
    if shared.auth.lets_in(headers) {
        return Ok(());
    }
    let Some(name) = auth::cookie(headers, login::COOKIE).filter(|_| !auth::has_token(headers))
    else {
        shared.count_failure(caller.address)?;
        return Err(unauthorized());
    };
    // A cookie that is too old is no attempt to guess: names like these are not found by trying.
    let csrf = shared.logins.csrf(name, shared.now());
    let csrf = csrf.ok_or_else(unauthorized)?;
    caller.seat.is_known();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let needs = match route {
        Some(Route::Operation(operation, _)) if operation.endpoint == Endpoint::Socket => {
            Needs::Origin
        }
        _ if reads => Needs::NoOrigin,
        _ => Needs::Origin,
    };
    shared.auth.check_page(headers, needs)?;
    let proof = headers.get(login::CSRF_HEADER);
    if reads || proof.is_some_and(|proof| proof.as_bytes().ct_eq(csrf.as_bytes()).into()) {
        return Ok(());
    }
    let message = "The CSRF token is missing or wrong.";
    let problem = ApiError::new(StatusCode::FORBIDDEN, "bad_csrf", message);
    Err(problem.hint("`GET /api/me` returns the value for the header `x-chitin-csrf`."))
}

pub(crate) fn unauthorized() -> ApiError {
    let message = "The token is missing or wrong.";
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}

async fn by_route(
    shared: Arc<Shared>,
    caller: Caller,
    route: Route,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    match route {
        Route::Page(file) => Ok(shared.page.answer(file, request.headers())),
        Route::Operation(operation, name) => {
            by_operation(shared, caller, operation, name, request).await
        }
        Route::Webhook(at) => webhook::call(&shared, at, request).await,
    }
}

async fn by_operation(
    shared: Arc<Shared>,
    caller: Caller,
    operation: &Operation,
    name: String,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let query = Query::parse(request.uri().query().unwrap_or_default()).only(operation.query);
    match operation.endpoint {
        Endpoint::Health => Ok(api::health(&shared)),
        Endpoint::Ready => Ok(api::ready(&shared)),
        Endpoint::Metrics => Ok(metrics::answer(&shared)),
        Endpoint::OpenApi => Ok(openapi::answer(request.headers())),
        Endpoint::Login => api::login(&shared, &caller, request).await,
        Endpoint::Logout => Ok(api::logout(&shared, request.headers()).await),
        Endpoint::Me => api::me(&shared, request.headers()),
        Endpoint::Status => Ok(api::status(&shared)),
        Endpoint::Agents => Ok(api::agents(&shared)),
        Endpoint::Files => api::files(&shared, name).await,
        Endpoint::File => api::file(&shared, name, &query).await,
        Endpoint::SaveFile => api::save_file(&shared, name, &query, request).await,
        Endpoint::Preview => api::preview(&shared, name, request).await,
        Endpoint::Skills => api::skills(&shared, name).await,
        Endpoint::Findings => api::findings(&shared, name).await,
        Endpoint::Changes => api::changes(&shared, name, &query).await,
        Endpoint::TurnChanges => api::turn_changes(&shared, name, &query).await,
        Endpoint::UndoPreview => api::undo_preview(&shared, name, &query).await,
        Endpoint::Undo => api::undo(&shared, name, request).await,
        Endpoint::Memory => api::memory(&shared, name, &query).await,
        Endpoint::Explain => api::explain(&shared, &query),
        Endpoint::Routes => Ok(api::routes(&shared)),
        Endpoint::Channels => Ok(api::channels(&shared)),
        Endpoint::Pairing => api::pairing(&shared).await,
        Endpoint::Approve => api::approve(&shared, request).await,
        Endpoint::Reject => api::reject(&shared, request).await,
        Endpoint::Revoke => api::revoke(&shared, request).await,
        Endpoint::Approvals => api::approvals(&shared).await,
        Endpoint::RevokeApproval => api::revoke_approval(&shared, request).await,
        Endpoint::AnswerApproval => api::answer_approval(&shared, name, request).await,
        Endpoint::Send => api::send(shared, caller, request).await,
        Endpoint::Events => api::events(&shared, &query),
        Endpoint::Socket => socket::upgrade(shared, caller, request),
        Endpoint::Sessions => api::sessions(&shared, &query).await,
        Endpoint::Tree => api::tree(&shared, &query).await,
        Endpoint::Session => api::session(&shared, name, &query).await,
        Endpoint::Context => api::context(&shared, name).await,
        Endpoint::Turns => api::turns(&shared, &name).await,
        Endpoint::Lens => api::lens(&shared, &name, &query).await,
        Endpoint::Stop => api::stop(&shared, &name),
        Endpoint::DeleteSession => api::delete_session(&shared, &name, request).await,
        Endpoint::Traces => api::traces(&shared, &query).await,
        Endpoint::Trace => api::trace(&shared, name).await,
        Endpoint::ChatCompletions => openai::complete(shared, caller, request).await,
        Endpoint::Models => Ok(openai::models(&shared)),
        Endpoint::Model => openai::model(&shared, &name),
    }
}
