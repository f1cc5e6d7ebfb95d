//! HTML to text that is pleasant to read: headings, lists, links and code stay recognisable, the rest goes.
//!
//! A small converter, not a browser: it never fails, takes time in proportion to the page, and leaves out scripts, styles and
//! what the page itself hides.

mod entities;
mod tags;

use entities::decode;
use reqwest::Url;
use tags::{Tag, next_tag};

/// A page as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The title, if the page has one.
    pub title: Option<String>,
    /// The text.
    pub text: String,
}

/// Elements whose content is no text for people.
const UNSEEN: [&str; 12] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas",
    "select", "head", "textarea",
];

/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 32] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "section",
    "summary",
    "table",
    "tbody",
    "thead",
    "ul",
    "tr",
];

/// Turns HTML into text of about `limit` bytes at most. Links are made whole with `base`.
pub fn page_text(html: &str, base: Option<&Url>, limit: usize) -> Page {
    let mut writer = Writer {
        base,
        out: String::new(),
        gap: Gap::None,
        in_pre: 0,
        after_sign: false,
        link: None,
        title: None,
    };
    let mut rest = html;
    while !rest.is_empty() && writer.out.len() < limit {
        let Some((before, tag, after)) = next_tag(rest) else {
            writer.text(rest);
            break;
        };
        writer.text(before);
        rest = after;
        match tag {
            Tag::Nothing => {}
            Tag::Open {
                name,
                attributes,
                is_closed,
            } => {
                let is_unseen = UNSEEN.contains(&name.as_str());
                if is_unseen || tags::is_hidden(&name, attributes) {
                    // It has nothing in it, and looking for its end would take as long as the rest of the page is.
                    if is_closed && !is_unseen {
                        continue;
                    }
                    let (inside, behind) = tags::skip_element(&name, rest);
                    if name == "head" {
                        writer.title(inside);
                    }
                    rest = behind;
                } else if name == "title" {
                    let (inside, behind) = tags::skip_element(&name, rest);
                    writer.set_title(inside);
                    rest = behind;
                } else {
                    writer.open(&name, attributes);
                }
            }
            Tag::Close { name } => writer.close(&name),
        }
    }
    writer.finish()
}

/// What must stand between what was written and what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
    Paragraph,
}

struct Writer<'a> {
    base: Option<&'a Url>,
    out: String,
    gap: Gap,
    in_pre: usize,
    /// Whether a sign was written that waits for its words.
    after_sign: bool,
    /// Where the open link began, and where it leads.
    link: Option<(usize, String)>,
    title: Option<String>,
}

impl Writer<'_> {
    fn text(&mut self, raw: &str) {
        if !raw.is_empty() {
            self.words(&decode(raw));
        }
    }

    fn words(&mut self, text: &str) {
        if self.in_pre > 0 {
            self.fill_gap();
            self.out.push_str(text);
            return;
        }
        if text.starts_with(char::is_whitespace) {
            self.at_least(Gap::Blank);
        }
        for word in text.split_whitespace() {
            self.fill_gap();
            self.out.push_str(word);
            self.gap = Gap::Blank;
        }
        if !text.ends_with(char::is_whitespace) && self.gap == Gap::Blank {
            self.gap = Gap::None;
        }
    }

    fn at_least(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn fill_gap(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if std::mem::take(&mut self.after_sign) || self.out.is_empty() {
            return;
        }
        match gap {
            Gap::None => {}
            Gap::Blank if self.out.ends_with(['\n', ' ']) => {}
            Gap::Blank => self.out.push(' '),
            Gap::Line => self.out.push('\n'),
            Gap::Paragraph => self.out.push_str("\n\n"),
        }
    }

    /// Writes a sign that belongs to what follows.
    fn sign(&mut self, sign: &str) {
        self.fill_gap();
        self.out.push_str(sign);
        self.after_sign = true;
    }

    fn open(&mut self, name: &str, attributes: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.at_least(Gap::Paragraph);
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.sign(&format!("{} ", "#".repeat(level)));
            }
            "li" => {
                self.at_least(Gap::Line);
                self.sign("- ");
            }
            "br" | "tr" | "dt" | "dd" => self.at_least(Gap::Line),
            "td" | "th" if !self.out.ends_with('\n') && self.gap < Gap::Line => {
                self.at_least(Gap::Blank);
                self.sign("| ");
            }
            "pre" => {
                self.at_least(Gap::Paragraph);
                self.sign("```\n");
                self.in_pre += 1;
            }
            "code" if self.in_pre == 0 => self.sign("`"),
            "a" => {
                // Links do not nest.
                self.close_link();
                let target =
                    tags::attribute(attributes, "href").and_then(|href| self.target(&href));
                self.fill_gap();
                self.link = target.map(|target| (self.out.len(), target));
            }
            "img" => {
                if let Some(alt) =
                    tags::attribute(attributes, "alt").filter(|alt| !alt.trim().is_empty())
                {
                    self.words(&format!("[{}]", alt.trim()));
                }
            }
            name if BLOCKS.contains(&name) => self.at_least(Gap::Paragraph),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "pre" if self.in_pre > 0 => {
                self.in_pre -= 1;
                if !self.out.ends_with('\n') {
                    self.out.push('\n');
                }
                self.out.push_str("```");
                self.at_least(Gap::Paragraph);
            }
            "code" if self.in_pre == 0 => {
                self.after_sign = false;
                self.out.push('`');
            }
            "a" => self.close_link(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.at_least(Gap::Paragraph),
            "li" | "tr" | "dt" | "dd" => self.at_least(Gap::Line),
            name if BLOCKS.contains(&name) => self.at_least(Gap::Paragraph),
            _ => {}
        }
    }

    fn close_link(&mut self) {
        let Some((start, target)) = self.link.take() else {
            return;
        };
        let Some(words) = self.out.get(start..).map(str::trim) else {
            return;
        };
        // A link without words, over several lines, or that says where it leads needs no brackets.
        if words.is_empty() || words.contains('\n') || words == target {
            return;
        }
        let link = format!("[{words}]({target})");
        self.out.truncate(start);
        self.out.push_str(&link);
    }

    /// Returns where a link leads, if that is a page.
    fn target(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let url = match self.base {
            Some(base) => base.join(href).ok()?,
            None => Url::parse(href).ok()?,
        };
        matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.to_string())
    }

    fn title(&mut self, head: &str) {
        let mut rest = head;
        while let Some((_, tag, after)) = next_tag(rest) {
            rest = after;
            if let Tag::Open { name, .. } = tag {
                if name == "title" {
                    let (inside, _) = tags::skip_element(&name, rest);
                    self.set_title(inside);
                    return;
                }
                if UNSEEN.contains(&name.as_str()) {
                    rest = tags::skip_element(&name, rest).1;
                }
            }
        }
    }

    fn set_title(&mut self, raw: &str) {
        let words: Vec<String> = decode(raw).split_whitespace().map(str::to_owned).collect();
        if self.title.is_none() && !words.is_empty() {
            self.title = Some(words.join(" "));
        }
    }

    fn finish(mut self) -> Page {
        if self.in_pre > 0 {
            self.out.push_str("\n```");
        }
        Page {
            title: self.title,
            text: self.out.trim_end().to_owned(),
        }
    }
}
