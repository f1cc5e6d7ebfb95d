//! Which files a Markdown text links to.

use std::path::{Component, Path, PathBuf};

/// More links in one text are not followed.
const MAX_LINKS: usize = 10_000;

/// Returns where the links and images of a text lead that are relative paths, as they are written, without anchors. Code is
/// passed over: what stands there is an example.
pub(super) fn relative_links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        match fence {
            Some(open) => {
                if start.starts_with(open) {
                    fence = None;
                }
                continue;
            }
            None => {
                fence = ["```", "~~~"]
                    .into_iter()
                    .find(|mark| start.starts_with(mark));
            }
        }
        if fence.is_some() {
            continue;
        }
        of_line(line, &mut found);
        if found.len() >= MAX_LINKS {
            break;
        }
    }
    found
}

fn of_line(line: &str, found: &mut Vec<String>) {
    if let Some(target) = definition(line) {
        found.extend(relative(target));
        return;
    }
    let mut rest = line;
    while let Some(at) = rest.find(['`', ']']) {
        let (mark, after) = (rest.as_bytes()[at], &rest[at..]);
        if mark == b'`' {
            let ticks = after.len() - after.trim_start_matches('`').len();
            let inside = &after[ticks..];
            // A code span ends with as many ticks; without them the ticks are just ticks.
            rest = match inside.find(&after[..ticks]) {
                Some(end) => &inside[end + ticks..],
                None => inside,
            };
        } else if let Some(target) = after.strip_prefix("](") {
            let (target, after) = destination(target);
            found.extend(relative(target));
            rest = after;
        } else {
            rest = &after[1..];
        }
    }
}

/// Splits a link's destination from what follows it.
fn destination(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    if let Some(inside) = text.strip_prefix('<') {
        return inside.split_once('>').unwrap_or(("", inside));
    }
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return text.split_at(at),
            ')' => depth -= 1,
            _ if character.is_whitespace() => return text.split_at(at),
            _ => {}
        }
    }
    (text, "")
}

/// Reads a line that defines what a label stands for.
fn definition(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix('[')?;
    let (label, target) = line.split_once("]:")?;
    if label.is_empty() || label.contains([']', '[']) || label.starts_with('^') {
        return None;
    }
    Some(destination(target).0)
}

/// Keeps a destination that is a relative path, decoded.
fn relative(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = path.is_empty()
        || path.starts_with(['/', '~', '\\'])
        || path.contains(':')
        || path.contains(['\\', '\0']);
    if is_elsewhere {
        return None;
    }
    decoded(path)
}

/// Takes `%20` and the like apart; what does not come out as text is no path of ours.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| {
            after
                .get(at)
                .and_then(|byte| char::from(*byte).to_digit(16))
        };
        if let (b'%', Some(high), Some(low)) = (first, digit(0), digit(1)) {
            bytes.push(u8::try_from(high * 16 + low).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains(['\0', '\\'])).then_some(text)
}

/// Where a link in a file leads, from the workspace's root; `None` when it leads out of the workspace.
pub(super) fn resolve(from: &str, link: &str) -> Option<String> {
    let directory = Path::new(from).parent().unwrap_or(Path::new(""));
    let mut place = PathBuf::new();
    for part in directory.join(link).components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !place.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let place = place.to_str()?;
    (!place.is_empty()).then(|| place.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_are_found_where_markdown_has_them() {
        let text = "See [a](docs/a.md) and ![b](img/b.png \"Title\"), `[no](code.md)`, \
            [c](<with space.md>) [d](docs/d%20e.md#part) [e](x_(1).md).\n\
            [f]: ../up.md 'T'\n[^1]: note.md\n\
            [web](https://example.org/x.md) [mail](mailto:a@b) [abs](/etc/passwd) [home](~/x) [anchor](#x)\n\
            ```md\n[no](fenced.md)\n```\n~~~\n[no](tilde.md)\n~~~\n``a ` [no](span.md)`` [g](g.md)\n";
        assert_eq!(
            relative_links(text),
            [
                "docs/a.md",
                "img/b.png",
                "with space.md",
                "docs/d e.md",
                "x_(1).md",
                "../up.md",
                "g.md"
            ]
        );
    }

    #[test]
    fn a_link_is_followed_from_where_it_stands() {
        let leads = |from, link| resolve(from, link);
        assert_eq!(
            leads("AGENTS.md", "docs/a.md").as_deref(),
            Some("docs/a.md")
        );
        assert_eq!(leads("docs/a.md", "./b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(
            leads("skills/x/SKILL.md", "../../docs/a.md").as_deref(),
            Some("docs/a.md")
        );
        assert_eq!(leads("AGENTS.md", "../other/a.md"), None);
        assert_eq!(leads("docs/a.md", "../../a.md"), None);
        assert_eq!(leads("docs/a.md", ".."), None);
    }

    proptest! {
        #[test]
        fn nothing_that_is_written_leads_out(text in "[\\[\\]()<>a./%0-9 `#~:\\\\]{0,60}", from in "[a-c/]{0,6}") {
            for link in relative_links(&text) {
                if let Some(place) = resolve(from.trim_matches('/'), &link) {
                    let inside = Path::new(&place).components().all(|part| matches!(part, Component::Normal(_)));
                    prop_assert!(inside, "{place}");
                }
            }
        }
    }
}
