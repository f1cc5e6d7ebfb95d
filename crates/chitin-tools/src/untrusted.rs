//! What untrusted text in a turn takes away: sending elsewhere, schedules, files that the agent is made of, the network.
//!
//! Nothing here looks at what a text says. Only where it comes from counts, and what the owner named.

use crate::policy::matches;
use crate::process::BackgroundCommands;
use crate::rights::Rights;
use crate::tool::{Approval, ApprovalRequest, CallContext};
use chitin_protocol::origin::{FileOrigin, Origin, add_origins, origins_in_words};
use chitin_protocol::settings::UntrustedSettings;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Stands before a path in `access.untrusted.allow`.
pub const WRITE: &str = "write:";

/// What allows commands to turns with untrusted text.
pub(crate) const COMMANDS: &str = "exec";

/// What the owner says about untrusted text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UntrustedRules {
    allow: Vec<String>,
    deny: Vec<String>,
    servers: Vec<String>,
    hosts: Vec<String>,
}

/// Knows which files are not the owner's. Implementors look anew each time, and say that a file is not the owner's when they cannot tell.
pub trait FileOrigins: Send + Sync {
    /// Tells why a file is not the owner's, by its real path. Reads at most that file.
    fn of(&self, path: &Path) -> Option<FileOrigin>;

    /// Names one such file of the workspace, or something whose name is not the owner's, if it holds any.
    fn any(&self) -> Option<Origin>;

    /// Finds a name that is not the owner's among some that are shown, by their paths beneath a directory, which is named by its real
    /// path.
    fn name(&self, at: &Path, shown: &[PathBuf]) -> Option<Origin>;

    /// Remembers which names there are, so that it can be told later which ones are new. The first time it takes a look at all of them.
    fn remember(&self);

    /// Returns a moment that [`Self::record`] understands.
    fn moment(&self) -> i64;

    /// Takes down which files of the workspace changed since a moment: they are not the owner's any more. Fails with a sentence.
    fn record(&self, since: i64, own: OwnFiles) -> Result<(), String>;
}

/// Whether files that the agent is made of are taken down, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnFiles {
    /// The owner approved what was written to them.
    Approved,
    /// Nobody was asked: a command may have made new ones.
    TakenDown,
}

/// Knows of no such file, and keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFileOrigins;

impl FileOrigins for NoFileOrigins {
    fn of(&self, _: &Path) -> Option<FileOrigin> {
        None
    }

    fn any(&self) -> Option<Origin> {
        None
    }

    fn name(&self, _: &Path, _: &[PathBuf]) -> Option<Origin> {
        None
    }

    fn remember(&self) {}

    fn moment(&self) -> i64 {
        0
    }

    fn record(&self, _: i64, _: OwnFiles) -> Result<(), String> {
        Ok(())
    }
}

/// The untrusted text of a turn, and what is to be done about it.
#[derive(Clone)]
pub struct Untrusted {
    /// Where it comes from, at the moment of the call. Empty where all text is the owner's.
    pub origins: Vec<Origin>,
    /// What the owner says about it.
    pub rules: Arc<UntrustedRules>,
    /// Which files hold it.
    pub files: Arc<dyn FileOrigins>,
    /// Which commands run in the background: it could steer them through files, and what they write may be of it.
    pub commands: Arc<BackgroundCommands>,
}

impl Default for Untrusted {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            rules: Arc::default(),
            files: Arc::new(NoFileOrigins),
            commands: Arc::default(),
        }
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Untrusted")
            .field("origins", &self.origins)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl Untrusted {
    /// Returns the origins of what this session tells others.
    pub fn of_this_session(&self, key: &str) -> Vec<Origin> {
        self.of_session(key, self.origins.clone())
    }

    /// Returns the origins of what a session says that has text of these: the session and they, or none where the owner trusts all of
    /// them.
    pub fn of_session(&self, key: &str, theirs: Vec<Origin>) -> Vec<Origin> {
        self.rules.of_session(key, theirs)
    }
}

