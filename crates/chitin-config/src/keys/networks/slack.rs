//! `channels.slack`.

use super::{BOTH_ELSEWHERE, EVERYWHERE, SECRET, WHOLE};
use crate::keys::channels::{EVERY_CHANNEL, SLACK_FIELDS};
use crate::shape::{Field, Fields, Shape};

const SLACK_ACCOUNT: &[Field] = &[
    (
        "actions",
        Shape::Partly(
            &[&[
                ("emojiList", Shape::Flag),
                ("memberInfo", Shape::Flag),
                ("messages", Shape::Flag),
                ("pins", Shape::Flag),
                ("reactions", Shape::Flag),
            ]],
            &[&[
                ("channelInfo", Shape::Any),
                ("permissions", Shape::Any),
                ("search", Shape::Any),
            ]],
        ),
    ),
    ("apiUrl", Shape::SomeText),
    ("appToken", SECRET),
    ("botToken", SECRET),
    ("mode", Shape::OneOf(&["socket", "http"])),
    ("signingSecret", SECRET),
    ("webhookPath", Shape::SomeText),
];

const SLACK_ELSEWHERE: Fields = &[
    EVERY_CHANNEL,
    SLACK_FIELDS,
    BOTH_ELSEWHERE,
    &[
        ("implicitMentions", Shape::Any),
        ("postAs", Shape::Any),
        ("presenceEvents", Shape::Any),
        ("relay", Shape::Any),
        ("unfurlLinks", Shape::Any),
        ("unfurlMedia", Shape::Any),
    ],
];

pub(super) const SLACK: Shape = Shape::Partly(
    &[
        EVERYWHERE,
        WHOLE,
        SLACK_ACCOUNT,
        &[(
            "accounts",
            Shape::Map(&Shape::Partly(
                &[EVERYWHERE, SLACK_ACCOUNT],
                SLACK_ELSEWHERE,
            )),
        )],
    ],
    SLACK_ELSEWHERE,
);
