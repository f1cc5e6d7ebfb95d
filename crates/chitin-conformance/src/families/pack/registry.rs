//! There and back through a real registry over TLS. Where none is installed, nothing is claimed.

use super::build::{BuiltCase, built_case};
use super::judge_error;
use crate::{Check, Outcome};
use anyhow::{Context, Result, bail};
use chitin_pack::inspect::{InspectDepth, inspect};
use chitin_pack::reference::Reference;
use chitin_pack::signatures::{TrustPolicy, verify};
use chitin_pack::store::Store;
use chitin_pack::{Digest, PackError};
use chitin_registry::{Keychain, RegistryClient, RegistryOptions, Retries, Silent};
use chitin_test::registry::{RegistryServer, Setup};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Builder;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    if check.input.get("args").is_some() {
        return unreachable_host(check)
            .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}\n")));
    }
    let Some(server) = RegistryServer::start(Setup::Tls) else {
        return Outcome::NotYet;
    };
    let steps = || {
        let case = match built_case(check.input)? {
            Ok(case) => case,
            Err(error) => return Ok(judge_error(check.expected, &error)),
        };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(go(check, &case, &server))
    };
    steps().unwrap_or_else(|error| Outcome::Failed(format!("{error:#}\n")))
}

/// A command line that names a host where nothing listens: the real client tries it.
fn unreachable_host(check: &Check<'_>) -> Result<Outcome> {
    let arguments = check.input["args"].as_array();
    let mut arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
    let (Some("pull"), Some(reference)) = (arguments.next(), arguments.next()) else {
        bail!("the command line is not known");
    };
    let reference: Reference = reference.parse()?;
    let directory = tempfile::tempdir()?;
    let store = Arc::new(Store::create(directory.path())?);
    let options = RegistryOptions {
        retries: Retries {
            attempts: 0,
            ..Retries::default()
        },
        ..RegistryOptions::default()
    };
    let registry = RegistryClient::new(options, Keychain::default())?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    Ok(
        match runtime.block_on(registry.pull(&reference, &store, &Silent)) {
            Ok(_) => Outcome::Failed("ours succeeded\n".to_owned()),
            Err(error) => judge_error(check.expected, &error),
        },
    )
}

/// What a step is about.
#[derive(Debug, Clone, Copy)]
enum Target {
    Tag,
    Digest,
    Nothing,
}

/// Takes every step that the case expects something of, in its order, and compares the members that it gives.
async fn go(check: &Check<'_>, case: &BuiltCase, server: &RegistryServer) -> Result<Outcome> {
    let expected = check.expected.as_object().context("steps")?;
    let steps = Steps::new(check.input, case, server)?;
    let mut found = Map::new();
    for (name, wanted) in expected {
        let (verb, target) = match name {
            _ if name.ends_with("ByDigest") => (name.trim_end_matches("ByDigest"), Target::Digest),
            _ if name.ends_with("Missing") => (name.trim_end_matches("Missing"), Target::Nothing),
            _ => (name.trim_end_matches("Again"), Target::Tag),
        };
        let taken = match verb {
            "push" => steps.push(target).await,
            "inspect" => steps.inspect(target).await,
            "pull" => steps.pull(target).await,
            "verify" => steps.verify(target).await,
            _ => bail!("the step `{name}` is not known"),
        };
        let taken = match taken {
            Ok(taken) => taken,
            Err(error) => json!({
                "exit": error.exit().code(),
                "errorClass": error.class().as_str(),
            }),
        };
        let mut members = taken.as_object().cloned().unwrap_or_default();
        members.retain(|member, _| wanted.get(member).is_some());
        found.insert(name.clone(), Value::Object(members));
    }
    Ok(Outcome::judge(check.expected, &Value::Object(found)))
}

struct Steps<'c> {
    case: &'c BuiltCase,
    registry: RegistryClient,
    reference: Reference,
}

impl<'c> Steps<'c> {
    fn new(input: &Value, case: &'c BuiltCase, server: &RegistryServer) -> Result<Self> {
        let options = RegistryOptions {
            extra_roots: vec![server.authority()],
            ..RegistryOptions::default()
        };
        let repository = input["repository"].as_str().context("a repository")?;
        let tag = input["tag"].as_str().map(|tag| format!(":{tag}"));
        let text = format!("{}/{repository}{}", server.host(), tag.unwrap_or_default());
        Ok(Self {
            case,
            registry: RegistryClient::new(options, Keychain::default())?,
            reference: text.parse()?,
        })
    }

    fn local(&self) -> Digest {
        self.case.built.manifest.digest
    }

    fn reference(&self, target: Target) -> Reference {
        let mut reference = self.reference.clone();
        match target {
            Target::Tag => {}
            Target::Digest => reference.digest = Some(self.local()),
            Target::Nothing => reference.tag = Some("no-such-tag".to_owned()),
        }
        reference
    }

    async fn push(&self, target: Target) -> Result<Value, PackError> {
        let digest = match target {
            Target::Tag | Target::Digest => self.local(),
            Target::Nothing => Digest::of(b"no such artifact"),
        };
        let reference = self.reference(target);
        let pushed = self
            .registry
            .push(&self.case.store, &digest, &reference, &Silent)
            .await?;
        let there = self.registry.resolve(&reference).await?.digest;
        let is_equal = pushed == self.local() && there == self.local();
        Ok(json!({ "exit": 0, "digestEqualsLocalManifest": is_equal }))
    }

    async fn inspect(&self, target: Target) -> Result<Value, PackError> {
        let artifact = self.registry.artifact(&self.reference(target)).await?;
        let facts = inspect(&artifact, InspectDepth::Manifest, Vec::new())?;
        Ok(json!({ "exit": 0, "digestEqualsLocalManifest": facts.digest == self.local() }))
    }

    /// Pulls into a store of its own.
    async fn pulled(&self, target: Target) -> Result<(Arc<Store>, Digest), PackError> {
        let directory = self.case.directory.path().join("pulled");
        let store = Arc::new(Store::create(Path::new(&directory))?);
        let reference = self.reference(target);
        let digest = self.registry.pull(&reference, &store, &Silent).await?;
        Ok((store, digest))
    }

    async fn pull(&self, target: Target) -> Result<Value, PackError> {
        let (store, digest) = self.pulled(target).await?;
        let (ours, theirs) = (
            self.case.store.artifact(&self.local())?,
            store.artifact(&digest)?,
        );
        // Blobs go by their digests: whole and with the same manifest, they are the same.
        ours.verify()?;
        theirs.verify()?;
        let is_equal = ours.manifest_bytes == theirs.manifest_bytes;
        Ok(json!({ "exit": 0, "blobsAndManifestIdentical": is_equal }))
    }

    async fn verify(&self, target: Target) -> Result<Value, PackError> {
        let (store, digest) = self.pulled(target).await?;
        store.artifact(&digest)?.verify()?;
        let requirement = TrustPolicy::default().requirement(None);
        let signatures = store.signatures_of(&digest)?;
        verify(&self.case.built.manifest, None, &signatures, &requirement)?;
        Ok(json!({ "exit": 0 }))
    }
}
