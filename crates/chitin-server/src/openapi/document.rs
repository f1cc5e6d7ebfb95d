//! Makes the document. Only tests call this: the program serves what is committed.

use crate::error::{ErrorBody, OpenAiErrorBody};
use crate::login::{COOKIE, CSRF_HEADER};
use crate::operations::{
    Access, LONGEST_NAME, OPERATIONS, Operation, Parameter, ParameterKind, Verb, shape,
};
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json as value};
use std::collections::{BTreeMap, BTreeSet};

/// Where the document has its schemas.
const SCHEMAS: &str = "/components/schemas";

/// Where it has its responses.
const RESPONSES: &str = "/components/responses";
/// The statuses of failed requests.
const FAILURES: [u16; 17] = [
    400, 401, 403, 404, 408, 409, 410, 411, 413, 415, 426, 429, 500, 501, 502, 503, 504,
];

/// Collects the schemas of the types that operations name.
pub(crate) struct Schemas {
    requests: SchemaGenerator,
    replies: SchemaGenerator,
}

/// What an operation takes and replies with.
pub(crate) struct Shape {
    pub(crate) request: Option<Content>,
    pub(crate) replies: Vec<(u16, Content)>,
    pub(crate) failures: Vec<u16>,
}

/// A body: its media types, each with its schema. A body without any is empty.
pub(crate) struct Content(Vec<(&'static str, Value)>);

/// A request in JSON.
pub(crate) fn request<T: JsonSchema>(schemas: &mut Schemas) -> Content {
    let schema = schemas.requests.subschema_for::<T>().to_value();
    Content(vec![("application/json", value!({ "schema": schema }))])
}

/// A reply in JSON.
pub(crate) fn json<T: JsonSchema>(schemas: &mut Schemas) -> Content {
    let schema = schemas.replies.subschema_for::<T>().to_value();
    Content(vec![("application/json", value!({ "schema": schema }))])
}

/// A stream of server-sent events. OpenAPI 3.1 has no word for their data, so the schema stands in an extension.
pub(crate) fn events<T: JsonSchema>(schemas: &mut Schemas) -> Content {
    let schema = schemas.replies.subschema_for::<T>().to_value();
    let stream = value!({"schema": {"type": "string"}, "x-event-data": schema});
    Content(vec![("text/event-stream", stream)])
}

/// A reply in JSON, or a stream of events, as the client asks.
pub(crate) fn stream_or<E: JsonSchema, T: JsonSchema>(schemas: &mut Schemas) -> Content {
    let Content(mut media) = json::<T>(schemas);
    media.extend(events::<E>(schemas).0);
    Content(media)
}

/// A WebSocket: no body, and messages of the client and of the server.
pub(crate) fn messages<C: JsonSchema, S: JsonSchema>(schemas: &mut Schemas) -> Content {
    schemas.requests.subschema_for::<C>();
    schemas.replies.subschema_for::<S>();
    Content(Vec::new())
}

/// Plain text.
pub(crate) fn text(_: &mut Schemas) -> Content {
    let schema = value!({"schema": {"type": "string"}});
    Content(vec![("text/plain", schema)])
}

/// An OpenAPI document.
pub(crate) fn document(_: &mut Schemas) -> Content {
    let schema = value!({"schema": {"type": "object"}});
    Content(vec![("application/json", schema)])
}

fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = SCHEMAS.into();
        settings.meta_schema = None;
        settings.contract = contract;
    });
    settings.into_generator()
}

/// Makes the OpenAPI document of the API.
pub fn openapi_document() -> Value {
    let mut schemas = Schemas {
        requests: generator(Contract::Deserialize),
        replies: generator(Contract::Serialize),
    };
    schemas.replies.subschema_for::<ErrorBody>();
    schemas.replies.subschema_for::<OpenAiErrorBody>();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for operation in OPERATIONS {
        let shape = shape(operation.endpoint, &mut schemas);
        let path = operation.path.replace("{*", "{");
        let methods = paths.entry(path).or_default();
        methods.insert(
            method(operation.verb).to_owned(),
            described(operation, shape),
        );
    }
    let mut paths = value!(paths);
    let components = components(&mut schemas, &mut paths);
    value!({
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Chitin",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The HTTP and WebSocket API of `chitin serve`. See docs/reference/http.md.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:7717"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The server's token."},
                "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by `POST /api/login`."},
                "csrf": {
                    "type": "apiKey", "in": "header", "name": CSRF_HEADER,
                    "description": "Returned by `POST /api/login` and `GET /api/me`. The cookie needs it for everything but `GET` and `HEAD`.",
                },
            },
            "responses": failed_responses(),
            "schemas": components,
        },
    })
}

const fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get | Verb::Stream => "get",
        Verb::Post => "post",
        Verb::Put => "put",
    }
}

fn described(operation: &Operation, shape: Shape) -> Value {
    let failures = failures(operation, &shape);
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for status in failures {
        responses.insert(status.to_string(), failed(operation, status));
    }
    for (status, content) in shape.replies {
        responses.insert(status.to_string(), reply(status, content));
    }
    let mut described = value!({
        "operationId": word(&format!("{:?}", operation.endpoint)),
        "summary": operation.summary,
        "tags": [operation.label],
        "parameters": parameters(operation),
        "responses": responses,
    });
    if let Some(Content(media)) = shape.request {
        let content: Map<String, Value> = named(media);
        described["requestBody"] = value!({"required": true, "content": content});
    }
    match (operation.access, operation.verb) {
        (Access::Public | Access::SignIn, _) => described["security"] = value!([]),
        (Access::SignedIn, _) | (Access::Token, Verb::Get | Verb::Stream) => {
            described["security"] = value!([{"token": []}, {"cookie": []}]);
        }
        (Access::Token, Verb::Post | Verb::Put) => {
            described["security"] = value!([{"token": []}, {"cookie": [], "csrf": []}]);
        }
    }
    described
}

/// Returns the name of an operation as programs spell it.
fn word(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

fn named(media: Vec<(&'static str, Value)>) -> Map<String, Value> {
    let named = media.into_iter();
    named
        .map(|(kind, schema)| (kind.to_owned(), schema))
        .collect()
}

/// What any operation of this kind can fail with, and what this one can.
fn failures(operation: &Operation, shape: &Shape) -> BTreeSet<u16> {
    // A `Host` that is not allowed, an `Origin` that is not allowed, too many requests.
    let mut failures = BTreeSet::from([400, 403, 429]);
    failures.extend(&shape.failures);
    if operation.access != Access::Public {
        // Shutting down; or too much at once.
        failures.extend([401, 500, 503]);
    }
    if shape.request.is_some() {
        failures.extend([408, 411, 413, 415]);
    }
    failures
}

/// Names the response of a failed request, which many operations share.
fn failed(operation: &Operation, status: u16) -> Value {
    let format = if operation.path.starts_with("/v1/") {
        "OpenAiError"
    } else {
        "Error"
    };
    value!({"$ref": format!("#{RESPONSES}/{format}{status}")})
}

/// Makes the responses of failed requests.
fn failed_responses() -> BTreeMap<String, Value> {
    let mut responses = BTreeMap::new();
    for status in FAILURES {
        for format in ["Error", "OpenAiError"] {
            let schema = value!({"$ref": format!("#{SCHEMAS}/{format}Body")});
            let response = value!({
                "description": reason(status), "content": {"application/json": {"schema": schema}},
            });
            responses.insert(format!("{format}{status}"), response);
        }
    }
    responses
}

fn reply(status: u16, Content(media): Content) -> Value {
    let mut reply = value!({"description": reason(status)});
    if !media.is_empty() {
        reply["content"] = Value::Object(named(media));
    }
    reply
}

fn reason(status: u16) -> &'static str {
    let status = hyper::StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or("")
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let mut parameters = Vec::new();
    let in_path = operation.path.split_once('{');
    if let Some((name, _)) = in_path.and_then(|(_, rest)| rest.split_once('}')) {
        parameters.push(value!({
            "name": name.trim_start_matches('*'), "in": "path", "required": true,
            "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
        }));
    }
    parameters.extend(operation.query.iter().map(in_query));
    let header = match operation.path {
        "/api/messages" => Some((
            "Idempotency-Key",
            "Names the message: the same key is the same message.",
            256,
        )),
        "/v1/chat/completions" => Some(("X-Session-Key", "Selects a persistent session.", 512)),
        _ => None,
    };
    parameters.extend(header.map(|(name, summary, longest)| {
        value!({
            "name": name, "in": "header", "description": summary,
            "schema": {"type": "string", "minLength": 1, "maxLength": longest},
        })
    }));
    parameters
}

fn in_query(parameter: &Parameter) -> Value {
    let schema = match parameter.kind {
        ParameterKind::Text => value!({"type": "string"}),
        ParameterKind::Needed => value!({"type": "string", "minLength": 1}),
        ParameterKind::Texts => value!({"type": "array", "items": {"type": "string"}}),
        ParameterKind::Count => value!({"type": "integer", "minimum": 1}),
    };
    let mut parameter_of = value!({
        "name": parameter.name, "in": "query", "description": parameter.summary, "schema": schema,
    });
    if parameter.kind == ParameterKind::Needed {
        parameter_of["required"] = value!(true);
    }
    parameter_of
}

/// Puts the schemas together. A type that is both sent and received may have two: what is optional when it is read need not be when it
/// is written. The one for requests has another name then.
fn components(schemas: &mut Schemas, paths: &mut Value) -> Map<String, Value> {
    let mut replies = schemas.replies.take_definitions(true);
    replies.values_mut().for_each(never_null_where_absent);
    let mut requests = schemas.requests.take_definitions(true);
    let differs =
        |name: &str, schema: &Value| replies.get(name).is_some_and(|other| other != schema);
    let mut renamed: BTreeSet<String> = requests
        .iter()
        .filter(|(name, schema)| differs(name, schema))
        .map(|(name, _)| name.clone())
        .collect();
    // A schema that names one of these is another one too.
    loop {
        let more: Vec<String> = requests
            .iter()
            .filter(|(name, schema)| {
                !renamed.contains(*name)
                    && replies.contains_key(*name)
                    && names_any(schema, &renamed)
            })
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        renamed.extend(more);
    }
    for schema in requests.values_mut() {
        rename(schema, &renamed);
    }
    if let Value::Object(paths) = paths {
        let operations = paths.values_mut().filter_map(Value::as_object_mut);
        for operation in operations.flat_map(|methods| methods.values_mut()) {
            rename(&mut operation["requestBody"], &renamed);
            if operation["requestBody"].is_null()
                && let Some(operation) = operation.as_object_mut()
            {
                operation.shift_remove("requestBody");
            }
        }
    }
    let requests = requests.into_iter().map(|(name, schema)| {
        if renamed.contains(&name) {
            (format!("{name}Input"), schema)
        } else {
            (name, schema)
        }
    });
    let sorted: BTreeMap<String, Value> = requests.chain(replies).collect();
    sorted.into_iter().collect()
}

/// What may be absent of a reply is absent instead of null.
fn never_null_where_absent(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let required = fields.get("required").cloned().unwrap_or_default();
            let is_required = |name: &String| {
                let mut names = required.as_array().into_iter().flatten();
                names.any(|one| one == name)
            };
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                let absent = properties.iter_mut().filter(|(name, _)| !is_required(name));
                absent.for_each(|(_, property)| without_null(property));
            }
            fields.values_mut().for_each(never_null_where_absent);
        }
        Value::Array(items) => items.iter_mut().for_each(never_null_where_absent),
        _ => {}
    }
}

fn without_null(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            fields.insert("type".to_owned(), kind);
        }
    }
    let Some(Value::Array(choices)) = fields.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice != &value!({"type": "null"}));
    if let [Value::Object(choice)] = choices.as_slice() {
        let choice = choice.clone();
        fields.shift_remove("anyOf");
        fields.extend(choice);
    }
}

fn target(text: &str) -> Option<&str> {
    text.strip_prefix("#")?
        .strip_prefix(SCHEMAS)?
        .strip_prefix('/')
}

fn names_any(schema: &Value, names: &BTreeSet<String>) -> bool {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, field)| match (key.as_str(), field) {
                ("$ref", Value::String(text)) => {
                    target(text).is_some_and(|name| names.contains(name))
                }
                (_, field) => names_any(field, names),
            }),
        Value::Array(items) => items.iter().any(|item| names_any(item, names)),
        _ => false,
    }
}

fn rename(schema: &mut Value, names: &BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, field) in fields {
                if let ("$ref", Value::String(text)) = (key.as_str(), &*field)
                    && target(text).is_some_and(|name| names.contains(name))
                {
                    *field = Value::String(format!("{text}Input"));
                } else {
                    rename(field, names);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        _ => {}
    }
}