impl UntrustedRules {
    /// Takes over what the owner set.
    pub fn new(settings: &UntrustedSettings) -> Self {
        let entries = |list: &Option<Vec<String>>| -> Vec<String> {
            let entries = list.iter().flatten().map(|entry| entry.trim());
            entries
                // A text of stars grants everything without saying what.
                .filter(|entry| entry.chars().any(|c| c != '*'))
                .map(str::to_lowercase)
                .collect()
        };
        Self {
            allow: entries(&settings.allow),
            deny: entries(&settings.deny),
            servers: entries(&settings.trusted_mcp),
            hosts: entries(&settings.trusted_hosts),
        }
    }

    /// Tells whether the owner allowed something by name: a tool, or [`WRITE`] and a path. `write` covers all paths.
    pub fn allows(&self, entry: &str) -> bool {
        let entry = entry.to_lowercase();
        let whole = entry.starts_with(WRITE).then_some("write");
        let named = |pattern: &String| matches(pattern, &entry) || Some(pattern.as_str()) == whole;
        self.allow.iter().any(named)
    }

    /// Tells whether the owner takes a tool away that is there otherwise.
    pub fn denies(&self, tool: &str) -> bool {
        let tool = tool.to_lowercase();
        self.deny.iter().any(|pattern| matches(pattern, &tool))
    }

    /// Returns what is allowed and denied by name.
    pub fn named(&self) -> (&[String], &[String]) {
        (&self.allow, &self.deny)
    }

    /// Returns the origins of what a session says that has text of these: the session and they, or none where the owner trusts all of
    /// them.
    pub fn of_session(&self, key: &str, mut theirs: Vec<Origin>) -> Vec<Origin> {
        theirs.retain(|origin| !self.trusts(origin));
        if theirs.is_empty() {
            return theirs;
        }
        let mut all = vec![Origin::session(key)];
        add_origins(&mut all, &theirs);
        all
    }

    /// Tells whether an MCP server's replies are trusted.
    pub fn trusts_server(&self, name: &str) -> bool {
        self.servers.contains(&name.to_lowercase())
    }

    /// Tells whether the owner trusts an origin.
    pub fn trusts(&self, origin: &Origin) -> bool {
        match origin {
            Origin::Web { url } => self.trusts_page(url),
            Origin::McpServer { name } => self.trusts_server(name),
            Origin::Guest { .. }
            | Origin::Command { .. }
            | Origin::File { .. }
            | Origin::Session { .. } => false,
        }
    }

    fn trusts_page(&self, url: &str) -> bool {
        let url = reqwest::Url::parse(url).ok();
        let Some(host) = url.as_ref().and_then(|url| url.host_str()) else {
            return false;
        };
        let host = host.to_lowercase();
        self.hosts
            .iter()
            .any(|named| match named.strip_prefix("*.") {
                Some(above) => host
                    .strip_suffix(above)
                    .is_some_and(|below| below.ends_with('.')),
                None => host == *named,
            })
    }
}

impl Rights {
    /// Returns the origins that take something away. In a guest's turn, guests' words do not: what such turns may do is said by their own
    /// rights.
    pub fn untrusted_origins(&self) -> Vec<Origin> {
        let all = self.untrusted.origins.iter();
        let counts = |origin: &&Origin| self.guest.is_none() || !origin.is_of_guests();
        all.filter(counts).cloned().collect()
    }

    /// Returns the origins that take something away unless the owner allowed it by name.
    pub fn origins_against(&self, entry: &str) -> Vec<Origin> {
        if self.untrusted.rules.allows(entry) {
            Vec::new()
        } else {
            self.untrusted_origins()
        }
    }
}

/// Something that untrusted text takes away.
#[derive(Debug, Clone)]
pub struct GuardedDeed<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The entry of `access.untrusted.allow` that allows it.
    pub entry: &'a str,
    /// What is to be done, as the end of "It was not allowed to …".
    pub what: &'a str,
}

