//! JSON schemas from the types of arguments, and arguments from what a model sent.

use chitin_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Describes a tool by the type of its arguments.
pub fn spec<Arguments: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: schema::<Arguments>(),
    }
}

/// Describes a tool by the schema of its arguments as it was written down, see [`schema_on_file!`](crate::schema_on_file).
pub fn spec_on_file(name: &str, description: &str, schema: &str) -> ToolSpec {
    let parameters = serde_json::from_str(schema);
    debug_assert!(parameters.is_ok(), "a test holds that it is a schema");
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: parameters.unwrap_or_default(),
    }
}

/// Names the file beside the code that holds the schema of a type: `PARAMETERS`. Making schemas from types anew would take a fifth of
/// a short command's time. A test holds that the file is what the type gives; `UPDATE_SCHEMAS=1` writes it.
#[macro_export]
macro_rules! schema_on_file {
    ($arguments:ty, $file:literal) => {
        const PARAMETERS: &str = include_str!($file);

        #[cfg(test)]
        #[test]
        #[expect(
            clippy::disallowed_methods,
            reason = "a file of the source code, and a switch for its authors"
        )]
        fn the_schema_on_file_is_that_of_the_type() {
            let schema = $crate::schema::schema::<$arguments>();
            let made = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
            if std::env::var_os("UPDATE_SCHEMAS").is_some() {
                let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
                let path = std::path::Path::new(root)
                    .join(file!())
                    .with_file_name($file);
                std::fs::write(path, &made).expect("the schema can be written");
                return;
            }
            assert_eq!(PARAMETERS, made, "run the tests with UPDATE_SCHEMAS=1");
        }
    };
}

/// Returns the schema of a type as providers like it: everything in one place, no titles, no references, no unknown fields,
/// and what may be left out is simply not required.
pub fn schema<Arguments: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings
        .into_generator()
        .into_root_schema_for::<Arguments>();
    let mut schema = schema.to_value();
    tidy(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        // What the whole is for is said by the description of the tool.
        object.shift_remove("description");
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for name in ["$schema", "title", "format"] {
                // A property may have such a name; then its value is a schema, not a text.
                if object.get(name).is_some_and(Value::is_string) {
                    object.shift_remove(name);
                }
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.shift_remove("default");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(words)) = object.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            flatten_optional(object);
            if object.get("type").is_some_and(|kind| kind == "object") {
                object
                    .entry("additionalProperties")
                    .or_insert(Value::Bool(false));
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces "this or null" by "this".
fn flatten_optional(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get("anyOf") else {
        return;
    };
    let real: Vec<&Value> = choices
        .iter()
        .filter(|choice| choice["type"] != "null")
        .collect();
    if let ([Value::Object(only)], true) = (real.as_slice(), choices.len() == 2) {
        let only = only.clone();
        object.shift_remove("anyOf");
        for (name, value) in only {
            object.entry(name).or_insert(value);
        }
    }
}

/// Reads the arguments of a call. What does not fit becomes a sentence that says what was expected.
pub(crate) fn arguments<Arguments: DeserializeOwned>(
    spec: &ToolSpec,
    arguments: Value,
) -> Result<Arguments, String> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        // Some models send the object as text.
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    serde_json::from_value(arguments).map_err(|error| {
        format!(
            "The arguments of `{}` are invalid: {error}. Expected: {}.",
            spec.name,
            expected(&spec.parameters)
        )
    })
}

/// Says in a line which fields a schema has.
fn expected(schema: &Value) -> String {
    let required = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|required| required.iter().any(|field| field == name))
    };
    let fields: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| {
            let kind = field["type"].as_str().unwrap_or("value");
            let need = if required(name) {
                "required"
            } else {
                "optional"
            };
            format!("`{name}` ({kind}, {need})")
        })
        .collect();
    if fields.is_empty() {
        "no fields".to_owned()
    } else {
        fields.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{arguments, schema, spec};
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::{Value, json};

    /// Not seen by a model.
    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Sample {
        /// Which one.
        title: String,
        /// How many.
        #[serde(default)]
        how_many: Option<u32>,
        #[serde(default)]
        parts: Vec<Part>,
        #[serde(default)]
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    struct Part {
        name: Option<String>,
    }

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        One,
        Two,
    }

    #[test]
    fn a_schema_is_flat_and_closed() {
        assert_eq!(
            schema::<Sample>(),
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "description": "Which one."},
                    "howMany": {"type": "integer", "description": "How many.", "minimum": 0},
                    "parts": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": false}
                    },
                    "kind": {"type": "string", "enum": ["one", "two"]}
                },
                "additionalProperties": false,
                "required": ["title"]
            })
        );
    }

    #[test]
    fn what_does_not_fit_is_explained() {
        let spec = spec::<Sample>("sample", "");
        let told = |value: Value| arguments::<Sample>(&spec, value).unwrap_err();
        let all = "Expected: `title` (string, required), `howMany` (integer, optional), `parts` (array, optional), `kind` (string, optional).";
        for (value, problem) in [
            (json!({}), "missing field `title`"),
            (json!(null), "missing field `title`"),
            (
                json!({"title": 1}),
                "invalid type: integer `1`, expected a string",
            ),
            (
                json!("{broken"),
                "invalid type: string \"{broken\", expected struct Sample",
            ),
        ] {
            assert_eq!(
                told(value),
                format!("The arguments of `sample` are invalid: {problem}. {all}")
            );
        }
        assert!(told(json!({"title": "x", "titel": 1})).contains("unknown field `titel`"));
        let as_text = arguments::<Sample>(&spec, json!("{\"title\": \"x\", \"howMany\": null}"));
        assert_eq!(as_text.map(|sample| sample.title), Ok("x".to_owned()));
    }
}
