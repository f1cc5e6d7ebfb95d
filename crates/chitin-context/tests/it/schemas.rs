//! The committed JSON schema is that of the type. Run with `UPDATE_SCHEMAS=1` to write it anew.
#![expect(
    clippy::disallowed_methods,
    reason = "the test reads and writes the committed schema file"
)]

use chitin_context::view::View;
use std::path::Path;

#[test]
fn the_committed_schema_of_a_context_is_that_of_the_type() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/context.json");
    let schema = schemars::schema_for!(View);
    let generated = serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n";
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &generated).unwrap_or_else(|e| unreachable!("no schema: {e}"));
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, generated, "run the tests with UPDATE_SCHEMAS=1");
}
