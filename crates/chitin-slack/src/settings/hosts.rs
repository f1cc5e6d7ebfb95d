//! Where a token may go.

use super::AccountSettings;
use crate::compat::HOST;
use reqwest::Url;

impl AccountSettings {
    /// Tells whether an address is Slack's, or the Web API's own: there a token may go.
    pub(crate) fn trusts(&self, url: &Url) -> bool {
        if url.origin() == self.api.origin() || self.is_socket_of_api(url) {
            return true;
        }
        let ours = url.host_str().is_some_and(|host| {
            host == HOST
                || host
                    .strip_suffix(HOST)
                    .is_some_and(|rest| rest.ends_with('.'))
        });
        ours && matches!(url.scheme(), "https" | "wss")
            && url.port_or_known_default() == Some(443)
            && url.username().is_empty()
            && url.password().is_none()
    }

    /// Tells whether an address is that of a WebSocket where the Web API is, both over TLS.
    fn is_socket_of_api(&self, url: &Url) -> bool {
        let schemes = (url.scheme(), self.api.scheme());
        schemes == ("wss", "https")
            && url.host() == self.api.host()
            && url.port_or_known_default() == self.api.port_or_known_default()
            && url.username().is_empty()
            && url.password().is_none()
    }
}
