//! What refers to a manifest: signatures and the like (rule P63). By the registry's own list where it keeps one, else by an
//! index under a tag made from the subject's digest.

use crate::content::{self, ManifestBytes};
use crate::http::{Action, Endpoint, Request, wrong_answer};
use crate::progress::ProgressListener;
use crate::registry::RegistryClient;
use crate::tags::next_page;
use bytes::Bytes;
use chitin_pack::artifact::{Descriptor, Manifest};
use chitin_pack::compat::OCI_INDEX;
use chitin_pack::reference::Reference;
use chitin_pack::store::{Store, fallback_tag};
use chitin_pack::{Digest, ErrorClass, PackError};
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::{Value, json};
use std::sync::Arc;

const MAX_INDEX_BYTES: usize = 4 * 1024 * 1024;
const MAX_PAGES: usize = 50;
/// How often a list that somebody else writes at the same time is written again.
const MAX_WRITES: usize = 8;

impl RegistryClient {
    /// Lists what refers to a manifest of the reference's repository, with a given artifact type. An empty type means all.
    ///
    /// Cancellation safe: nothing is changed.
    pub async fn referrers(
        &self,
        reference: &Reference,
        subject: &Digest,
        artifact_type: &str,
    ) -> Result<Vec<Descriptor>, PackError> {
        let endpoint = self.endpoint(reference)?;
        let entries = match self.listed(&endpoint, reference, subject).await? {
            Some(entries) => entries,
            None => match self.fallback(&endpoint, reference, subject).await? {
                Some(index) => entries_of(&endpoint, &index.bytes)?,
                None => Vec::new(),
            },
        };
        // What cannot be read as a descriptor is somebody else's; it is passed over.
        let mut found: Vec<Descriptor> = entries
            .into_iter()
            .filter_map(|entry| serde_json::from_value(entry).ok())
            .filter(|entry: &Descriptor| {
                artifact_type.is_empty() || entry.artifact_type.as_deref() == Some(artifact_type)
            })
            .collect();
        found.sort_by_key(|entry| entry.digest);
        found.dedup_by_key(|entry| entry.digest);
        Ok(found)
    }

    /// Sends a manifest that refers to another one, and sees to it that it is listed.
    ///
    /// Cancellation safe, as [`RegistryClient::push`]; it may then be there and not be listed, until it is sent again.
    pub async fn push_referrer(
        &self,
        store: &Arc<Store>,
        digest: &Digest,
        reference: &Reference,
        progress: &dyn ProgressListener,
    ) -> Result<Digest, PackError> {
        let manifest = Manifest::parse(&store.manifest_bytes(digest)?)?;
        if manifest.subject.is_none() {
            let message = format!("{digest} refers to nothing");
            return Err(PackError::new(ErrorClass::InvalidManifest, message));
        }
        self.push_as(store, digest, reference, &digest.to_string(), progress)
            .await
    }

    /// Asks the registry's own list; `None` when it keeps none.
    async fn listed(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        subject: &Digest,
    ) -> Result<Option<Vec<Value>>, PackError> {
        let repository = &reference.repository;
        let mut url = endpoint.url(&format!("{repository}/referrers/{subject}"));
        let mut entries = Vec::new();
        for _ in 0..MAX_PAGES {
            let request =
                Request::new(endpoint, repository, Action::Pull, Method::GET, url.clone())
                    .header(ACCEPT, OCI_INDEX);
            let found = match self.read(&request, "the referrers", MAX_INDEX_BYTES).await {
                Ok(found) => found,
                Err(error) if error.class() == ErrorClass::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            entries.extend(entries_of(endpoint, &found.body)?);
            match next_page(endpoint, &url, found.link.as_deref()) {
                Some(next) => url = next,
                None => return Ok(Some(entries)),
            }
        }
        Err(wrong_answer(endpoint, "a list of referrers without end"))
    }

    /// Reads the index under the tag that stands for the list.
    async fn fallback(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        subject: &Digest,
    ) -> Result<Option<ManifestBytes>, PackError> {
        let tag = fallback_tag(subject);
        match self.manifest_at(endpoint, reference, &tag, OCI_INDEX).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Enters a manifest in its subject's list, where the registry does not do so itself. The list is read, the entry is
    /// added to it, and what others put there stays as it is. Two who do so at once may overwrite each other, so it is read
    /// again until the entry stands there.
    pub(crate) async fn enter_referrer(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        subject: &Digest,
        entry: &Descriptor,
    ) -> Result<(), PackError> {
        if self.listed(endpoint, reference, subject).await?.is_some() {
            return Ok(());
        }
        for _ in 0..MAX_WRITES {
            let found = self.fallback(endpoint, reference, subject).await?;
            let mut index: Value = match &found {
                Some(found) => content::json(endpoint, &found.bytes, "a list of referrers")?,
                None => json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [] }),
            };
            let Some(entries) = index.get_mut("manifests").and_then(Value::as_array_mut) else {
                return Err(wrong_answer(
                    endpoint,
                    "a list of referrers that is not an index",
                ));
            };
            let name = entry.digest.to_string();
            if entries.iter().any(|known| known["digest"] == name.as_str()) {
                return Ok(());
            }
            entries.push(json!(entry));
            let bytes = Bytes::from(index.to_string());
            if bytes.len() > MAX_INDEX_BYTES {
                let message = format!("the list of what refers to {subject} is full");
                return Err(PackError::new(ErrorClass::Registry, message));
            }
            self.put_manifest(
                endpoint,
                reference,
                &fallback_tag(subject),
                OCI_INDEX,
                bytes,
            )
            .await?;
        }
        let message = format!("the list of what refers to {subject} changes all the time");
        Err(PackError::new(ErrorClass::Registry, message).hint("try again later"))
    }
}

fn entries_of(endpoint: &Endpoint, bytes: &[u8]) -> Result<Vec<Value>, PackError> {
    let mut index: Value = content::json(endpoint, bytes, "a list of referrers")?;
    match index.get_mut("manifests").map(Value::take) {
        Some(Value::Array(entries)) => Ok(entries),
        _ => Err(wrong_answer(
            endpoint,
            "a list of referrers that is not an index",
        )),
    }
}
