//! What Slack says of an account: who we are there, what we may do, what is missing.

use crate::account::Account;
use crate::compat::SCOPES;
use crate::settings::Mode;
use crate::web::CallError;
use chitin_gateway::surface::{Lack, Probed};

impl Account {
    /// Asks Slack who we are and what we may do. Nobody sees anything of it.
    pub(crate) async fn probe(&self) -> Probed {
        let mut probed = Probed {
            account_id: self.id.clone(),
            name: None,
            works: Vec::new(),
            lacks: Vec::new(),
        };
        match self.look_at_me().await {
            Ok(me) => {
                let team = me.team.as_deref().unwrap_or("a workspace");
                probed.works.push(format!(
                    "The bot token is that of `{}` in `{team}`.",
                    me.name
                ));
                probed.name = Some(me.name.clone());
                if let Some(scopes) = &me.scopes {
                    let has: Vec<&str> = scopes.split(',').map(str::trim).collect();
                    let missing = SCOPES.iter().filter(|(scope, _)| !has.contains(scope));
                    probed.lacks.extend(missing.map(|(scope, purpose)| Lack {
                        what: format!("The scope `{scope}` is missing; it is needed {purpose}."),
                        hint: Some(format!(
                            "Add `{scope}` under the app's bot token scopes and install it again"
                        )),
                    }));
                }
            }
            Err(error) => probed.lacks.push(lack(&error)),
        }
        match self.settings.mode {
            Mode::Socket => match self.open_address().await {
                Ok(_) => probed.works.push("Socket Mode lets us in.".to_owned()),
                Err(error) => probed.lacks.push(lack(&error)),
            },
            Mode::Http if self.signing_secret.is_some() => {
                let path = &self.settings.webhook_path;
                probed.works.push(format!("Events are taken at `{path}`."));
            }
            Mode::Http => probed.lacks.push(no_signing_secret()),
        }
        probed
    }
}

/// What is missing without a signing secret.
pub(crate) fn no_signing_secret() -> Lack {
    Lack {
        what: "There is no signing secret, so nothing that comes over HTTP can be believed."
            .to_owned(),
        hint: Some("Copy it from the app's page `Basic Information` to `signingSecret`".to_owned()),
    }
}

fn lack(error: &CallError) -> Lack {
    Lack {
        what: error.reason(),
        hint: error.hint(),
    }
}
