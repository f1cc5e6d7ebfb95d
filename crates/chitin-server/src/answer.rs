//! One request: may it, what is it, what is the answer.

use crate::body::Body;
use crate::connection::Seat;
use crate::problem::{Face, Problem};
use crate::route::{NoRoute, Query, Route};
use crate::shared::Shared;
use crate::{api, openai, socket};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Request, Response, StatusCode};
use std::net::IpAddr;
use std::sync::Arc;

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
    let answered = match admit(&shared, &caller, &request) {
        Ok(route) => Box::pin(by_route(shared, caller, route, request)).await,
        Err(problem) => Err(problem),
    };
    let mut response = answered.unwrap_or_else(|problem| problem.response(face));
    response
        .headers_mut()
        .insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Finds the endpoint, for those who may know.
fn admit(shared: &Shared, caller: &Caller, request: &Request<Incoming>) -> Result<Route, Problem> {
    let (uri, headers) = (request.uri(), request.headers());
    shared.count_request(caller.address)?;
    shared.door.check_host(headers, uri, caller.local)?;
    shared.door.check_origin(headers)?;
    let route = Route::find(request.method().as_str(), uri.path());
    if route != Ok(Route::Health) && !shared.door.lets_in(headers) {
        shared.count_failure(caller.address)?;
        return Err(unauthorized());
    }
    match route {
        Ok(Route::Health) => Ok(Route::Health),
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

fn unauthorized() -> Problem {
    let message = "The right token is needed.";
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
        Route::Health => Ok(api::health(&shared)),
        Route::Status => Ok(api::status(&shared)),
        Route::Agents => Ok(api::agents(&shared)),
        Route::Explain => api::explain(&shared, &query),
        Route::Send => api::send(shared, request).await,
        Route::Events => api::events(&shared, &query),
        Route::Socket => socket::upgrade(shared, caller, request),
        Route::Sessions => api::sessions(&shared, &query).await,
        Route::Session(key) => api::session(&shared, key, &query).await,
        Route::Context(key) => api::context(&shared, key).await,
        Route::Stop(key) => api::stop(&shared, &key),
        Route::ChatCompletions => openai::complete(shared, request).await,
        Route::Models => Ok(openai::models(&shared)),
        Route::Model(id) => openai::model(&shared, &id),
    }
}
