//! Judging documents: the first rule that is broken, or the document complete.

use super::field::{
    self, Members, filled, given, invalid_name, list, members, name, one_of, shown, text, unique,
    version, wrong,
};
use super::profile;
use crate::compat::SPEC_VERSION;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::reference::Reference;
use serde_json::{Value, json};
use std::collections::HashSet;

const COMMUNICATION_STYLES: [&str; 5] = ["direct", "diplomatic", "academic", "casual", "formal"];
const VERBOSITIES: [&str; 5] = ["minimal", "concise", "balanced", "detailed", "verbose"];
const CODE_COMMENTS: [&str; 4] = ["none", "minimal", "moderate", "thorough"];
const SECRET_KINDS: [&str; 7] = [
    "api-key",
    "token",
    "password",
    "certificate",
    "connection-string",
    "url",
    "opaque",
];
/// What a declaration of a secret may say. A value is not among it.
const SECRET_MEMBERS: [&str; 5] = ["key", "required", "description", "kind", "exposeAs"];

/// What a document describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// An agent.
    Agent,
    /// A package.
    Package,
    /// Who an agent is.
    Persona,
    /// MCP servers.
    Mcp,
    /// Agents that may be called.
    Subagents,
    /// A runtime profile.
    Profile,
    /// A source snapshot.
    Source,
}

impl DocumentKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Agent,
        Self::Package,
        Self::Persona,
        Self::Mcp,
        Self::Subagents,
        Self::Profile,
        Self::Source,
    ];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Package => "package",
            Self::Persona => "persona",
            Self::Mcp => "mcp",
            Self::Subagents => "subagents",
            Self::Profile => "profile",
            Self::Source => "source",
        }
    }

    /// Returns the kind with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Judges a document by the rules of its kind and returns it complete: with the version of the contract, where it says
/// none itself.
pub fn check(kind: DocumentKind, value: &Value) -> Result<Value, PackError> {
    let document = members(value, &format!("the {}", kind.name()))?;
    match kind {
        DocumentKind::Agent => agent(document)?,
        DocumentKind::Package => package(document)?,
        DocumentKind::Persona => persona(document)?,
        DocumentKind::Mcp => mcp(document)?,
        DocumentKind::Subagents => subagents(document)?,
        DocumentKind::Profile => profile::judge(document)?,
        DocumentKind::Source => source(document)?,
    }
    text(document, "specVersion")?;
    let mut complete = document.clone();
    if given(document, "specVersion").is_none() {
        complete.insert("specVersion".into(), json!(SPEC_VERSION));
    }
    Ok(Value::Object(complete))
}

fn agent(document: &Members) -> Result<(), PackError> {
    name(document, "name")?;
    version(document)?;
    filled(document, "description")?;
    adapters(document)?;
    tags(document)?;
    details(document)?;
    sources(document)?;
    packages(document)?;
    secrets(document)
}

fn package(document: &Members) -> Result<(), PackError> {
    name(document, "name")?;
    version(document)?;
    filled(document, "description")?;
    tags(document)?;
    details(document)?;
    for member in ["prompt", "persona"] {
        if given(document, member).is_some() {
            let message = format!("a package carries no {member}");
            return Err(wrong(ErrorClass::InvalidField, message));
        }
    }
    packages(document)?;
    secrets(document)
}

fn source(document: &Members) -> Result<(), PackError> {
    name(document, "name")?;
    version(document)?;
    text(document, "description")
}

fn adapters(document: &Members) -> Result<(), PackError> {
    match given(document, "adapter") {
        Some(Value::Object(_)) => {}
        _ => {
            return Err(
                wrong(ErrorClass::MissingAdapter, "the agent names no adapter")
                    .hint("write `\"adapter\": { \"use\": \"openclaw\" }`"),
            );
        }
    }
    for fallback in list(document, "adapterFallback")? {
        members(fallback, "an adapter to fall back on")?;
    }
    Ok(())
}

pub(super) fn tags(document: &Members) -> Result<(), PackError> {
    let tags = list(document, "tags")?;
    let words: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
    if words.len() != tags.len() {
        return Err(wrong(ErrorClass::InvalidField, "a tag is not a text"));
    }
    unique(words, ErrorClass::DuplicateTags, "the tag")
}

fn details(document: &Members) -> Result<(), PackError> {
    for member in ["author", "license", "url"] {
        text(document, member)?;
    }
    Ok(())
}

