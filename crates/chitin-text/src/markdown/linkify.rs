//! Addresses in words, which become links without markup.

use super::inline::{Event, push};
use super::reference::{is_allowed, normalized};
use chitin_protocol::text::is_js_whitespace;

/// Endings of hosts that need no scheme before them, besides those of two letters.
const ENDINGS: [&str; 17] = [
    "biz", "com", "edu", "gov", "net", "org", "pro", "web", "xxx", "aero", "asia", "coop", "info",
    "museum", "name", "shop", "рф",
];

/// Endings of two letters that are no countries.
const COUNTRIES: &str = "ac ad ae af ag ai al am an ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv \
bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga \
gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki \
km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc \
ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl \
sm sn so sr st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tp tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws \
ye yt za zm zw";

/// Turns addresses in text into links, but for what is in links already.
pub(super) fn linkify(events: Vec<Event>) -> Vec<Event> {
    let mut linked: Vec<Event> = Vec::with_capacity(events.len());
    let mut depth = 0usize;
    for event in events {
        match event {
            Event::LinkOpen { .. } => depth += 1,
            Event::LinkClose => depth = depth.saturating_sub(1),
            Event::Text(text) if depth == 0 && may_hold_link(&text) => {
                split(&text, &mut linked);
                continue;
            }
            _ => {}
        }
        linked.push(event);
    }
    linked
}

fn may_hold_link(text: &str) -> bool {
    text.contains(['.', ':', '@'])
}

fn split(text: &str, events: &mut Vec<Event>) {
    let mut shown = 0;
    let escaped_before = matches!(events.last(), Some(Event::Escaped(_)));
    for found in addresses(text) {
        let href = normalized(&found.href);
        if !is_allowed(&href) || (found.start == 0 && escaped_before) {
            continue;
        }
        push(events, Event::Text(text[shown..found.start].to_owned()));
        events.push(Event::LinkOpen { href, found: true });
        events.push(Event::Text(text[found.start..found.end].to_owned()));
        events.push(Event::LinkClose);
        shown = found.end;
    }
    push(events, Event::Text(text[shown..].to_owned()));
}

struct Address {
    start: usize,
    end: usize,
    href: String,
}

/// Returns the addresses in a text, in order.
fn addresses(text: &str) -> Vec<Address> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let Some(address) = next_address(text, at) else {
            break;
        };
        at = address.end;
        found.push(address);
    }
    found
}

