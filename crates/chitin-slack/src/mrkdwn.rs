//! Slack's text made readable: `<@U1>` is somebody, `<#C1|berths>` a channel, `<https://x|y>` a link, `&amp;` an `&`.

/// The longest token that is looked at; what is longer is text.
const LONGEST_TOKEN: usize = 4_096;

/// Returns the people that a text names, each once, at most so many.
pub fn people(text: &str, most: usize) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for part in parts(text) {
        if let Part::Token(token) = part
            && let Some(id) = person(token)
            && found.len() < most
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
    found
}

/// Tells whether a text names somebody.
pub fn names(text: &str, id: &str) -> bool {
    parts(text).any(|part| matches!(part, Part::Token(token) if person(token) == Some(id)))
}

/// Writes a text as people read it. Our own name is taken off; `name_of` says what others are called.
pub fn readable(text: &str, own: Option<&str>, name_of: impl Fn(&str) -> Option<String>) -> String {
    let mut written = String::with_capacity(text.len());
    let mut after_own = false;
    for part in parts(text) {
        match part {
            Part::Text(text) => {
                let text = decoded(text);
                // The blank behind our name goes with it.
                let cut = after_own && (written.is_empty() || written.ends_with([' ', '\n']));
                written.push_str(if cut {
                    text.strip_prefix(' ').unwrap_or(&text)
                } else {
                    &text
                });
                after_own = false;
            }
            Part::Token(token) => match person(token) {
                Some(id) if Some(id) == own => after_own = true,
                Some(id) => {
                    let name = name_of(id).unwrap_or_else(|| id.to_owned());
                    written.push('@');
                    written.push_str(&name);
                    after_own = false;
                }
                None => {
                    written.push_str(&token_text(token));
                    after_own = false;
                }
            },
        }
    }
    written.trim().to_owned()
}

/// Keeps a text from waking everybody: `<!channel>` and its like are shown and do nothing.
pub fn harmless(text: &str) -> String {
    text.replace("<!", "&lt;!")
}

enum Part<'a> {
    Text(&'a str),
    /// What stands between `<` and `>`.
    Token(&'a str),
}

fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(inner) = rest.strip_prefix('<')
            && let Some(end) = inner.find(['>', '<'])
            && inner[end..].starts_with('>')
            && (1..=LONGEST_TOKEN).contains(&end)
        {
            rest = &inner[end + 1..];
            return Some(Part::Token(&inner[..end]));
        }
        // At least one character, so that a bracket that opens nothing is text.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..]
            .find('<')
            .map_or(rest.len(), |found| found + first);
        let (text, left) = rest.split_at(end);
        rest = left;
        Some(Part::Text(text))
    })
}

/// Returns the id of the person that a token names.
fn person(token: &str) -> Option<&str> {
    let inner = token.strip_prefix('@')?;
    let id = inner.split('|').next().unwrap_or_default();
    let plain = !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric());
    plain.then_some(id)
}

fn token_text(token: &str) -> String {
    let (target, label) = match token.split_once('|') {
        Some((target, label)) => (
            target,
            Some(decoded(label)).filter(|label| !label.is_empty()),
        ),
        None => (token, None),
    };
    if let Some(channel) = target.strip_prefix('#') {
        return format!("#{}", label.unwrap_or_else(|| channel.to_owned()));
    }
    if let Some(special) = target.strip_prefix('!') {
        return match label {
            Some(label) => label,
            None => format!("@{}", special.split('^').next().unwrap_or_default()),
        };
    }
    let target = decoded(target);
    let bare = target
        .strip_prefix("mailto:")
        .or_else(|| target.strip_prefix("tel:"))
        .unwrap_or(&target);
    let short = bare
        .strip_prefix("https://")
        .or_else(|| bare.strip_prefix("http://"))
        .unwrap_or(bare);
    match label {
        Some(label) if label != bare && label != short => format!("{label} ({bare})"),
        _ => bare.to_owned(),
    }
}

/// Reads the three signs that Slack escapes, once.
fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
