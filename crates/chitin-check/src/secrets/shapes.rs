//! What the keys of the common providers look like.

/// The letters that a key's body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// `0-9a-f`, in either case.
    Hex,
    /// Letters and digits.
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Token,
}

impl Alphabet {
    pub(super) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Token => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        }
    }
}

/// A key: a prefix and a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) prefix: &'static str,
    /// What it is, as the object of a sentence.
    pub(super) what: &'static str,
    pub(super) alphabet: Alphabet,
    pub(super) min: usize,
    pub(super) max: usize,
}

const fn key(
    prefix: &'static str,
    what: &'static str,
    alphabet: Alphabet,
    min: usize,
    max: usize,
) -> Shape {
    Shape {
        prefix,
        what,
        alphabet,
        min,
        max,
    }
}

use Alphabet::{Alphanumeric, Hex, Token};

/// The known shapes. A longer prefix stands before a shorter one that it begins with.
pub(super) const SHAPES: &[Shape] = &[
    key("sk-ant-", "an Anthropic key", Token, 24, 256),
    key("sk-or-", "an OpenRouter key", Token, 32, 128),
    key("sk-proj-", "an OpenAI project key", Token, 32, 256),
    key("sk-svcacct-", "an OpenAI service key", Token, 32, 256),
    key("sk-admin-", "an OpenAI admin key", Token, 32, 256),
    key("sk-lf-", "a Langfuse key", Token, 30, 64),
    key(
        "sk-",
        "an `sk-` key as OpenAI and others issue",
        Alphanumeric,
        32,
        128,
    ),
    key(
        "ghp_",
        "a GitHub personal access token",
        Alphanumeric,
        30,
        255,
    ),
    key("gho_", "a GitHub OAuth token", Alphanumeric, 30, 255),
    key("ghu_", "a GitHub user token", Alphanumeric, 30, 255),
    key("ghs_", "a GitHub server token", Alphanumeric, 30, 255),
    key("ghr_", "a GitHub refresh token", Alphanumeric, 30, 255),
    key("github_pat_", "a GitHub fine-grained token", Token, 50, 255),
    key("glpat-", "a GitLab personal token", Token, 20, 255),
    key("gldt-", "a GitLab deploy token", Token, 20, 255),
    key("glrt-", "a GitLab runner token", Token, 20, 255),
    key("glptt-", "a GitLab trigger token", Token, 20, 255),
    key("xoxb-", "a Slack bot token", Token, 20, 255),
    key("xoxp-", "a Slack user token", Token, 20, 255),
    key("xoxa-", "a Slack app token", Token, 20, 255),
    key("xoxe-", "a Slack refresh token", Token, 20, 255),
    key("xoxr-", "a Slack refresh token", Token, 20, 255),
    key("xoxs-", "a Slack session token", Token, 20, 255),
    key("xoxc-", "a Slack client token", Token, 20, 255),
    key("xapp-", "a Slack app-level token", Token, 20, 255),
    key("AIza", "a Google API key", Token, 35, 35),
    key("GOCSPX-", "a Google client secret", Token, 24, 64),
    key("sk_live_", "a Stripe live key", Alphanumeric, 20, 255),
    key("rk_live_", "a Stripe restricted key", Alphanumeric, 20, 255),
    key("whsec_", "a webhook signing secret", Alphanumeric, 24, 128),
    key("npm_", "an npm token", Alphanumeric, 36, 36),
    key("pypi-", "a PyPI token", Token, 50, 512),
    key("hf_", "a Hugging Face token", Alphanumeric, 30, 40),
    key("dop_v1_", "a DigitalOcean token", Hex, 64, 64),
    key("doo_v1_", "a DigitalOcean OAuth token", Hex, 64, 64),
    key("dor_v1_", "a DigitalOcean refresh token", Hex, 64, 64),
    key("gsk_", "a Groq key", Alphanumeric, 40, 80),
    key("xai-", "an xAI key", Alphanumeric, 40, 120),
    key("r8_", "a Replicate token", Alphanumeric, 36, 40),
    key("pplx-", "a Perplexity key", Alphanumeric, 32, 80),
    key("tvly-", "a Tavily key", Token, 28, 80),
    key("nvapi-", "an NVIDIA key", Token, 50, 100),
    key("csk-", "a Cerebras key", Alphanumeric, 40, 80),
    key("lin_api_", "a Linear key", Alphanumeric, 32, 64),
    key("ntn_", "a Notion token", Alphanumeric, 40, 64),
    key("shpat_", "a Shopify token", Hex, 32, 32),
    key("dckr_pat_", "a Docker token", Token, 24, 64),
    key("sbp_", "a Supabase token", Hex, 40, 40),
    key("glsa_", "a Grafana token", Token, 32, 64),
    key("figd_", "a Figma token", Token, 36, 64),
    key("tskey-", "a Tailscale key", Token, 24, 80),
    key("SK", "a Twilio key", Hex, 32, 32),
];
