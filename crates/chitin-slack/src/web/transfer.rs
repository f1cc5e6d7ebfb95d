//! Files, up and down.

use super::{CallError, Web, client, retry_after, whole};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use reqwest::{StatusCode, Url};
use std::time::Duration;

/// How long a file may take.
const LONGEST: Duration = Duration::from_secs(45);
/// How often Slack may send us on.
const MOST_STEPS: usize = 3;
/// What downloads are called in errors.
const DOWNLOAD: &str = "download of a file";
/// What uploads are called in errors.
const UPLOAD: &str = "upload of a file";

impl Web {
    /// Fetches a file, of at most so many bytes. The token goes to Slack's own hosts only, also when we are sent on.
    pub(crate) async fn download(&self, url: &str, most: usize) -> Result<Vec<u8>, CallError> {
        let fetching = self.fetch(url, most);
        tokio::time::timeout(LONGEST, fetching)
            .await
            .unwrap_or_else(|_| Err(CallError::unreachable(DOWNLOAD, "it took too long")))
    }

    async fn fetch(&self, url: &str, most: usize) -> Result<Vec<u8>, CallError> {
        let mut url = self.trusted(url, DOWNLOAD)?;
        for _ in 0..MOST_STEPS {
            let response = self
                .client
                .http
                .get(url.clone())
                .header(AUTHORIZATION, self.authorization(DOWNLOAD)?)
                .send()
                .await
                .map_err(|error| CallError::unreachable(DOWNLOAD, &client::reason(error)))?;
            let status = response.status();
            if status.is_redirection() {
                let next = response.headers().get(LOCATION);
                let next = next.and_then(|next| next.to_str().ok());
                let next = next.and_then(|next| url.join(next).ok());
                let next = next.ok_or_else(|| CallError::odd(DOWNLOAD, "it leads nowhere"))?;
                url = self.trusted(next.as_str(), DOWNLOAD)?;
                continue;
            }
            if status == StatusCode::TOO_MANY_REQUESTS {
                return Err(CallError::Limited {
                    method: DOWNLOAD,
                    seconds: retry_after(response.headers()),
                });
            }
            if !status.is_success() {
                let reason = format!("Slack answered {}", status.as_u16());
                return Err(if status.is_server_error() {
                    CallError::unreachable(DOWNLOAD, &reason)
                } else {
                    CallError::odd(DOWNLOAD, &reason)
                });
            }
            if response
                .content_length()
                .is_some_and(|length| length > most as u64)
            {
                let reason = format!("it is larger than {most} bytes");
                return Err(CallError::odd(DOWNLOAD, &reason));
            }
            return whole(response, most)
                .await
                .map_err(|reason| CallError::odd(DOWNLOAD, &reason));
        }
        Err(CallError::odd(DOWNLOAD, "it leads in circles"))
    }

    /// Puts the bytes of a file where Slack wants them. No token goes there: the address is the permission.
    pub(crate) async fn upload(&self, url: &str, bytes: &[u8]) -> Result<(), CallError> {
        let url = self.trusted(url, UPLOAD)?;
        let sending = self
            .client
            .http
            .post(url)
            .header(CONTENT_TYPE, "application/octet-stream")
            .body(bytes.to_vec())
            .send();
        let response = tokio::time::timeout(LONGEST, sending)
            .await
            .map_err(|_| CallError::unreachable(UPLOAD, "it took too long"))?
            .map_err(|error| CallError::unreachable(UPLOAD, &client::reason(error)))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            StatusCode::TOO_MANY_REQUESTS => Err(CallError::Limited {
                method: UPLOAD,
                seconds: retry_after(response.headers()),
            }),
            status => {
                let reason = format!("Slack answered {}", status.as_u16());
                Err(CallError::unreachable(UPLOAD, &reason))
            }
        }
    }

    fn trusted(&self, url: &str, what: &'static str) -> Result<Url, CallError> {
        let url = Url::parse(url).map_err(|_| CallError::odd(what, "it has no address"))?;
        if self.settings.trusts(&url) {
            return Ok(url);
        }
        let host = url.host_str().unwrap_or("nowhere");
        let reason = format!("its address is at `{host}`, which is not Slack's");
        Err(CallError::odd(what, &reason))
    }
}
