//! Rules about extension files.

use super::CheckRule;

pub(crate) static BROKEN_PERMISSION: CheckRule = CheckRule::error("CH801", "a permission cannot be parsed")
    .why("A rule of `PERMISSIONS.md` has a value that is not a limit, time window or pattern. Rules fail closed, so the agent refuses every message until it is corrected.")
    .todo("Correct the value, or remove the line.");
pub(crate) static UNKNOWN_KEY: CheckRule = CheckRule::warning("CH802", "a key that is probably misspelt")
    .why("A line looks like a setting and its key is close to a known one. Unknown keys are prose, so the line has no effect.")
    .todo("Correct the key, or write the line as a sentence.");
pub(crate) static CONTRADICTING_PERMISSIONS: CheckRule =
    CheckRule::warning("CH803", "permissions contradict each other")
        .why("One rule refuses what another needs. The stricter one wins: deny wins over allow.")
        .todo("Remove one of the two rules.");
pub(crate) static REPEATED_KEY: CheckRule = CheckRule::warning("CH804", "a setting occurs more than once")
    .why("Only one line is used: in `PERMISSIONS.md` the last one, in `RUNTIME.md` and `MCP.md` the first one.")
    .todo("Keep one of the lines.");
pub(crate) static NO_PERMISSIONS: CheckRule =
    CheckRule::warning("CH805", "`PERMISSIONS.md` has no rules")
        .why("The file has text but no line that is a rule, so nothing is guarded.")
        .todo("Write rules as `key: value`, such as `deny: swordfish`, or remove the file.");
pub(crate) static UNKNOWN_ROLE: CheckRule = CheckRule::error("CH806", "an unknown role")
    .why("`require-role` names a role. The roles are `owner` and `guest`, and every sender holds one of them, so such a rule refuses every message.")
    .todo("Name `owner` or `guest`.");
pub(crate) static RUNTIME_SECRET: CheckRule = CheckRule::warning(
    "CH807",
    "an address or a key in `RUNTIME.md`",
)
.why("Addresses and keys of providers are the user's settings. In a workspace they have no effect.")
.todo("Move it to `providers` in `chitin.json5`, or into the environment.");
pub(crate) static RUNTIME_MODEL: CheckRule = CheckRule::warning("CH808", "a model that cannot be used")
    .why("`RUNTIME.md` suggests a model. It is used only if its provider is known, and never if it names a local file.")
    .todo("Write it as `provider/name` with a provider that is configured.");
pub(crate) static RUNTIME_VALUE: CheckRule =
    CheckRule::warning("CH809", "a setting of `RUNTIME.md` has no effect")
        .why("The value is not valid for the key, or the setting is left to the provider.")
        .todo("Correct the value, or remove the line.");
pub(crate) static UNKNOWN_CHANNEL: CheckRule = CheckRule::warning("CH810", "an unknown channel")
    .why("`CHANNELS.md` lists the channels that can reach the agent; every line of one word is a name. An unknown name allows nothing, and a file with only unknown names excludes all channels.")
    .todo("Correct the name, or begin the line with `#`.");
pub(crate) static BAD_SERVER: CheckRule = CheckRule::warning("CH811", "a line of `MCP.md` names no server")
    .why("A server is `name: address` with an address that begins with `http://` or `https://`. Servers that are commands are configured in `chitin.json5`.")
    .todo("Correct the address, or remove the line.");
pub(crate) static ABSENT_SKILL: CheckRule =
    CheckRule::warning("CH812", "`SKILLS.md` names a skill that does not exist")
        .why("The model reads the name and finds no such skill.")
        .todo("Correct the name, or add the skill.");
pub(crate) static LOOKS_LIKE_A_RULE: CheckRule = CheckRule::error("CH813", "a line that looks like a rule but is not one")
    .why("A rule is `key: value`, with one bullet before it or none. In a numbered list, in bold, behind a checkbox, with `=` or without a value a line is prose, so it guards nothing; in `CHANNELS.md` a line that names no channel has no effect.")
    .todo("Write `- key: value`, or write the line as a sentence.");
