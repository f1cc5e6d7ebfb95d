//! What strangers send to the server: paths, queries, and requests in `OpenAI`'s shape.

use crate::novelty;
use chitin_server::openai::{ChatRequest, Role};
use chitin_server::route::{NoRoute, Query, Route};

/// What requests are made of.
pub const DICTIONARY: &[&str] = &[
    "GET",
    "POST",
    "/health",
    "/api/sessions/",
    "/api/sessions/agent%3Amain%3Amain/context",
    "/stop",
    "/v1/models/chitin%2Fmain",
    "/v1/chat/completions",
    "%00",
    "%2F",
    "%ff",
    "?",
    "&",
    "=",
    "+",
    "job=",
    "session=",
    "{\"model\":\"chitin\",\"messages\":[",
    "{\"role\":\"user\",\"content\":",
    "{\"role\":\"system\",\"content\":",
    "\"assistant\"",
    "\"tool\"",
    "[{\"type\":\"text\",\"text\":\"hi\"}]",
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}",
    "\"stream\":true",
    "\"stream_options\":{\"include_usage\":true}",
    "\"user\":\"ada\"",
    "\"n\":2",
    "\"tools\":[{}]",
    "\"tool_choice\":\"none\"",
    "\"response_format\":{\"type\":\"text\"}",
    "null",
    "]}",
];

/// Takes the first line as a method, the second as a path, the third as a query, and the rest as a body.
pub fn run(data: &[u8]) {
    let mut parts = data.splitn(4, |byte| *byte == b'\n');
    let [method, path, query, body] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let [method, path, query] = [method, path, query].map(String::from_utf8_lossy);
    check_route(&method, &path);
    check_query(&query);
    check_request(body);
    // An input may be all body.
    check_request(data);
}

fn check_route(method: &str, path: &str) {
    let found = Route::find(method, path);
    novelty::note(std::mem::discriminant(&found));
    match found {
        Ok(Route::Operation(operation, name)) => {
            assert!(operation.verb.methods().contains(&method), "{method:?}");
            assert_eq!(name.is_empty(), !operation.path.contains('{'), "{path:?}");
            assert!(
                name.len() <= 1024 && !name.contains(char::is_control),
                "{name:?}"
            );
        }
        Ok(route @ (Route::Page(_) | Route::Webhook(_))) => {
            assert!(path.is_ascii(), "{route:?} {path:?}");
        }
        Err(NoRoute::Method(allowed)) => {
            // One of those that are allowed leads there.
            let one = allowed.split(", ").next().unwrap_or_default();
            assert!(Route::find(one, path).is_ok(), "{method:?} {path:?}");
        }
        Err(NoRoute::Unknown) => {
            assert_eq!(Route::find("GET", path), Err(NoRoute::Unknown));
        }
    }
}

fn check_query(text: &str) {
    let query = Query::parse(text);
    for name in ["job", "session", "limit"] {
        assert_eq!(query.get(name), query.all(name).next());
        assert!(query.all(name).count() <= 64);
        assert!(query.all(name).all(|value| !value.is_empty()));
    }
}

fn check_request(bytes: &[u8]) {
    let request = match ChatRequest::parse(bytes) {
        Ok(request) => request,
        Err(problem) => {
            novelty::note((problem.code, problem.param));
            assert!(problem.status.is_client_error(), "{problem:?}");
            assert!(problem.message.ends_with('.'), "{problem:?}");
            assert!(problem.message.len() < 1024, "{problem:?}");
            return;
        }
    };
    novelty::note((
        request.stream,
        request.include_usage,
        request.user.is_some(),
        request.images.len().min(3),
        request.before.len().min(4),
    ));
    assert!(!request.model.is_empty());
    assert!(!request.text.trim().is_empty() || !request.images.is_empty());
    for image in &request.images {
        assert!(image.mime_type.starts_with("image/"), "{image:?}");
        assert!(!image.data.is_empty());
    }
    let instructions = request
        .before
        .iter()
        .filter(|message| message.role == Role::Instructions);
    assert!(instructions.count() <= request.before.len());
}
