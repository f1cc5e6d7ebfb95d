//! What a registry asks for when it does not know us: the `WWW-Authenticate` header.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// Longer headers are nobody's.
const MAX_BYTES: usize = 8 * 1024;

/// How a registry wants to be shown who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// With name and password.
    Basic,
    /// With a token that somebody else hands out.
    Bearer {
        /// Where tokens are handed out.
        realm: String,
        /// The name of the registry over there.
        service: Option<String>,
        /// What the token is to be good for, if the registry says so.
        scope: Option<String>,
    },
}

impl Challenge {
    /// Finds the strongest challenge that we can answer.
    pub(super) fn find(headers: &HeaderMap) -> Option<Self> {
        let found: Vec<_> = headers
            .get_all(WWW_AUTHENTICATE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .filter(|text| text.len() <= MAX_BYTES)
            .flat_map(parse)
            .collect();
        let is_bearer = |challenge: &&Self| matches!(challenge, Self::Bearer { .. });
        found.iter().find(is_bearer).or(found.first()).cloned()
    }
}

/// One challenge while it is read.
#[derive(Default)]
struct Open {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Open {
    fn close(self) -> Option<Challenge> {
        let get = |name: &str| {
            self.parameters
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.clone())
        };
        if self.scheme.eq_ignore_ascii_case("basic") {
            Some(Challenge::Basic)
        } else if self.scheme.eq_ignore_ascii_case("bearer") {
            Some(Challenge::Bearer {
                realm: get("realm")?,
                service: get("service"),
                scope: get("scope"),
            })
        } else {
            None
        }
    }
}

/// Reads a header: schemes, each with parameters, everything between commas.
fn parse(text: &str) -> Vec<Challenge> {
    let mut found = Vec::new();
    let mut open = Open::default();
    let mut rest = text.trim_start_matches([' ', ',', '\t']);
    while !rest.is_empty() {
        let end = rest.find([' ', '=', ',', '\t']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let after = after.trim_start_matches([' ', '\t']);
        if let Some(value) = after.strip_prefix('=') {
            let (value, after) = take_value(value.trim_start_matches([' ', '\t']));
            open.parameters.push((word.to_owned(), value));
            rest = after;
        } else {
            found.extend(std::mem::take(&mut open).close());
            word.clone_into(&mut open.scheme);
            rest = after;
        }
        rest = rest.trim_start_matches([' ', ',', '\t']);
    }
    found.extend(open.close());
    found
}

/// Takes a quoted or plain value; returns it and what follows.
fn take_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Challenge {
        Challenge::Bearer {
            realm: realm.to_owned(),
            service: service.map(str::to_owned),
            scope: scope.map(str::to_owned),
        }
    }

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        assert_eq!(parse("Basic realm=\"a, b\""), [Challenge::Basic]);
        assert_eq!(
            parse(
                "Bearer realm=\"https://auth.example/token\",service=\"reg\",scope=\"repository:a/b:pull,push\""
            ),
            [bearer(
                "https://auth.example/token",
                Some("reg"),
                Some("repository:a/b:pull,push")
            )]
        );
        assert_eq!(
            parse("Negotiate, Basic realm=x, bearer realm = \"q\\\"q\""),
            [Challenge::Basic, bearer("q\"q", None, None)]
        );
        assert_eq!(parse("Bearer service=\"no realm\""), []);
        assert_eq!(parse(""), []);
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic_or_loop(text in "\\PC{0,80}") {
            parse(&text);
        }

        #[test]
        fn a_quoted_realm_comes_out_as_it_went_in(realm in "[ -~]{0,40}") {
            let quoted = realm.replace('\\', "\\\\").replace('"', "\\\"");
            let found = parse(&format!("Bearer realm=\"{quoted}\""));
            prop_assert_eq!(found, [bearer(&realm, None, None)]);
        }
    }
}
