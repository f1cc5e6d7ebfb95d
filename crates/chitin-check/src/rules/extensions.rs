//! Rules about extension files.

use super::Rule;

pub(crate) static BROKEN_PERMISSION: Rule = Rule::error("CH801", "a permission cannot be understood")
    .why("A rule of `PERMISSIONS.md` has a value that is no limit, time window or pattern. A control never disappears in silence, so the agent lets no message in until it is corrected.")
    .todo("Correct the value, or remove the line.");
pub(crate) static UNKNOWN_KEY: Rule = Rule::warning("CH802", "a key that is probably misspelt")
    .why("A line looks like a setting and its key is close to a known one. Unknown keys are prose, so the line has no effect.")
    .todo("Correct the key, or put the line into a sentence.");
pub(crate) static CONTRADICTING_PERMISSIONS: Rule = Rule::warning("CH803", "permissions contradict each other")
    .why("One rule refuses what another needs. The stricter one wins: what is denied is refused even when it is allowed as well.")
    .todo("Remove one of the two rules.");
pub(crate) static REPEATED_KEY: Rule = Rule::warning("CH804", "a setting is there more than once")
    .why("The key counts once. In `PERMISSIONS.md` the last line counts, in `RUNTIME.md` and `MCP.md` the first.")
    .todo("Keep the line that is meant.");
pub(crate) static NO_PERMISSIONS: Rule =
    Rule::warning("CH805", "`PERMISSIONS.md` asks for nothing")
        .why("The file has text but no line that is a rule, so nothing is guarded.")
        .todo("Write rules as `key: value`, such as `deny: swordfish`, or remove the file.");
pub(crate) static UNKNOWN_ROLE: Rule = Rule::error("CH806", "a role that nobody holds")
    .why("`require-role` names a role. The roles are `owner` and `guest`, and every sender holds one of them, so such a rule refuses every message.")
    .todo("Name `owner` or `guest`.");
pub(crate) static RUNTIME_SECRET: Rule = Rule::warning("CH807", "an address or a key in `RUNTIME.md`")
    .why("Where models are and what they cost is decided by the user. An address or a key in a workspace has no effect.")
    .todo("Move it to `providers` in `chitin.json5`, or into the environment.");
pub(crate) static RUNTIME_MODEL: Rule = Rule::warning("CH808", "a model that cannot be used")
    .why("`RUNTIME.md` suggests a model. It is used only when its provider is known, and never when it names a file of the machine.")
    .todo("Write it as `provider/name` with a provider that is configured.");
pub(crate) static RUNTIME_VALUE: Rule = Rule::warning("CH809", "a setting of `RUNTIME.md` has no effect")
    .why("The value is not one that the key takes, or the setting is one that this program leaves to the provider.")
    .todo("Correct the value, or remove the line.");
pub(crate) static UNKNOWN_CHANNEL: Rule = Rule::warning("CH810", "an unknown channel")
    .why("`CHANNELS.md` lists the channels that reach the agent; every line of one word counts as a name. A name that is no channel lets nothing in, and a file with no other names shuts out all channels.")
    .todo("Correct the name, or begin the line with `#`.");
pub(crate) static BAD_SERVER: Rule = Rule::warning("CH811", "a line of `MCP.md` names no server")
    .why("A server is `name: address` with an address that begins with `http://` or `https://`. Servers that are commands are configured in `chitin.json5`.")
    .todo("Correct the address, or remove the line.");
pub(crate) static ABSENT_SKILL: Rule =
    Rule::warning("CH812", "`SKILLS.md` names a skill that is not there")
        .why("The model reads the name and finds no skill of it.")
        .todo("Correct the name, or add the skill.");
pub(crate) static LOOKS_LIKE_A_RULE: Rule = Rule::error("CH813", "a line that looks like a rule and is none")
    .why("A rule is `key: value`, with one bullet before it or none. In a numbered list, in bold, behind a checkbox, with `=` or without a value a line is prose, so what it is to guard is open; in `CHANNELS.md` a line that names no channel has no effect.")
    .todo("Write `- key: value`, or put the line into a sentence.");
