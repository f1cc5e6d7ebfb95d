//! Names that OpenClaw's configuration and the networks know.

/// A chat network that people reach agents on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelKind {
    /// Discord.
    Discord,
    /// Slack.
    Slack,
}

/// A secret of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelSecret {
    /// A bot's token on Discord.
    Token,
    /// A bot's token on Slack.
    BotToken,
    /// An app's token on Slack, for Socket Mode.
    AppToken,
    /// What Slack signs its calls with.
    Signing,
}

impl ChannelKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Discord, Self::Slack];

    /// Returns the name that configuration and session keys know it by.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Discord => "discord",
            Self::Slack => "slack",
        }
    }

    /// Returns its name as people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Discord => "Discord",
            Self::Slack => "Slack",
        }
    }

    /// Returns the secrets that an account of it has, the one that it cannot do without first.
    pub const fn secrets(self) -> &'static [ChannelSecret] {
        match self {
            Self::Discord => &[ChannelSecret::Token],
            Self::Slack => &[
                ChannelSecret::BotToken,
                ChannelSecret::AppToken,
                ChannelSecret::Signing,
            ],
        }
    }

    /// Returns which secret a text is, by what such secrets begin with; none when it can be none of this network's.
    pub fn recognise(self, text: &str) -> Option<ChannelSecret> {
        let hex =
            |text: &str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let fine =
            (16..=512).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        match self {
            Self::Discord => fine.then_some(ChannelSecret::Token),
            Self::Slack if !fine => None,
            Self::Slack if text.starts_with("xoxb-") => Some(ChannelSecret::BotToken),
            Self::Slack if text.starts_with("xapp-") => Some(ChannelSecret::AppToken),
            Self::Slack => hex(text).then_some(ChannelSecret::Signing),
        }
    }
}

impl ChannelSecret {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Token, Self::BotToken, Self::AppToken, Self::Signing];

    /// Returns the key in a configuration.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::BotToken => "botToken",
            Self::AppToken => "appToken",
            Self::Signing => "signingSecret",
        }
    }

    /// Returns the variable that holds that of the default account.
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Token => "DISCORD_BOT_TOKEN",
            Self::BotToken => "SLACK_BOT_TOKEN",
            Self::AppToken => "SLACK_APP_TOKEN",
            Self::Signing => "SLACK_SIGNING_SECRET",
        }
    }

    /// Says where people find it.
    pub const fn whereabouts(self) -> &'static str {
        match self {
            Self::Token => "the bot's token, in Discord's developer portal under Bot",
            Self::BotToken => {
                "the bot's token, `xoxb-…`, on the app's page under OAuth & Permissions"
            }
            Self::AppToken => {
                "the app's token, `xapp-…`, on the app's page under Basic Information (for Socket Mode)"
            }
            Self::Signing => {
                "the signing secret, on the app's page under Basic Information (for events over HTTP)"
            }
        }
    }
}
