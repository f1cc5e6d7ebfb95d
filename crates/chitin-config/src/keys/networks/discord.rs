//! `channels.discord`.

use super::{BOTH_ELSEWHERE, EVERYWHERE, GUILDS, SECRET, WHOLE};
use crate::keys::channels::{DISCORD_FIELDS, EVERY_CHANNEL};
use crate::shape::{COUNT, Field, Fields, Shape};

const DISCORD_ACCOUNT: &[Field] = &[
    ("guilds", GUILDS),
    (
        "intents",
        Shape::Partly(
            &[&[
                ("guildMembers", Shape::Flag),
                ("messageContent", Shape::Flag),
                ("presence", Shape::Flag),
            ]],
            &[&[("voiceStates", Shape::Any)]],
        ),
    ),
    ("token", SECRET),
];

const DISCORD_WHOLE: &[Field] = &[
    (
        "actions",
        Shape::Partly(
            &[&[
                ("channelInfo", Shape::Flag),
                ("memberInfo", Shape::Flag),
                ("messages", Shape::Flag),
                ("pins", Shape::Flag),
                ("reactions", Shape::Flag),
                ("search", Shape::Flag),
                ("threads", Shape::Flag),
            ]],
            &[&[
                ("channels", Shape::Any),
                ("emojiUploads", Shape::Any),
                ("events", Shape::Any),
                ("moderation", Shape::Any),
                ("permissions", Shape::Any),
                ("polls", Shape::Any),
                ("presence", Shape::Any),
                ("roleInfo", Shape::Any),
                ("roles", Shape::Any),
                ("stickerUploads", Shape::Any),
                ("stickers", Shape::Any),
                ("voiceStatus", Shape::Any),
            ]],
        ),
    ),
    ("gatewayUrl", Shape::SomeText),
    ("maxLinesPerMessage", COUNT),
];

const DISCORD_ELSEWHERE: Fields = &[
    EVERY_CHANNEL,
    DISCORD_FIELDS,
    BOTH_ELSEWHERE,
    &[
        ("activities", Shape::Any),
        ("gatewayUrl", Shape::Any),
        ("mentionAliases", Shape::Any),
        ("suppressEmbeds", Shape::Any),
    ],
];

pub(super) const DISCORD: Shape = Shape::Partly(
    &[
        EVERYWHERE,
        WHOLE,
        DISCORD_ACCOUNT,
        DISCORD_WHOLE,
        &[(
            "accounts",
            Shape::Map(&Shape::Partly(
                &[EVERYWHERE, DISCORD_ACCOUNT],
                DISCORD_ELSEWHERE,
            )),
        )],
    ],
    DISCORD_ELSEWHERE,
);
