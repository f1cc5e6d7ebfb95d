//! A stream of what happens.

use crate::body::{Body, events as stream};
use crate::error::ApiError;
use crate::feed::{Feed, Until};
use crate::route::Query;
use crate::shared::Shared;
use chitin_gateway::Topic;
use hyper::Response;

/// Tells what happens: to one job until it is over, to one session, or to all.
pub(crate) fn events(shared: &Shared, query: &Query) -> Result<Response<Body>, ApiError> {
    let (topic, until) = match (query.get("job"), query.get("session")) {
        (Some(_), Some(_)) => {
            return Err(ApiError::bad("Either `job` or `session`, not both."));
        }
        (Some(job), None) => (Topic::Job(job.to_owned()), Until::JobEnds),
        (None, Some(key)) => (
            Topic::Session(super::sessions::key(shared, key)?),
            Until::ServerEnds,
        ),
        (None, None) => (Topic::All, Until::ServerEnds),
    };
    let room = shared.stream()?;
    let subscription = shared.gateway.subscribe(topic.clone());
    // Asked after listening began: whatever is open now is heard to its end.
    if let Topic::Job(job) = &topic
        && !shared.gateway.is_open(job)
    {
        return Err(ApiError::missing("There is no such open job.")
            .hint("The reply of a finished job is in its session."));
    }
    let answering = match query.get("answers") {
        None => None,
        Some("approvals") => shared.gateway.answers_approvals(topic),
        Some(_) => {
            let message = "The only thing to answer is `approvals`.";
            return Err(ApiError::bad(message).param("answers"));
        }
    };
    let feed = Feed::new(shared, subscription, until, room).answering(answering);
    Ok(stream(feed.stream()))
}
