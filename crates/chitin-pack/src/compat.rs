//! Interface strings of the format: media types, annotations, file names, codes. Words of ours stand where they are used.

/// The version of the written contract.
pub const SPEC_VERSION: &str = "1.0.0";

/// An agent.
pub const AGENT: &str = "application/vnd.stax.agent.v1";
/// A package.
pub const PACKAGE: &str = "application/vnd.stax.package.v1";
/// A runtime profile.
pub const PROFILE: &str = "application/vnd.stax.profile.v1";
/// A source snapshot.
pub const SOURCE: &str = "application/vnd.stax.source.v1";
/// A signature, a referrer.
pub const SIGNATURE: &str = "application/vnd.stax.signature.v1";

/// The config of agents and packages.
pub const CONFIG: &str = "application/vnd.stax.config.v1+json";
/// The config of profiles.
pub const PROFILE_CONFIG: &str = "application/vnd.stax.profile.config.v1+json";
/// The config of sources.
pub const SOURCE_CONFIG: &str = "application/vnd.stax.source.config.v1+json";
/// The config of signatures.
pub const SIGNATURE_CONFIG: &str = "application/vnd.stax.signature.config.v1+json";
/// What a signature signs.
pub const SIGNATURE_PAYLOAD: &str = "application/vnd.stax.signature.payload.v1";

/// An OCI image manifest.
pub const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// An OCI image index.
pub const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The OCI empty descriptor's type; its bytes are `{}`.
pub const OCI_EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// When it was made; always [`CREATED`].
pub const ANNOTATION_CREATED: &str = "org.opencontainers.image.created";
/// The version.
pub const ANNOTATION_VERSION: &str = "org.opencontainers.image.version";
/// The name.
pub const ANNOTATION_TITLE: &str = "org.opencontainers.image.title";
/// The description.
pub const ANNOTATION_DESCRIPTION: &str = "org.opencontainers.image.description";
/// The author.
pub const ANNOTATION_VENDOR: &str = "org.opencontainers.image.vendor";
/// A tag in a layout's index.
pub const ANNOTATION_REF_NAME: &str = "org.opencontainers.image.ref.name";
/// The contract's version.
pub const ANNOTATION_SPEC_VERSION: &str = "dev.stax.spec.version";
/// The adapter's type.
pub const ANNOTATION_ADAPTER_TYPE: &str = "dev.stax.adapter.type";
/// The adapter's runtime.
pub const ANNOTATION_ADAPTER_RUNTIME: &str = "dev.stax.adapter.runtime";
/// The persona's name.
pub const ANNOTATION_PERSONA: &str = "dev.stax.persona";
/// The lock file's digest.
pub const ANNOTATION_LOCK: &str = "dev.stax.lock.digest";
/// What a memory layer is a snapshot of.
pub const ANNOTATION_MEMORY: &str = "dev.stax.memory.snapshot";

/// How many files a knowledge layer holds.
pub const ANNOTATION_KNOWLEDGE_FILES: &str = "dev.stax.knowledge.files";
/// How many rules a rules layer holds.
pub const ANNOTATION_RULES_COUNT: &str = "dev.stax.rules.count";
/// How many skills a skills layer holds.
pub const ANNOTATION_SKILLS_COUNT: &str = "dev.stax.skills.count";

/// The only time there is: builds repeat on every clock.
pub const CREATED: &str = "1970-01-01T00:00:00.000Z";

/// Surfaces and the workspace files they stand for, in the order of warnings.
pub const SURFACES: [(&str, &str); 7] = [
    ("instructions.md", "AGENTS.md"),
    ("persona.md", "SOUL.md"),
    ("tools.md", "TOOLS.md"),
    ("identity.md", "IDENTITY.md"),
    ("user.md", "USER.md"),
    ("heartbeat.md", "HEARTBEAT.md"),
    ("bootstrap.md", "BOOTSTRAP.md"),
];

/// The surface that stands for `MEMORY.md` where that is asked for.
pub const MEMORY_SURFACE: &str = "memory.md";
/// The file it stands for.
pub const MEMORY_FILE: &str = "MEMORY.md";
/// The document of a skill.
pub const SKILL_FILE: &str = "SKILL.md";
/// Patterns of what is left out.
pub const IGNORE_FILE: &str = ".staxignore";
/// The lock file.
pub const LOCK_FILE: &str = "stax.lock";

/// A warning: a package carries a layer that packages do not have.
pub const PACKAGE_LAYER_IGNORED: &str = "PACKAGE_LAYER_IGNORED";
/// A warning: a signature does not hold.
pub const SIGNATURE_INVALID: &str = "SIGNATURE_INVALID";
/// A warning: there is no signature.
pub const SIGNATURE_MISSING: &str = "SIGNATURE_MISSING";
/// A warning: a good signature of somebody who is not trusted.
pub const SIGNATURE_UNTRUSTED: &str = "SIGNATURE_UNTRUSTED";
/// A warning: a trusted signature binds neither name nor version.
pub const SIGNATURE_UNBOUND: &str = "SIGNATURE_UNBOUND";
/// A warning: a trusted signature is for another name or version.
pub const SIGNATURE_MISNAMED: &str = "SIGNATURE_MISNAMED";
/// A warning: an older artifact than before was allowed.
pub const SIGNATURE_OLDER: &str = "SIGNATURE_OLDER";
/// The fidelity of an adapter that keeps every byte.
pub const BYTE_EXACT: &str = "byte-exact";
/// The fidelity of an adapter that keeps what it can.
pub const BEST_EFFORT: &str = "best-effort";

/// A surface is not in the artifact.
pub const SURFACE_MISSING: &str = "SURFACE_MISSING";
/// A file was made of other layers.
pub const SURFACE_SYNTHESIZED: &str = "SURFACE_SYNTHESIZED";
/// The prompt was left out.
pub const PROMPT_NOT_MATERIALIZED: &str = "PROMPT_NOT_MATERIALIZED";
/// Rules were left out.
pub const RULES_NOT_MATERIALIZED: &str = "RULES_NOT_MATERIALIZED";
/// A layer has no place in the target.
pub const UNSUPPORTED_FEATURE: &str = "UNSUPPORTED_FEATURE";
/// An option that the artifact's maker set has effect.
pub const PRESET: &str = "PRESET_OPTION";
/// The model or its parameters have no place in the target.
pub const MODEL_NOT_MATERIALIZED: &str = "MODEL_NOT_MATERIALIZED";
/// Something that is particular to the target.
pub const ADAPTER_WARNING: &str = "ADAPTER_WARNING";
/// The files could not be exchanged in one step.
pub const NOT_ATOMIC: &str = "NOT_ATOMIC";
