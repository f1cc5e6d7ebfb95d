//! Whether an `http` address parses as a URI by the older rules of RFC 2396, as Java's own class reads them.
//!
//! That class is stricter than browsers about characters (no space, no `|`, no stray `%`) and laxer about authorities: a
//! name that is no host is accepted as a registry name, and characters beyond ASCII pass unless they are spaces or
//! controls.

use std::net::Ipv6Addr;

/// Tells whether an address that begins with `http://` or `https://` parses.
pub(super) fn is_uri(address: &str) -> bool {
    let Some(rest) = address
        .strip_prefix("http://")
        .or_else(|| address.strip_prefix("https://"))
    else {
        return false;
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(authority_end);
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, fragment)) => (rest, fragment),
        None => (rest, ""),
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, query),
        None => (rest, ""),
    };
    let has_more = authority_end < address.len() - address.find("//").map_or(0, |at| at + 2);
    (has_more || !authority.is_empty())
        && is_authority(authority)
        && consists_of(path, b"/;:@&=+$,")
        && consists_of(query, b";/?:@&=+$,[]")
        && consists_of(fragment, b";/?:@&=+$,[]")
}

fn is_authority(authority: &str) -> bool {
    if !authority.contains(['[', ']']) {
        return consists_of(authority, b"$,;:@&=+");
    }
    let host = match authority.split_once('@') {
        Some((user, host)) => {
            if !consists_of(user, b";:&=+$,") {
                return false;
            }
            host
        }
        None => authority,
    };
    let Some((literal, port)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) else {
        return false;
    };
    is_ip_literal(literal) && is_port(port)
}

fn is_ip_literal(literal: &str) -> bool {
    let (ip, scope) = match literal.split_once('%') {
        Some((ip, scope)) => (ip, Some(scope)),
        None => (literal, None),
    };
    let scope_fits = scope.is_none_or(|scope| {
        !scope.is_empty()
            && scope
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
    });
    scope_fits && ip.parse::<Ipv6Addr>().is_ok()
}

fn is_port(port: &str) -> bool {
    match port.strip_prefix(':') {
        None => port.is_empty(),
        Some("") => true,
        Some(digits) => digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<i32>().is_ok(),
    }
}

/// Tells whether a part holds nothing but unreserved characters, those listed, whole `%` escapes, and characters beyond
/// ASCII that are neither spaces nor controls.
fn consists_of(part: &str, reserved: &[u8]) -> bool {
    let bytes = part.as_bytes();
    part.char_indices().all(|(at, c)| match u8::try_from(c) {
        Ok(b'%') => bytes
            .get(at + 1..at + 3)
            .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)),
        Ok(b) if b.is_ascii() => {
            b.is_ascii_alphanumeric() || b"_-!.~'()*".contains(&b) || reserved.contains(&b)
        }
        _ => !is_space_or_control(c),
    })
}

const fn is_space_or_control(c: char) -> bool {
    matches!(
        c,
        '\u{0}'..='\u{20}'
            | '\u{7f}'..='\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line was put to `java.net.URI` of Java 17.
    #[test]
    fn accepts_and_refuses_what_java_does() {
        for good in [
            "http:///x",
            "http://?q",
            "http://#f",
            "http://host",
            "http://ho_st/x",
            "http://host:",
            "http://host:abc",
            "http://u:p@h/",
            "http://@h",
            "http://h@x@y",
            "http://[::1]:8080/x",
            "http://h/x?q[1]",
            "http://h/#[x]",
            "http://h/%41",
            "http://h%41/",
            "http://é.example/",
            "http://h/é",
            "http://-h-/",
            "http://h..x/",
            "http://a,b;c=d&e+f$g/",
            "http://h/~!*'()",
            "http://[fe80::1%eth0]/",
            "http://h/\u{1f600}",
            "http://h/\u{200b}",
            "http://u@[::1]/",
            "http:///",
            "http://:80",
            "http://h:-1",
            "http://h/\u{feff}",
            "https://h?q",
        ] {
            assert!(is_uri(good), "{good}");
        }
        for bad in [
            "http://",
            "https://",
            "http://[::g]/",
            "http://[::1",
            "http://a]b",
            "http://h/a[b]",
            "http://h/#a#b",
            "http://h/%zz",
            "http://h/%2",
            "http://h/\u{a0}",
            "http://h/\u{3000}x",
            "http://h/\u{85}",
            "http://h/a\tb",
            "http://h/a|b",
            "http://h/a\\b",
            "http://h/a^b",
            "http://h/`",
            "http://h/{x}",
            "http://h/<x>",
            "http://h/\"x",
            "http://[v1.x]/",
            "http://[1.2.3.4]/",
            "http://h/\u{7f}",
            "http://h/\u{2028}",
            "http://x%/",
            "http://[::1]x/",
            "http://a b",
            "http://[]/",
            "http://h\u{a0}x/",
        ] {
            assert!(!is_uri(bad), "{bad}");
        }
    }
}