fn next_address(text: &str, from: usize) -> Option<Address> {
    let mut at = from;
    while at < text.len() {
        let begins = is_start(text, at, from);
        let word = &text[at..];
        if begins {
            if let Some(found) = with_scheme(text, at)
                .or_else(|| email(text, at))
                .or_else(|| host_only(text, at))
            {
                return Some(found);
            }
            // A word is looked at once, but a scheme may stand behind other characters.
            let length = word_length(word);
            if let Some(scheme) = scheme_in(text, at + 1, at + length) {
                return Some(scheme);
            }
            at += length.max(1);
        } else {
            at += word.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

/// Tells whether an address may begin at a place.
fn is_start(text: &str, at: usize, from: usize) -> bool {
    let first = text[at..].chars().next();
    let letter = first.is_some_and(|first| is_letter(first) && !SIGNS.contains(first));
    let before = text[..at].chars().next_back();
    let parted = |before: char| !is_letter(before) || SIGNS.contains(before);
    letter && (at == from && at == 0 || before.is_none_or(parted))
}

/// Returns the length of letters, digits and what joins them in hosts.
fn word_length(text: &str) -> usize {
    text.find(|character: char| !is_letter(character) || SIGNS.contains(character))
        .unwrap_or(text.len())
}

fn is_letter(character: char) -> bool {
    !is_separator(character) && !"<>\u{ff5c}".contains(character)
}

/// Signs that an address may stand behind, and that none begins with.
const SIGNS: &str = "$+<=>^`|\u{ff5c}";

/// Tells whether a character is white space, punctuation or a control.
fn is_separator(character: char) -> bool {
    is_blank(character)
        || character.is_ascii_punctuation() && !"$+<=>^`|~".contains(character)
        || (!character.is_ascii() && super::is_punctuation(character))
}

fn is_blank(character: char) -> bool {
    is_js_whitespace(character) || character.is_control()
}

const SCHEMES: [&str; 4] = ["https:", "http:", "ftp:", "mailto:"];

fn scheme_in(text: &str, from: usize, to: usize) -> Option<Address> {
    let word = text.get(from..to)?;
    let http = word.to_ascii_lowercase().find("http")?;
    with_scheme(text, from + http)
}

/// Returns the length of the address with a scheme that a text begins with.
pub(super) fn length_at_start(text: &str) -> Option<usize> {
    with_scheme(text, 0).map(|address| address.end)
}

fn with_scheme(text: &str, start: usize) -> Option<Address> {
    let rest = &text[start..];
    let scheme = SCHEMES.iter().find(|scheme| {
        rest.get(..scheme.len())
            .is_some_and(|begun| begun.eq_ignore_ascii_case(scheme))
    })?;
    let mut at = start + scheme.len();
    if *scheme == "mailto:" {
        let end = email(text, at)?.end;
        return Some(address(text, start, end, ""));
    }
    if !text[at..].starts_with("//") {
        return None;
    }
    at += 2;
    at += user_length(&text[at..]);
    let host = host_length(&text[at..]);
    if host == 0 {
        return None;
    }
    at += host;
    at += port_length(&text[at..]);
    if !host_ends(&text[at..]) {
        return None;
    }
    at += path_length(&text[at..]);
    Some(address(text, start, at, ""))
}

fn address(text: &str, start: usize, end: usize, scheme: &str) -> Address {
    Address {
        start,
        end,
        href: format!("{scheme}{}", &text[start..end]),
    }
}

/// Returns the length of `name:password@`.
fn user_length(text: &str) -> usize {
    let end = text.find(|c: char| is_blank(c) || "@/[]()<>\u{ff5c}".contains(c));
    match end {
        Some(end) if text.as_bytes()[end] == b'@' => end + 1,
        _ => 0,
    }
}

/// Returns the length of labels parted by dots.
fn host_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        let label = text[length..]
            .find(|c: char| !(is_letter(c) || c == '-' || c == '_'))
            .unwrap_or(text.len() - length);
        let label = &text[length..length + label];
        let label = label.trim_end_matches(['-', '_']);
        if label.is_empty() || label.starts_with(['-', '_']) {
            return length.saturating_sub(usize::from(length > 0));
        }
        length += label.len();
        if !text[length..].starts_with('.') {
            return length;
        }
        length += 1;
    }
}

fn port_length(text: &str) -> usize {
    let digits = text.strip_prefix(':').map_or(0, |port| {
        port.bytes().take_while(u8::is_ascii_digit).count()
    });
    if digits == 0 || digits > 5 {
        0
    } else {
        digits + 1
    }
}

/// Tells whether a host may end here.
fn host_ends(text: &str) -> bool {
    let mut next = text.chars();
    match (next.next(), next.next()) {
        (None, _) => true,
        (Some('-' | '_'), _) | (Some('.'), Some('-')) => false,
        (Some(':'), Some(digit)) => !digit.is_ascii_digit(),
        (Some('.'), Some(after)) => is_separator(after),
        (Some(first), _) => !is_letter(first),
    }
}

/// Reads a host without a scheme: its ending must be known.
fn host_only(text: &str, start: usize) -> Option<Address> {
    let before = text[..start].chars().next_back();
    if before.is_some_and(|before| ".:/-_@".contains(before)) {
        return None;
    }
    let length = known_host(&text[start..])?;
    let mut at = start + length;
    at += port_length(&text[at..]);
    if !host_ends(&text[at..]) {
        return None;
    }
    at += path_length(&text[at..]);
    Some(address(text, start, at, "http://"))
}

/// Returns the length of a host whose ending is known.
fn known_host(text: &str) -> Option<usize> {
    let mut length = host_length(text);
    loop {
        let host = &text[..length];
        let dot = host.rfind('.')?;
        let ending = host[dot + 1..].to_lowercase();
        let country = ending.len() == 2 && COUNTRIES.split(' ').any(|known| known == ending);
        let coded = ending.starts_with("xn--") && ending.len() > 6;
        if country || coded || ENDINGS.contains(&ending.as_str()) {
            let after = text[length..].chars().next();
            let ends = after.is_none_or(|after| !is_letter(after) && after != '-' && after != '_');
            if ends && host_ends(&text[length..]) || text[length..].starts_with(':') {
                return Some(length);
            }
        }
        length = dot;
    }
}

/// Reads `name@host`.
fn email(text: &str, start: usize) -> Option<Address> {
    let before = text[..start].chars().next_back();
    let parted = before.is_none_or(|before| is_blank(before) || "><|\"(:\u{ff5c}".contains(before));
    let name_char = |c: char| c.is_ascii_alphanumeric() || "-;:&=+$,.\"'*_!#%?^`{}|~/".contains(c);
    let name = text[start..].find(|c: char| !name_char(c))?;
    let at = start + name;
    if !parted || name == 0 || name > 64 || !text[at..].starts_with('@') {
        return None;
    }
    let length = known_host(&text[at + 1..])?;
    let end = at + 1 + length;
    host_ends(&text[end..]).then(|| address(text, start, end, "mailto:"))
}

/// Returns the length of what follows a host: a path, a query, a fragment; without punctuation that ends a sentence.
fn path_length(text: &str) -> usize {
    let Some(b'/' | b'?' | b'#') = text.bytes().next() else {
        return 0;
    };
    let mut at = 1;
    while at < text.len() {
        let step = path_step(&text[at..]);
        if step == 0 {
            break;
        }
        at += step;
    }
    if at == 1 && !text.starts_with('/') {
        0
    } else {
        at
    }
}

/// Returns how much of a path is taken in one step.
fn path_step(text: &str) -> usize {
    let mut characters = text.chars();
    let Some(first) = characters.next() else {
        return 0;
    };
    let next = characters.next();
    let ends = |next: Option<char>| next.is_none_or(is_blank);
    let bracketed = |close: char| {
        let length = text[1..].find(|c: char| c == close || is_blank(c))?;
        text[1 + length..].starts_with(close).then_some(length + 2)
    };
    let unless = |refused: bool| usize::from(!refused);
    match first {
        c if is_blank(c) || "<>\u{ff5c})]}".contains(c) => 0,
        '(' => bracketed(')').unwrap_or(0),
        '[' => bracketed(']').unwrap_or(0),
        '{' => bracketed('}').unwrap_or(0),
        '"' => bracketed('"').filter(|&length| length > 2).unwrap_or(0),
        '\'' => {
            let quoted = bracketed('\'').filter(|&length| length > 2);
            let joined = next.is_some_and(|next| is_letter(next) || next == '-');
            quoted.unwrap_or(usize::from(joined))
        }
        '.' => {
            let dots = text.len() - text.trim_start_matches('.').len();
            let behind = text[dots..].chars().next();
            if dots == 1 {
                unless(ends(behind))
            } else if behind.is_some_and(|c| c.is_ascii_alphanumeric() || "%/&".contains(c)) {
                dots + 1
            } else {
                0
            }
        }
        '-' => {
            let dashes = text.len() - text.trim_start_matches('-').len();
            if dashes == 3 { 0 } else { dashes }
        }
        ',' | ';' => unless(ends(next)),
        '!' | '?' => {
            let marks = text.len() - text.trim_start_matches(first).len();
            let behind = text[marks..].chars().next();
            if ends(behind) || (first == '?' && marks > 1) {
                0
            } else {
                marks
            }
        }
        c => c.len_utf8(),
    }
}
