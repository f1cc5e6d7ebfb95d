//! Where a built-in provider is.

use super::resolve::Sources;
use super::table::Provider;
use crate::request::Api;

/// Returns where a built-in provider is: where the environment says, else where the table says.
pub(super) fn base_url(provider: &Provider, sources: &Sources<'_>) -> String {
    let said = provider
        .base_url_variable
        .and_then(|name| (sources.variables)(name))
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty());
    match (said, provider.api) {
        (None, _) => provider.base_url.to_owned(),
        (Some(host), Api::Ollama) => ollama_address(&host),
        (Some(url), _) => url,
    }
}

/// Ollama's variable may lack the scheme, the host or the port, and may name the address that the server listens on.
fn ollama_address(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/');
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !port.is_empty() => {
            (host, Some(port))
        }
        Some(_) | None => (rest, None),
    };
    let host = match host {
        "" | "0.0.0.0" | "[::]" | "::" => "127.0.0.1",
        host => host,
    };
    match (port, scheme) {
        (Some(port), _) => format!("{scheme}://{host}:{port}"),
        (None, "https") => format!("{scheme}://{host}"),
        (None, _) => format!("{scheme}://{host}:11434"),
    }
}

#[cfg(test)]
mod tests {
    use super::ollama_address;

    #[test]
    fn the_variable_of_ollama_may_be_written_in_many_ways() {
        for (written, address) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            (":8080", "http://127.0.0.1:8080"),
            ("http://box.example:1234/", "http://box.example:1234"),
            ("https://box.example", "https://box.example"),
        ] {
            assert_eq!(ollama_address(written), address, "{written}");
        }
    }
}
