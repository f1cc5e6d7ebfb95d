//! Rules about what a text says: links, unfinished parts, secrets, hidden instructions.

use super::CheckRule;

pub(crate) static BROKEN_LINK: CheckRule = CheckRule::warning("CH401", "a link leads nowhere")
    .why("Links are hints that the agent follows with its read tool. Relative links, images and reference definitions outside code are looked up in the workspace.")
    .todo("Correct the path, or remove the link.");
pub(crate) static LEAVING_LINK: CheckRule = CheckRule::warning("CH402", "a link leaves the workspace")
    .why("The target lies outside the directory, where a guarded read does not go and where it is absent on any other machine.")
    .todo("Copy the target into the workspace, or describe it in words.");
pub(crate) static UNEDITED_TEMPLATE: CheckRule = CheckRule::info(
    "CH403",
    "a template was left as it is",
)
.why("The file is word for word what `chitin init` wrote, so it says nothing about this agent.")
.todo("Edit it, or delete it to save tokens.");
pub(crate) static PLACEHOLDER: CheckRule = CheckRule::info("CH404", "a placeholder was left in")
    .why("A line still asks to be filled in. The model reads it as part of its instructions.")
    .todo("Fill it in, or delete the line.");

pub(crate) static PROVIDER_KEY: CheckRule = CheckRule::error("CH601", "a provider's key or token")
    .why("The text is sent to a model provider on every turn, and gets into logs and packages. A key in it is no longer a secret.")
    .todo("Revoke the key, remove it from the file, and pass the new one through the environment or a secret store.");
pub(crate) static PRIVATE_KEY: CheckRule = CheckRule::error("CH602", "a private key")
    .why("A PEM block with a private key is in text that is sent to a model provider.")
    .todo("Replace the key pair, and keep the new private key outside the workspace.");
pub(crate) static JSON_WEB_TOKEN: CheckRule = CheckRule::warning("CH603", "a signed web token")
    .why("A JSON Web Token lets whoever holds it act for its subject until it expires.")
    .todo("Remove it from the file; let it expire or revoke it.");
pub(crate) static SECRET_ASSIGNMENT: CheckRule = CheckRule::warning("CH604", "a value that looks like a secret")
    .why("A field named like a password, token or key has a value with the randomness of one.")
    .todo("Refer to an environment variable or a secret store instead, and change the value if it was real.");
pub(crate) static WEBHOOK: CheckRule = CheckRule::error("CH605", "a webhook address")
    .why("Anyone who knows the address can post as its owner.")
    .todo("Replace the webhook, and pass the new address through the environment.");

pub(crate) static TAG_CHARACTERS: CheckRule = CheckRule::error(
    "CH701",
    "hidden text in tag characters",
)
.why("Characters of the Unicode tag block show nothing on screen and spell text for a model.")
.todo("Remove them, and check where the file came from.");
pub(crate) static ZERO_WIDTH: CheckRule = CheckRule::warning("CH702", "invisible characters")
    .why("Characters without width can hide or split words, so that people and models read different text. Joiners inside emoji and scripts that need them are not reported.")
    .todo("Remove the invisible characters.");
pub(crate) static BIDI_CONTROLS: CheckRule = CheckRule::warning("CH703", "text direction controls")
    .why("Text direction controls make text appear in another order than the one a model reads.")
    .todo("Remove them, unless the text mixes scripts and needs them.");
pub(crate) static VARIATION_SELECTORS: CheckRule =
    CheckRule::error("CH704", "hidden text in variation selectors")
        .why("A run of variation selectors shows nothing and can carry any bytes.")
        .todo("Remove them, and check where the file came from.");
pub(crate) static COMMENT_COMMANDS: CheckRule = CheckRule::warning("CH705", "a hidden comment contains instructions")
    .why("A comment is invisible where Markdown is rendered, and the model reads it like any other text.")
    .todo("Remove it, or write it where people see it.");
pub(crate) static INJECTION_PHRASE: CheckRule = CheckRule::warning("CH706", "a prompt injection phrase")
    .why("The text tries to set aside other instructions or to hide something from the user. Quoted phrases and lines that warn about them are not reported.")
    .todo("Remove it, and check where it came from.");
pub(crate) static ENCODED_TEXT: CheckRule = CheckRule::warning("CH707", "a long encoded block in prose")
    .why("A model can decode what a reader skips. Blocks that decode to text are worse than those that do not; code blocks and `data:` URLs are not reported.")
    .todo("Put the data into a file of its own, or write the text in the clear.");
pub(crate) static AUTO_READ: CheckRule = CheckRule::warning("CH708", "an instruction to read a file at every start")
    .why("Text that makes the agent read a further file at every start gives the author of that file permanent influence.")
    .todo("Remove the reference, and look for the file it names.");
pub(crate) static EXFILTRATION_IMAGE: CheckRule = CheckRule::error("CH709", "an image address that leaks data")
    .why("An image is fetched as soon as it is shown. An address with a placeholder for data sends that data to its host.")
    .todo("Remove the image.");
pub(crate) static TERMINAL_CONTROLS: CheckRule = CheckRule::error("CH710", "control characters that a terminal obeys")
    .why("Escapes hide, overwrite or recolour text where people read it on a terminal; the model and the shell read all of it.")
    .todo("Remove them, and check where the file came from. Programs write escapes as `\\033[…`.");
pub(crate) static HIDDEN_ELEMENT: CheckRule =
    CheckRule::warning("CH711", "text in a hidden HTML element")
        .why("A page does not show the element, and the model reads it like any other text.")
        .todo("Remove it, or write it where people see it.");
