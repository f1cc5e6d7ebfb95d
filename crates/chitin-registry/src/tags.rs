//! The tags of a repository.

use crate::content;
use crate::http::{Action, Endpoint, Request, wrong_answer};
use crate::registry::RegistryClient;
use chitin_pack::PackError;
use chitin_pack::reference::Reference;
use reqwest::{Method, Url};
use serde::Deserialize;

const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// A list that goes on and on is no list.
const MAX_PAGES: usize = 200;
const PAGE: &str = "n=1000";

#[derive(Deserialize)]
struct TagList {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

impl RegistryClient {
    /// Lists the tags of a repository, sorted. The reference's own tag plays no part.
    ///
    /// Cancellation safe: nothing is changed.
    pub async fn tags(&self, reference: &Reference) -> Result<Vec<String>, PackError> {
        let endpoint = self.endpoint(reference)?;
        let repository = &reference.repository;
        let mut url = endpoint.url(&format!("{repository}/tags/list"));
        url.set_query(Some(PAGE));
        let mut tags = Vec::new();
        for _ in 0..MAX_PAGES {
            let request = Request::new(
                &endpoint,
                repository,
                Action::Pull,
                Method::GET,
                url.clone(),
            );
            let found = self.read(&request, repository, MAX_PAGE_BYTES).await?;
            let page: TagList = content::json(&endpoint, &found.body, "a list of tags")?;
            tags.extend(page.tags.unwrap_or_default());
            let Some(next) = next_page(&endpoint, &url, found.link.as_deref()) else {
                tags.sort_unstable();
                tags.dedup();
                return Ok(tags);
            };
            url = next;
        }
        Err(wrong_answer(&endpoint, "a list of tags without end"))
    }
}

/// Reads where a list goes on: `<address>; rel="next"`. Only the registry itself continues its lists.
pub(crate) fn next_page(endpoint: &Endpoint, from: &Url, link: Option<&str>) -> Option<Url> {
    let (address, rest) = link?.trim().strip_prefix('<')?.split_once('>')?;
    if !rest.replace([' ', '"'], "").contains("rel=next") {
        return None;
    }
    endpoint
        .follow(from, address)
        .filter(|url| endpoint.owns(url))
}