fn sources(document: &Members) -> Result<(), PackError> {
    let mut ids = Vec::new();
    let mut mounts = Vec::new();
    for source in list(document, "workspaceSources")? {
        let source = members(source, "a workspace source")?;
        for member in ["id", "ref", "mountPath"] {
            filled(source, member)?;
        }
        let word = |member| given(source, member).and_then(Value::as_str);
        let mount = word("mountPath").unwrap_or_default();
        if !mount.starts_with('/') {
            let message = format!("the mount path `{}` is not absolute", shown(mount));
            return Err(wrong(ErrorClass::InvalidField, message));
        }
        ids.push(word("id").unwrap_or_default());
        mounts.push(mount.trim_end_matches('/'));
    }
    unique(ids, ErrorClass::DuplicateSourceId, "the workspace source")?;
    unique(mounts, ErrorClass::DuplicateMountPath, "the mount path")
}

/// Returns the reference of a package that a definition names, as text or as an object.
pub(super) fn package_reference(package: &Value) -> Option<&str> {
    package.as_str().or_else(|| package.get("ref")?.as_str())
}

pub(super) fn packages(document: &Members) -> Result<(), PackError> {
    for package in list(document, "packages")? {
        let text = package_reference(package).ok_or_else(|| {
            wrong(
                ErrorClass::InvalidReference,
                "a package is named by neither a text nor a `ref`",
            )
        })?;
        text.parse::<Reference>()?;
        if let Some(digest) = package.get("digest").filter(|digest| !digest.is_null()) {
            digest.as_str().unwrap_or_default().parse::<Digest>()?;
        }
    }
    Ok(())
}

pub(super) fn secrets(document: &Members) -> Result<(), PackError> {
    let mut keys = Vec::new();
    for secret in list(document, "secrets")? {
        let secret = members(secret, "a declaration of a secret")?;
        filled(secret, "key")?;
        let key = given(secret, "key").and_then(Value::as_str);
        if let Some(other) = secret
            .keys()
            .find(|member| !SECRET_MEMBERS.contains(&member.as_str()))
        {
            let message = format!(
                "the declaration of `{}` has a member `{}`",
                shown(key.unwrap_or_default()),
                shown(other)
            );
            return Err(wrong(ErrorClass::InvalidField, message)
                .hint("secrets are declared, never carried: no value belongs here"));
        }
        if given(secret, "required").is_some_and(|required| !required.is_boolean()) {
            let message = "`required` of a secret is neither true nor false";
            return Err(wrong(ErrorClass::InvalidField, message));
        }
        one_of(secret.get("kind"), "kind", &SECRET_KINDS)?;
        keys.extend(key);
    }
    unique(keys, ErrorClass::DuplicateSecretKey, "the secret")
}

fn persona(document: &Members) -> Result<(), PackError> {
    name(document, "name")?;
    filled(document, "displayName")?;
    filled(document, "role")?;
    let of = |group: &str, member: &str| document.get(group)?.get(member);
    one_of(
        of("personality", "communicationStyle"),
        "communicationStyle",
        &COMMUNICATION_STYLES,
    )?;
    one_of(of("personality", "verbosity"), "verbosity", &VERBOSITIES)?;
    one_of(of("voice", "codeComments"), "codeComments", &CODE_COMMENTS)
}

fn mcp(document: &Members) -> Result<(), PackError> {
    let servers = match given(document, "servers") {
        Some(Value::Object(servers)) if !servers.is_empty() => servers,
        None | Some(Value::Object(_)) => {
            return Err(wrong(ErrorClass::EmptyServers, "there is no MCP server"));
        }
        Some(_) => {
            return Err(wrong(
                ErrorClass::InvalidField,
                "`servers` is not a JSON object",
            ));
        }
    };
    for (server, settings) in servers {
        let settings = members(settings, &format!("the server `{}`", shown(server)))?;
        let tools = |member: &str| -> Result<HashSet<&str>, PackError> {
            let tools = list(settings, member)?;
            Ok(tools.iter().filter_map(Value::as_str).collect())
        };
        let (on, off) = (tools("enabledTools")?, tools("disabledTools")?);
        let mut both: Vec<&str> = on.intersection(&off).copied().collect();
        both.sort_unstable();
        if let Some(tool) = both.first() {
            let message = format!(
                "the server `{}` both enables and disables `{}`",
                shown(server),
                shown(tool)
            );
            return Err(wrong(ErrorClass::ToolOverlap, message).about(both));
        }
    }
    Ok(())
}

fn subagents(document: &Members) -> Result<(), PackError> {
    let agents = match given(document, "agents") {
        None => return Ok(()),
        Some(agents) => members(agents, "`agents`")?,
    };
    for (name, agent) in agents {
        if !field::is_name(name) {
            return Err(invalid_name(name));
        }
        let agent = members(agent, &format!("the subagent `{name}`"))?;
        filled(agent, "description")?;
        filled(agent, "instructions")?;
    }
    Ok(())
}
