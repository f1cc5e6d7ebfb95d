//! Rules about what a text says: links, unfinished parts, secrets, hidden instructions.

use super::Rule;

pub(crate) static BROKEN_LINK: Rule = Rule::warning("CH401", "a link leads nowhere")
    .why("Links are hints that the agent follows with its read tool. Relative links, images and reference definitions outside code are looked up in the workspace.")
    .todo("Correct the path, or remove the link.");
pub(crate) static LEAVING_LINK: Rule = Rule::warning("CH402", "a link leaves the workspace")
    .why("The target lies outside the directory, where a guarded read does not go and where it is absent on any other machine.")
    .todo("Copy the target into the workspace, or describe it in words.");
pub(crate) static UNEDITED_TEMPLATE: Rule = Rule::info("CH403", "a template was left as it is")
    .why("The file is word for word what `chitin init` wrote, so it says nothing about this agent.")
    .todo("Edit it, or delete it to save the room.");
pub(crate) static PLACEHOLDER: Rule = Rule::info("CH404", "a placeholder was left in")
    .why("A line asks somebody to fill it in. The model takes it as part of its instructions.")
    .todo("Fill it in, or delete the line.");

pub(crate) static PROVIDER_KEY: Rule = Rule::error("CH601", "a provider's key or token")
    .why("The text goes to a model provider on every turn, into logs and into packages. A key in it is no longer a secret.")
    .todo("Revoke the key, take it out of the file, and hand it to the agent through the environment or a secret store.");
pub(crate) static PRIVATE_KEY: Rule = Rule::error("CH602", "a private key")
    .why("A PEM block with a private key stands in text that goes to a model provider.")
    .todo("Replace the key pair, and keep the new private key outside the workspace.");
pub(crate) static JSON_WEB_TOKEN: Rule = Rule::warning("CH603", "a signed web token")
    .why("A JSON Web Token lets whoever holds it act for its subject until it expires.")
    .todo("Take it out of the file; let it expire or revoke it.");
pub(crate) static SECRET_ASSIGNMENT: Rule = Rule::warning("CH604", "a value that looks like a secret")
    .why("A field named like a password, token or key has a value with the randomness of one.")
    .todo("Refer to an environment variable or a secret store instead, and change the value if it was real.");
pub(crate) static WEBHOOK: Rule = Rule::error("CH605", "a webhook address")
    .why("Whoever knows the address can post in the name of its owner.")
    .todo("Replace the webhook, and hand the new address to the agent through the environment.");

pub(crate) static TAG_CHARACTERS: Rule = Rule::error("CH701", "hidden text in tag characters")
    .why("Characters of the Unicode tag block show nothing on screen and spell text for a model.")
    .todo("Remove them; look at where the file came from.");
pub(crate) static ZERO_WIDTH: Rule = Rule::warning("CH702", "invisible characters")
    .why("Characters without width can hide or split words, so that people and models read different text. Joiners inside emoji and scripts that need them are left alone.")
    .todo("Remove what cannot be seen.");
pub(crate) static BIDI_CONTROLS: Rule = Rule::warning("CH703", "characters that turn the reading direction")
    .why("Controls of the reading direction make text appear in another order than the one a model reads.")
    .todo("Remove them, unless the text mixes scripts and needs them.");
pub(crate) static VARIATION_SELECTORS: Rule =
    Rule::error("CH704", "hidden text in variation selectors")
        .why("A run of variation selectors shows nothing and can carry any bytes.")
        .todo("Remove them; look at where the file came from.");
pub(crate) static COMMENT_COMMANDS: Rule = Rule::warning("CH705", "a comment gives orders")
    .why("A comment is invisible where Markdown is rendered, and the model reads it like any other text.")
    .todo("Remove it, or write it where people see it.");
pub(crate) static INJECTION_PHRASE: Rule = Rule::warning("CH706", "a phrase of prompt injection")
    .why("The text tries to set aside other instructions or to hide something from the user. Quoted phrases and lines that warn of them are left alone.")
    .todo("Remove it; look at where it came from.");
pub(crate) static ENCODED_TEXT: Rule = Rule::warning("CH707", "a long encoded block in prose")
    .why("A model can decode what a reader passes over. Blocks that decode to text are worse than those that do not; code blocks and data addresses are left alone.")
    .todo("Put the data into a file of its own, or write the text in the clear.");
pub(crate) static AUTO_READ: Rule = Rule::warning("CH708", "a file to be read and obeyed by itself")
    .why("Text that makes the agent read a further file at every start gives whoever writes that file a lasting hold.")
    .todo("Remove the reference, and look for the file it names.");
pub(crate) static EXFILTRATION_IMAGE: Rule = Rule::error("CH709", "an image address that carries data away")
    .why("An image is fetched as soon as it is shown. An address with a place for data sends that data to its host.")
    .todo("Remove the image.");
