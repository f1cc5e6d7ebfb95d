//! How to install what a skill needs (S22). Chitin shows these; it never runs them by itself.

use super::metadata::string_list;
use chitin_contract::{DownloadSum, SkillRules};
use chitin_protocol::text::{is_js_whitespace, trim_js};
use serde::Serialize;
use serde_json::{Number, Value};
use url::Url;

/// One way to install what a skill needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallSpec {
    /// Which tool installs it.
    pub kind: InstallKind,
    /// Its id, to be picked by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name in menus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Programs it provides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Vec<String>>,
    /// Operating systems it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<Vec<String>>,
    /// The formula or cask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The address, normalised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The sum of what is downloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The kind of archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Whether the archive is unpacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<bool>,
    /// How many leading directories are left out when unpacking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip_components: Option<Number>,
    /// Where it goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_dir: Option<String>,
}

/// Which tool installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallKind {
    /// Homebrew.
    Brew,
    /// A Node package manager.
    Node,
    /// The Go tool.
    Go,
    /// uv.
    Uv,
    /// A plain download.
    Download,
}

impl InstallKind {
    fn from_name(name: &str) -> Option<Self> {
        match trim_js(name).to_lowercase().as_str() {
            "brew" => Some(Self::Brew),
            "node" => Some(Self::Node),
            "go" => Some(Self::Go),
            "uv" => Some(Self::Uv),
            "download" => Some(Self::Download),
            _ => None,
        }
    }
}

impl InstallSpec {
    /// Reads one entry; `None` when its kind is not known or what it must name is missing or unsafe.
    pub fn from_value(entry: &Value, rules: &SkillRules) -> Option<Self> {
        let string = |name: &str| entry.get(name).and_then(Value::as_str);
        let owned = |name: &str| string(name).map(str::to_owned);
        let kind = InstallKind::from_name(string("kind").or_else(|| string("type"))?)?;
        let list = |name: &str| Some(string_list(entry.get(name))).filter(|list| !list.is_empty());
        let trimmed = |name: &str| string(name).map(trim_js);
        let formula = |name: &str| trimmed(name).filter(|text| is_formula(text));
        let package = trimmed("package").filter(|text| match kind {
            InstallKind::Node => is_registry_spec(text),
            InstallKind::Uv => is_uv_package(text),
            InstallKind::Brew | InstallKind::Go | InstallKind::Download => false,
        });
        let url = trimmed("url")
            .filter(|text| !text.contains(is_js_whitespace))
            .and_then(download_address);
        let sha256 = match (rules.download_sum, kind, entry.get("sha256")) {
            (DownloadSum::Checked, InstallKind::Download, Some(sum)) => {
                let sum = trim_js(sum.as_str()?).to_lowercase();
                let fits = sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
                Some(Some(sum).filter(|_| fits)?)
            }
            _ => None,
        };
        let spec = Self {
            kind,
            id: owned("id").filter(|text| !text.is_empty()),
            label: owned("label").filter(|text| !text.is_empty()),
            bins: list("bins"),
            os: list("os"),
            formula: formula("formula")
                .or_else(|| formula("cask"))
                .map(str::to_owned),
            package: package.map(str::to_owned),
            module: trimmed("module")
                .filter(|text| is_go_module(text))
                .map(str::to_owned),
            url,
            sha256,
            archive: owned("archive"),
            extract: entry.get("extract").and_then(Value::as_bool),
            strip_components: entry.get("stripComponents").and_then(whole_number),
            target_dir: owned("targetDir"),
        };
        let target = match kind {
            InstallKind::Brew => spec.formula.is_some(),
            InstallKind::Node | InstallKind::Uv => spec.package.is_some(),
            InstallKind::Go => spec.module.is_some(),
            InstallKind::Download => spec.url.is_some(),
        };
        target.then_some(spec)
    }
}

/// Takes a number, written without a fraction when it has none.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only taken when the number is whole and small"
)]
fn whole_number(value: &Value) -> Option<Number> {
    let number = value.as_f64()?;
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some(Number::from(number as i64));
    }
    Number::from_f64(number)
}

fn starts_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn made_of(text: &str, others: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

fn is_formula(text: &str) -> bool {
    starts_plain(text) && made_of(text, "@+._/-") && !text.contains("..")
}

fn is_uv_package(text: &str) -> bool {
    starts_plain(text) && made_of(text, "._-[]=<>!~+,")
}

fn is_go_module(text: &str) -> bool {
    let part = |part: &str| starts_plain(part) && made_of(part, "._~+-/");
    match text.split_once('@') {
        Some((path, version)) => part(path) && part(version),
        None => part(text),
    }
}

/// Tells whether the text names a package of the registry: `name`, `@scope/name`, each with `@version` or `@tag`.
fn is_registry_spec(text: &str) -> bool {
    if text.contains(is_js_whitespace) || text.contains(['#', ':']) {
        return false;
    }
    let (name, selector) = match text.rfind('@') {
        Some(at) if at > 0 => (&text[..at], Some(&text[at + 1..])),
        _ => (text, None),
    };
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._~".contains(c))
    };
    let name_fits = match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(name),
    };
    name_fits && selector.is_none_or(is_version_or_tag)
}

/// An exact version may carry build data behind `+`; a tag may not.
fn is_version_or_tag(text: &str) -> bool {
    let tag = starts_plain(text) && made_of(text, "._-");
    tag || text.split_once('+').is_some_and(|(version, build)| {
        !build.is_empty() && made_of(build, ".-") && is_exact_version(version)
    })
}

fn is_exact_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, pre_release) = match text.split_once('-') {
        Some((numbers, pre_release)) => (numbers, Some(pre_release)),
        None => (text, None),
    };
    let parts: Vec<_> = numbers.split('.').collect();
    let number = |part: &&str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (*part == "0" || !part.starts_with('0'))
    };
    parts.len() == 3
        && parts.iter().all(number)
        && pre_release.is_none_or(|text| !text.is_empty() && made_of(text, ".-"))
}

/// Brings the address of a download into the one form that browsers print; nothing else than `http` and `https` is one.
fn download_address(text: &str) -> Option<String> {
    let address = Url::parse(text).ok()?;
    matches!(address.scheme(), "http" | "https").then(|| address.into())
}

#[cfg(test)]
mod tests {
    use super::download_address;

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
        .map(|text| download_address(text).unwrap_or_else(|| "refused".to_owned()))
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
