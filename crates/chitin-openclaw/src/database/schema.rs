//! Which release wrote a database, and whether its tables are tables.

use super::{Database, broken};
use crate::problem::HomeProblem;
use rusqlite::OptionalExtension;
use std::collections::BTreeSet;

/// What a database says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaMarks {
    /// The number of its schema.
    pub(crate) version: i64,
    /// The release that wrote to it last.
    pub(crate) app_version: Option<String>,
}

/// Which of the two kinds a database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaRole {
    /// The shared one.
    State,
    /// That of an agent.
    Agent,
}

impl SchemaRole {
    const fn newest(self) -> i64 {
        match self {
            Self::State => crate::compat::STATE_SCHEMA,
            Self::Agent => crate::compat::AGENT_SCHEMA,
        }
    }

    const fn written(self) -> &'static str {
        match self {
            Self::State => "global",
            Self::Agent => "agent",
        }
    }
}

impl Database {
    /// Reads what the database says of itself, and whether it may be read by what is known today (H6). The marks come with the refusal
    /// too.
    pub(crate) fn marks(&self, role: SchemaRole) -> (SchemaMarks, Result<(), HomeProblem>) {
        let number = |name| {
            let asked = self
                .db
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            asked.map_err(|error| broken(&self.place, &error))
        };
        let mut marks = SchemaMarks {
            version: 0,
            app_version: None,
        };
        match number("user_version") {
            Ok(version) => marks.version = version,
            Err(problem) => return (marks, Err(problem)),
        }
        let said = self.said();
        let refusal = |message: String| {
            let hint = "update Chitin, or read this store with the release that wrote it";
            Err(HomeProblem::new(&self.place, message).hint(hint))
        };
        let (said_version, said_role) = match said {
            Ok(Some((version, role_said, app))) => {
                marks.app_version = app;
                (Some(version), Some(role_said))
            }
            Ok(None) => (None, None),
            Err(problem) => return (marks, Err(problem)),
        };
        let version = marks.version;
        let outcome = if version.max(said_version.unwrap_or(0)) > role.newest() {
            refusal(format!(
                "Its schema is {}, newer than the known {}.",
                version.max(said_version.unwrap_or(0)),
                role.newest()
            ))
        } else if said_version.is_some_and(|said| said != version) {
            refusal(format!(
                "Its two schema numbers differ ({version} and {}), so it is not clear how to read it.",
                said_version.unwrap_or(0)
            ))
        } else if said_role.is_some_and(|said| said != role.written()) {
            refusal("It is a database of another kind.".to_owned())
        } else {
            Ok(())
        };
        (marks, outcome)
    }

    fn said(&self) -> Result<Option<(i64, String, Option<String>)>, HomeProblem> {
        if self.columns("schema_meta")?.is_none() {
            return Ok(None);
        }
        let asked = self
            .db
            .query_row(
                "SELECT schema_version, role, app_version FROM schema_meta LIMIT 1",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional();
        asked.map_err(|error| self.problem("schema_meta", &error))
    }

    /// Returns the stored columns of a table; nothing if there is no such table. What only looks like the table is an error: a view, a virtual
    /// table, and computed columns would run what the file says.
    pub(crate) fn columns(&self, table: &str) -> Result<Option<BTreeSet<String>>, HomeProblem> {
        let fail = |error: &rusqlite::Error| self.problem(table, error);
        let found: Option<(String, i64)> = self
            .db
            .query_row(
                "SELECT type, rootpage FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')",
                [table],
                |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.unwrap_or(0))),
            )
            .optional()
            .map_err(|error| fail(&error))?;
        match found {
            None => return Ok(None),
            Some((kind, page)) if kind != "table" || page <= 0 => {
                let place = format!("{} {table}", self.place);
                return Err(HomeProblem::new(place, "It is a view or a virtual table."));
            }
            Some(_) => {}
        }
        let mut ask = self
            .db
            .prepare("SELECT name, hidden FROM pragma_table_xinfo(?1)")
            .map_err(|error| fail(&error))?;
        let rows = ask
            .query_map([table], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
            })
            .map_err(|error| fail(&error))?;
        let mut columns = BTreeSet::new();
        for row in rows {
            let (name, hidden) = row.map_err(|error| fail(&error))?;
            if hidden == 0 {
                columns.insert(name);
            }
        }
        Ok(Some(columns))
    }
}
