//! What of a record is meant for the model, before any budget (CN5, CN7 step 1, W22).

use crate::body::Body;
use crate::compat;
use crate::fragment::FragmentPiece;
use chitin_contract::{BlockLayout, Contract, FrontMatterHandling, RefusalStyle};
use chitin_protocol::text::trim_end_js;
use chitin_workspace::compat::unreadable;
use chitin_workspace::front_matter;
use chitin_workspace::snapshot::{Record, RecordState};

/// Returns the text that a present file gives; `None` for a file that counts as missing.
pub fn embedded(record: &Record, contract: &Contract) -> Option<Body> {
    match &record.state {
        RecordState::Present(content) => {
            let text = &*content.text;
            let body = match contract.loading.front_matter {
                FrontMatterHandling::Stripped => front_matter::strip(text),
                FrontMatterHandling::Kept => text,
            };
            let start = text.len() - body.len();
            let end = match contract.rendering.layout {
                BlockLayout::ProjectContext => start + trim_end_js(body).len(),
                // Composing has its own idea of what an edge is.
                BlockLayout::Composition => text.len(),
            };
            let mut embedded = Body::of(FragmentPiece::file(content.clone(), start..end));
            if let Some(oversize) = content.oversize {
                if !embedded.is_empty() {
                    embedded.push(FragmentPiece::ours("\n"));
                }
                let path = record.path.to_string_lossy();
                embedded.push(FragmentPiece::made(compat::oversize(oversize, &path)));
            }
            Some(embedded)
        }
        RecordState::Missing => None,
        RecordState::Refused(reason) => match contract.loading.refusals {
            RefusalStyle::Missing | RefusalStyle::Named => None,
            RefusalStyle::Unreadable => Some(Body::of(FragmentPiece::made(unreadable(
                *reason,
                contract.loading.max_bytes,
            )))),
        },
    }
}