impl CallContext<'_> {
    /// Lets something through that untrusted text takes away: there is none, the owner allowed it by name, or is asked now. Fails with a
    /// sentence that says which text it was.
    pub async fn may(&self, deed: GuardedDeed<'_>) -> Result<(), String> {
        let origins = self.rights.origins_against(deed.entry);
        self.may_despite(&origins, deed).await
    }

    /// Lets a call through that writes files, like [`Self::may`] does: while a command is in the background that is not held, files
    /// could steer it to do what untrusted text may not.
    pub async fn may_write(&self, tool: &str) -> Result<(), String> {
        let origins = self.rights.origins_against(COMMANDS);
        self.may_write_despite(&origins, tool).await
    }

    /// Does what [`Self::may_write`] does, for text of these origins.
    pub(crate) async fn may_write_despite(
        &self,
        origins: &[Origin],
        tool: &str,
    ) -> Result<(), String> {
        if origins.is_empty() {
            return Ok(());
        }
        let Some(command) = self.rights.untrusted.commands.unheld() else {
            return Ok(());
        };
        let what =
            format!("write files while `{command}` runs in the background and may follow them");
        let deed = GuardedDeed {
            tool,
            entry: COMMANDS,
            what: &what,
        };
        let may = self.may_despite(origins, deed).await;
        may.map_err(|why| format!("{why} It is also possible once that command has ended."))
    }

    /// Does what [`Self::may`] does, for text of these origins.
    pub(crate) async fn may_despite(
        &self,
        origins: &[Origin],
        deed: GuardedDeed<'_>,
    ) -> Result<(), String> {
        if origins.is_empty() {
            return Ok(());
        }
        let why = because(origins);
        let pattern = format!("with untrusted text: {}", deed.what);
        let request = ApprovalRequest {
            session_key: self.session_key,
            tool: deed.tool,
            what: deed.what,
            why: &why,
            diff: None,
            pattern: Some(&pattern),
            covered_by: &|known| known == pattern,
        };
        match self.approver.ask(request).await {
            Approval::Once | Approval::Session | Approval::Always => Ok(()),
            refused @ (Approval::Denied(_) | Approval::Nobody(_)) => {
                let refusal = refused.refusal();
                Err(format!(
                    "Not done ({}): {}. {why} {}",
                    shortened(deed.what),
                    refusal.trim_end_matches('.'),
                    how_to_allow(deed.entry)
                ))
            }
        }
    }
}

/// How much of what is to be done is repeated in a refusal. Whoever asked for it knows the rest.
const REPEATED: usize = 160;

/// Returns the beginning of a long text.
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Says which text takes something away.
pub fn because(origins: &[Origin]) -> String {
    format!(
        "This conversation holds text that is not the owner's: {}.",
        origins_in_words(origins)
    )
}

/// Says how the owner allows something for good.
pub fn how_to_allow(entry: &str) -> String {
    format!(
        "The owner can allow it with `{entry}` in `access.untrusted.allow` of `chitin.json5`, or in a new session without that text."
    )
}

#[cfg(test)]
mod tests {
    use super::UntrustedRules;
    use chitin_protocol::origin::Origin;
    use chitin_protocol::settings::UntrustedSettings;

    fn rules(allow: &[&str], hosts: &[&str]) -> UntrustedRules {
        let list = |list: &[&str]| Some(list.iter().map(|one| (*one).to_owned()).collect());
        UntrustedRules::new(&UntrustedSettings {
            allow: list(allow),
            trusted_hosts: list(hosts),
            ..UntrustedSettings::default()
        })
    }

    #[test]
    fn things_are_allowed_by_name_and_never_all_at_once() {
        let all = rules(&["*", " ** ", ""], &[]);
        assert!(!all.allows("message") && !all.allows("write:MEMORY.md"));
        let some = rules(
            &["Message", "tracker__*", "write:memory.md", "write:skills/*"],
            &[],
        );
        assert!(some.allows("message") && some.allows("tracker__search"));
        assert!(some.allows("write:MEMORY.md") && some.allows("write:skills/a/SKILL.md"));
        assert!(!some.allows("write:AGENTS.md") && !some.allows("exec"));
        assert!(rules(&["write"], &[]).allows("write:AGENTS.md"));
        assert!(!rules(&["writ"], &[]).allows("write:AGENTS.md"));
    }

    #[test]
    fn a_host_is_trusted_as_a_whole_name() {
        let rules = rules(&[], &["docs.example", "*.pier.example"]);
        let trusts = |url: &str| rules.trusts(&Origin::web(url));
        assert!(trusts("https://docs.example/a") && trusts("http://DOCS.example:8080"));
        assert!(trusts("https://a.pier.example/") && trusts("https://b.a.pier.example/"));
        assert!(!trusts("https://pier.example/") && !trusts("https://evilpier.example/"));
        assert!(!trusts("https://docs.example.evil.example/"));
        assert!(!trusts("https://docs.example@evil.example/"));
        assert!(!trusts("docs.example"));
    }
}
