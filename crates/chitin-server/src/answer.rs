//! One request: may it, what is it, what is the answer.

use crate::body::Body;
use crate::connection::Seat;
use crate::door::{self, Needs};
use crate::metrics::Label;
use crate::problem::{Face, Problem};
use crate::route::{NoRoute, Query, Route};
use crate::shared::Shared;
use crate::{api, login, metrics, openai, socket, webhook};
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
    pub(crate) _seat: Arc<Seat>,
}

/// Answers a request, whatever it is.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    caller: Caller,
    request: Request<Incoming>,
) -> Response<Body> {
    let face = Face::of(request.uri().path());
    let route = find(&shared, &request);
    let label = route.as_ref().map_or(Label::NONE, Label::of);
    let counted = Arc::clone(&shared);
    let answered = match admit(&shared, &caller, &request, route) {
        Ok(route) => Box::pin(by_route(shared, caller, route, request)).await,
        Err(problem) => Err(problem),
    };
    let mut response = answered.unwrap_or_else(|problem| problem.response(face));
    counted.metrics.answered(label, response.status());
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
        Some(_) => Err(NoRoute::Method("POST")),
        None => Err(NoRoute::Unknown),
    }
}

/// Says which endpoint it is, to those who may know.
fn admit(
    shared: &Shared,
    caller: &Caller,
    request: &Request<Incoming>,
    route: Result<Route, NoRoute>,
) -> Result<Route, Problem> {
    let (uri, headers) = (request.uri(), request.headers());
    shared.count_request(caller.address)?;
    shared.door.check_host(headers, uri, caller.local)?;
    shared.door.check_origin(headers)?;
    let public = route.as_ref().is_ok_and(Route::is_public);
    if !public {
        authorize(shared, caller, request, route.as_ref().ok())?;
    }
    match route {
        Ok(route @ (Route::Health | Route::Ready | Route::Metrics | Route::Page(_))) => Ok(route),
        Ok(_) if !shared.is_open() => Err(Problem::closing()),
        Ok(route) => Ok(route),
        Err(NoRoute::Unknown) => Err(Problem::missing("There is no such endpoint.")),
        Err(NoRoute::Method(allow)) => Err(Problem {
            allow: Some(allow),
            ..Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "method_not_allowed",
                format!("This endpoint takes {allow}."),
            )
        }),
    }
}

/// Lets in who knows the token, and our own page after somebody logged in on it.
fn authorize(
    shared: &Shared,
    caller: &Caller,
    request: &Request<Incoming>,
    route: Option<&Route>,
) -> Result<(), Problem> {
    let headers = request.headers();
    if shared.door.lets_in(headers) {
        return Ok(());
    }
    let Some(name) = door::cookie(headers, login::COOKIE).filter(|_| !door::has_token(headers))
    else {
        shared.count_failure(caller.address)?;
        return Err(unauthorized());
    };
    // A cookie that is too old is no attempt to guess: names like these are not found by trying.
    let csrf = shared.logins.csrf(name, shared.now());
    let csrf = csrf.ok_or_else(unauthorized)?;
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let needs = match route {
        Some(Route::Socket) => Needs::Origin,
        _ if reads => Needs::NoOrigin,
        _ => Needs::Origin,
    };
    shared.door.check_page(headers, needs)?;
    let proof = headers.get(login::CSRF_HEADER);
    if reads || proof.is_some_and(|proof| proof.as_bytes().ct_eq(csrf.as_bytes()).into()) {
        return Ok(());
    }
    let message = "The CSRF token is missing or wrong.";
    let problem = Problem::new(StatusCode::FORBIDDEN, "bad_csrf", message);
    Err(problem.hint("`GET /api/me` returns the value for the header `x-chitin-csrf`."))
}

pub(crate) fn unauthorized() -> Problem {
    let message = "The token is missing or wrong.";
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}

async fn by_route(
    shared: Arc<Shared>,
    caller: Caller,
    route: Route,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let query = Query::parse(request.uri().query().unwrap_or_default());
    match route {
        Route::Page(file) => Ok(shared.page.answer(file, request.headers())),
        Route::Health => Ok(api::health(&shared)),
        Route::Ready => Ok(api::ready(&shared)),
        Route::Metrics => Ok(metrics::answer(&shared)),
        Route::Login => api::login(&shared, &caller, request).await,
        Route::Logout => Ok(api::logout(&shared, request.headers()).await),
        Route::Me => api::me(&shared, request.headers()),
        Route::Status => Ok(api::status(&shared)),
        Route::Agents => Ok(api::agents(&shared)),
        Route::Agent(id, part) => api::agent(&shared, id, part, &query, request).await,
        Route::Explain => api::explain(&shared, &query),
        Route::Routes => Ok(api::routes(&shared)),
        Route::Channels => Ok(api::channels(&shared)),
        Route::Pairing => api::pairing(&shared).await,
        Route::Pair(pair) => api::pair(&shared, pair, request).await,
        Route::Send => api::send(shared, request).await,
        Route::Events => api::events(&shared, &query),
        Route::Socket => socket::upgrade(shared, caller, request),
        Route::Sessions => api::sessions(&shared, &query).await,
        Route::Tree => api::tree(&shared).await,
        Route::Session(key) => api::session(&shared, key, &query).await,
        Route::Context(key) => api::context(&shared, key).await,
        Route::Turns(key) => api::turns(&shared, &key).await,
        Route::Lens(key) => api::lens(&shared, &key, &query).await,
        Route::Stop(key) => api::stop(&shared, &key),
        Route::Traces => api::traces(&shared, &query).await,
        Route::Trace(id) => api::trace(&shared, id).await,
        Route::ChatCompletions => openai::complete(shared, request).await,
        Route::Models => Ok(openai::models(&shared)),
        Route::Model(id) => openai::model(&shared, &id),
        Route::Webhook(at) => webhook::call(&shared, at, request).await,
    }
}
