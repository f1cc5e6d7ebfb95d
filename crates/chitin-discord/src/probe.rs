//! Who we are on Discord, and what we may do there. Nobody sees that we ask.

use crate::account::Account;
use crate::compat::{PERMISSIONS, application};
use chitin_gateway::SurfaceError;
use chitin_gateway::surface::{Lack, Probed};
use serde_json::Value;

/// Asks Discord about an account.
pub(crate) async fn probe(account: &Account) -> Probed {
    let mut probed = Probed {
        account_id: account.id.clone(),
        name: None,
        works: Vec::new(),
        lacks: Vec::new(),
    };
    let user = match account.rest.get("users/@me").await {
        Ok(user) => user,
        Err(fault) => {
            let hint = if fault.is(401) {
                "Make a new token on https://discord.com/developers/applications, under `Bot`, and put it into the configuration."
            } else {
                "See whether this machine can reach https://discord.com."
            };
            probed
                .lacks
                .push(Lack::of(&SurfaceError::from(fault), hint));
            return probed;
        }
    };
    probed.name = user["username"].as_str().map(str::to_owned);
    probed.works.push("The token is good.".to_owned());
    match account.rest.get("applications/@me").await {
        Ok(told) => intents(account, &told, &mut probed),
        Err(fault) => probed.lacks.push(Lack::of(
            &SurfaceError::from(fault),
            "Whether the intents are allowed is not known; try again later.",
        )),
    }
    match account.rest.get("users/@me/guilds?limit=200").await {
        Ok(guilds) => match guilds.as_array().map_or(0, Vec::len) {
            0 => probed.lacks.push(Lack {
                what: "The bot is in no server; only direct messages can reach it.".to_owned(),
                hint: Some(format!(
                    "Invite it: https://discord.com/oauth2/authorize?client_id={}&scope=bot&permissions={PERMISSIONS}",
                    user["id"].as_str().unwrap_or("YOUR_APPLICATION_ID")
                )),
            }),
            1 => probed.works.push("It is in one server.".to_owned()),
            count => probed.works.push(format!("It is in {count} servers.")),
        },
        Err(fault) => probed.lacks.push(Lack::of(
            &SurfaceError::from(fault),
            "In which servers the bot is is not known; try again later.",
        )),
    }
    probed
}

/// Compares what we ask to see with what the application may.
fn intents(account: &Account, told: &Value, probed: &mut Probed) {
    let flags = told["flags"].as_u64().unwrap_or_default();
    let wished = account.settings.intents;
    let asked = [
        (
            wished.message_content,
            application::MESSAGE_CONTENT,
            "Message Content Intent",
            "messageContent",
        ),
        (
            wished.guild_members,
            application::MEMBERS,
            "Server Members Intent",
            "guildMembers",
        ),
        (
            wished.presence,
            application::PRESENCE,
            "Presence Intent",
            "presence",
        ),
    ];
    for (wished, flag, name, key) in asked {
        if !wished {
            continue;
        }
        if flags & flag != 0 {
            probed.works.push(format!("`{name}` is allowed."));
        } else {
            probed.lacks.push(Lack {
                what: format!("`{name}` is not allowed, and without it Discord lets the bot not connect."),
                hint: Some(format!(
                    "Switch it on at https://discord.com/developers/applications, under `Bot`, or set \
                     `channels.discord.intents.{key}` to `false`."
                )),
            });
        }
    }
}
