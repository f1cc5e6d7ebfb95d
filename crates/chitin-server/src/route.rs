//! Which endpoint a request is for.

use crate::operations::{Endpoint, LONGEST_NAME, Operation, Parameter, at_path};
use crate::page::Page;
use percent_encoding::percent_decode_str;

/// The most pairs of a query.
const MOST_PAIRS: usize = 64;

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// A file of the page, by its place among them.
    Page(usize),
    /// An operation of the API, with the name in its path; empty if it has none.
    Operation(&'static Operation, String),
    /// A webhook of a channel, by its place among them.
    Webhook(usize),
}

/// Why there is no endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoRoute {
    /// Nothing has this path.
    Unknown,
    /// It takes other methods: these.
    Method(String),
}

impl Route {
    /// Tells whether an answer must be exact: text that is edited and sent back, and what is the same for everybody.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Page(_) | Self::Webhook(_) => true,
            Self::Operation(operation, _) => matches!(
                operation.endpoint,
                Endpoint::File
                    | Endpoint::SaveFile
                    | Endpoint::Login
                    | Endpoint::Me
                    | Endpoint::OpenApi
                    | Endpoint::Health
                    | Endpoint::Ready
            ),
        }
    }

    /// Finds the endpoint for a method and a path.
    pub fn find(method: &str, path: &str) -> Result<Self, NoRoute> {
        let operations = at_path(path);
        let Some((_, spelled)) = operations.first() else {
            let file = Page::find(path).ok_or(NoRoute::Unknown)?;
            return match method {
                "GET" | "HEAD" => Ok(Self::Page(file)),
                _ => Err(NoRoute::Method("GET, HEAD".to_owned())),
            };
        };
        let name = match *spelled {
            "" => String::new(),
            spelled => name(spelled).ok_or(NoRoute::Unknown)?,
        };
        let mut takes = operations.iter().map(|(operation, _)| *operation);
        if let Some(operation) = takes.find(|operation| operation.verb.methods().contains(&method))
        {
            Ok(Self::Operation(operation, name))
        } else {
            let methods = operations.iter().map(|(operation, _)| operation.verb);
            let methods: Vec<&str> = methods
                .flat_map(|verb| verb.methods().iter().copied())
                .collect();
            Err(NoRoute::Method(methods.join(", ")))
        }
    }
}

/// Reads a name in a path.
fn name(text: &str) -> Option<String> {
    if text.len() > 3 * LONGEST_NAME {
        return None;
    }
    let name = percent_decode_str(text).decode_utf8().ok()?.into_owned();
    let fine = !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(char::is_control);
    fine.then_some(name)
}

/// What stands behind the question mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query; what cannot be understood is left out.
    pub fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.take(MOST_PAIRS).filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(key)?, decoded(value)?))
        });
        Self(pairs.collect())
    }

    /// Leaves out what an operation does not take.
    pub(crate) fn only(mut self, parameters: &[Parameter]) -> Self {
        self.0
            .retain(|(name, _)| parameters.iter().any(|one| one.name == name));
        self
    }

    /// Returns the first value of a name that is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns every value of a name that is not empty.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }
}

fn decoded(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let text = percent_decode_str(&text).decode_utf8().ok()?;
    Some(text.into_owned())
}
