//! Addresses of downloads: `http` and `https` only, brought into the one form that browsers print.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Normalises an address; `None` when it is not one, or its host is not plain ASCII.
pub(super) fn normalise(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let rest = rest.trim_start_matches(['/', '\\']);
    let (authority, rest) = split_before(rest, &['/', '\\', '?', '#']);
    let (before_fragment, fragment) = split_before(rest, &['#']);
    let (path, query) = split_before(before_fragment, &['?']);
    let (user, host_and_port) = match authority.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, authority),
    };
    let (host, port) = split_port(host_and_port)?;
    let mut out = format!("{scheme}://");
    if let Some(user) = user {
        write_user(&mut out, user);
    }
    out.push_str(&normalise_host(host)?);
    if let Some(port) = port.filter(|port| *port != default_port) {
        let _ = write!(out, ":{port}");
    }
    write_path(&mut out, path);
    if !query.is_empty() {
        out.push('?');
        encode(&mut out, &query[1..], "\"<>'");
    }
    if !fragment.is_empty() {
        out.push('#');
        encode(&mut out, &fragment[1..], "\"<>`");
    }
    Some(out)
}

fn split_before<'a>(text: &'a str, marks: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(marks).unwrap_or(text.len()))
}

fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let after_bracket = text.rfind(']').map_or(0, |at| at + 1);
    match text[after_bracket..].find(':') {
        None => Some((text, None)),
        Some(at) => {
            let (host, port) = text.split_at(after_bracket + at);
            let port = &port[1..];
            if port.is_empty() {
                return Some((host, None));
            }
            let digits = port.bytes().all(|b| b.is_ascii_digit());
            digits
                .then(|| port.parse().ok())
                .flatten()
                .map(|port| (host, Some(port)))
        }
    }
}

fn write_user(out: &mut String, user: &str) {
    const SET: &str = "\"#<>?`{}/:;=@[\\]^|";
    let (name, password) = match user.split_once(':') {
        Some((name, password)) => (name, password),
        None => (user, ""),
    };
    if name.is_empty() && password.is_empty() {
        return;
    }
    encode(out, name, SET);
    if !password.is_empty() {
        out.push(':');
        encode(out, password, SET);
    }
    out.push('@');
}

fn normalise_host(host: &str) -> Option<String> {
    if let Some(address) = host.strip_prefix('[') {
        let address: Ipv6Addr = address.strip_suffix(']')?.parse().ok()?;
        return Some(format!("[{address}]"));
    }
    let host = percent_decode(host)?.to_ascii_lowercase();
    let forbidden = |c: char| !c.is_ascii_graphic() || "#/:<>?@[\\]^|%".contains(c);
    if host.is_empty() || host.contains(forbidden) {
        return None;
    }
    let labels: Vec<&str> = host.strip_suffix('.').unwrap_or(&host).split('.').collect();
    let numeric = labels.last().is_some_and(|last| {
        last.starts_with(|c: char| c.is_ascii_digit()) && ipv4_number(last).is_some()
            || !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit())
    });
    if numeric {
        return ipv4(&labels).map(|address| address.to_string());
    }
    Some(host)
}

fn ipv4(labels: &[&str]) -> Option<Ipv4Addr> {
    let (last, leading) = labels.split_last()?;
    if leading.len() > 3 {
        return None;
    }
    let mut address: u64 = 0;
    for label in leading {
        let byte = ipv4_number(label).filter(|n| *n < 256)?;
        address = address << 8 | byte;
    }
    let width = 8 * (4 - u32::try_from(leading.len()).ok()?);
    let last = ipv4_number(last).filter(|n| *n < 1 << width)?;
    u32::try_from(address << width | last)
        .ok()
        .map(Ipv4Addr::from)
}

fn ipv4_number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return if hex.is_empty() {
            Some(0)
        } else {
            u64::from_str_radix(hex, 16).ok()
        };
    }
    if text.len() > 1 && text.starts_with('0') {
        return u64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

fn write_path(out: &mut String, path: &str) {
    let mut segments: Vec<&str> = Vec::new();
    let body = path.strip_prefix(['/', '\\']).unwrap_or(path);
    let parts: Vec<&str> = body.split(['/', '\\']).collect();
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        match part.to_ascii_lowercase().replace("%2e", ".").as_str() {
            ".." => {
                segments.pop();
                if last {
                    segments.push("");
                }
            }
            "." => {
                if last {
                    segments.push("");
                }
            }
            _ => segments.push(part),
        }
    }
    for segment in segments {
        out.push('/');
        encode(out, segment, "\"#<>?`{}");
    }
}

/// Percent-encodes controls, spaces, what is not ASCII, and the characters of a set.
fn encode(out: &mut String, text: &str, set: &str) {
    for c in text.chars() {
        if c.is_ascii_graphic() && !set.contains(c) {
            out.push(c);
            continue;
        }
        let mut buffer = [0; 4];
        for byte in c.encode_utf8(&mut buffer).bytes() {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let taken = if hex.is_some() { 2 } else { 0 };
        bytes.push(hex.unwrap_or(*first));
        rest = &tail[taken..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn addresses_take_the_form_that_browsers_print() {
        let shown: Vec<String> = [
            "HTTPS://Example.Invalid:443/a/../b/./c",
            "http://example.invalid",
            "http:example.invalid:8080?q=a'b#f`g",
            "https://u:p@example.invalid\\x y",
            "https://example.invalid/ü%2e%2E/z",
            "http://127.1/",
            "http://[::1]:80/",
            "ftp://example.invalid/",
            "https://",
            "https://ex ample/",
            "https://example.invalid:99999/",
            "no address",
        ]
        .into_iter()
        .map(|text| normalise(text).unwrap_or_else(|| "refused".to_owned()))
        .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        https://example.invalid/b/c
        http://example.invalid/
        http://example.invalid:8080/?q=a%27b#f%60g
        https://u:p@example.invalid/x%20y
        https://example.invalid/%C3%BC%2e%2E/z
        http://127.0.0.1/
        http://[::1]/
        refused
        refused
        refused
        refused
        refused
        ");
    }
}
