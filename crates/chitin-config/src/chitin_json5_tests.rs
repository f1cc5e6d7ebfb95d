use super::*;
use crate::shape::names;

/// The table that judges the file and the type that holds it must not drift apart.
#[test]
fn the_table_knows_exactly_the_keys_of_the_type() {
    let schema = schemars::schema_for!(ChitinConfig).to_value();
    let mut typed: Vec<_> = schema["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let Shape::Object(fields) = CHITIN else {
        unreachable!("the table describes an object")
    };
    let mut known: Vec<_> = names(fields).filter(|name| *name != "$schema").collect();
    typed.sort_unstable();
    known.sort_unstable();
    assert_eq!(known, typed);
}

#[test]
fn the_table_knows_exactly_what_is_said_about_plugins() {
    let schema = schemars::schema_for!(chitin_protocol::settings::PluginSettings).to_value();
    let mut typed: Vec<_> = schema["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut known: Vec<_> = names(&[PLUGIN]).collect();
    typed.sort_unstable();
    known.sort_unstable();
    assert_eq!(known, typed);
}

#[test]
fn the_table_knows_exactly_what_is_said_about_models() {
    let schema = schemars::schema_for!(chitin_protocol::config::ModelSettings).to_value();
    let mut typed: Vec<_> = schema["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut known: Vec<_> = names(&[MODEL]).collect();
    typed.sort_unstable();
    known.sort_unstable();
    assert_eq!(known, typed);
}
