//! Events over HTTP: Slack calls us, and signs what it says.

use crate::account::Account;
use crate::event::{self, SlackEvent, SlackPayload};
use crate::probe::no_signing_secret;
use crate::receive::ReceivedEvent;
use crate::signature;
use crate::socket::backoff::Backoff;
use chitin_gateway::Gateway;
use chitin_gateway::surface::{Connection, Webhook, WebhookAnswer, WebhookCall};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The largest call.
const LARGEST: usize = 1 << 20;
/// How long an answer waits for a message to be on the disk; Slack waits for three seconds.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// How long what was begun may take when everything ends.
const LAST: Duration = Duration::from_secs(5);

/// Where Slack calls one account.
pub(crate) struct Hook(pub(crate) Arc<Account>);

impl Webhook for Hook {
    fn path(&self) -> &str {
        &self.0.settings.webhook_path
    }

    fn call(&self, gateway: Gateway, call: WebhookCall) -> BoxFuture<'_, WebhookAnswer> {
        async move { self.answer(gateway, &call).await }.boxed()
    }
}

impl Hook {
    async fn answer(&self, gateway: Gateway, call: &WebhookCall) -> WebhookAnswer {
        let account = &self.0;
        if call.body.len() > LARGEST {
            return text(413, "The call is too large.");
        }
        let header = |name: &str| {
            let mut found = call.headers.iter().filter(|(key, _)| key == name);
            // Two of a kind are nobody's: which one counts would be a guess.
            match (found.next(), found.next()) {
                (Some((_, value)), None) => Some(value.as_str()),
                _ => None,
            }
        };
        let Some(secret) = &account.signing_secret else {
            return text(503, &no_signing_secret().what);
        };
        let checked = signature::check(
            secret,
            header("x-slack-request-timestamp"),
            header("x-slack-signature"),
            &call.body,
            gateway.parts().clock.now_ms(),
        );
        if let Err(reason) = checked {
            account.complain(&format!("a call over HTTP was refused: {reason}"));
            return text(401, &reason.to_string());
        }
        let happened = match event::read(&call.body) {
            Ok(SlackPayload::Challenge(challenge)) => return text(200, &challenge),
            Ok(SlackPayload::Event(happened)) => happened,
            Err(reason) => {
                account.complain(&format!("a call over HTTP was not understood: {reason}"));
                return text(400, &reason);
            }
        };
        let place = match &happened.event {
            SlackEvent::Message(message) => message.channel.clone(),
            SlackEvent::Revoked | SlackEvent::Other(_) => String::new(),
        };
        let (done, heard) = oneshot::channel();
        let job = {
            let account = Arc::clone(account);
            async move {
                // Whoever called may be gone; then Slack calls again and finds it dealt with.
                let _ = done.send(account.hear(&gateway, &happened).await);
            }
        };
        if !account.queues.try_push(&place, job.boxed()) {
            account.complain("too much waits already; Slack is to tell it again");
            return text(503, "Too much waits already.");
        }
        match tokio::time::timeout(PATIENCE, heard).await {
            Ok(Ok(ReceivedEvent::Settled)) => text(200, ""),
            // Slack calls again; by then it may be on the disk.
            Ok(Ok(ReceivedEvent::Later) | Err(_)) | Err(_) => text(503, "It is not taken in yet."),
        }
    }
}

/// Stands by an account that Slack calls, until it is told to end.
pub(crate) async fn keep(account: Arc<Account>, cancel: CancellationToken) {
    if account.signing_secret.is_none() {
        let lack = no_signing_secret();
        account.fail(lack.what, lack.hint);
        return;
    }
    let mut backoff = Backoff::default();
    loop {
        account.stands(Connection::Connecting { reason: None });
        let asked = tokio::select! {
            () = cancel.cancelled() => return,
            asked = account.me() => asked,
        };
        match asked {
            Ok(_) => break,
            Err(error) if error.is_final() => return account.fail(error.reason(), error.hint()),
            Err(error) => {
                let wait = backoff.wait(error.again());
                let reason = Some(error.reason());
                account.stands(Connection::Connecting { reason });
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = tokio::time::sleep(wait) => {}
                }
            }
        }
    }
    account.stands(Connection::Connected);
    tokio::select! {
        () = cancel.cancelled() => {}
        () = account.revoked.cancelled() => {}
    }
    let _ = tokio::time::timeout(LAST, account.queues.finish()).await;
}

fn text(status: u16, body: &str) -> WebhookAnswer {
    WebhookAnswer {
        status,
        mime: "text/plain; charset=utf-8",
        body: body.to_owned(),
    }
}
