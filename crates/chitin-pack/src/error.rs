//! Errors as data: a class that programs compare, the exit code it stands for, and words for a person.

use std::error::Error;
use std::fmt;

/// How a command ends when something fails: rule P71.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitKind {
    /// Invalid input or usage.
    Input,
    /// A local build or file failed.
    Local,
    /// A registry failed.
    Registry,
    /// Packages could not be resolved.
    Resolution,
    /// The artifact and the target do not fit.
    Compatibility,
    /// A signature is missing or wrong.
    Verification,
}

impl ExitKind {
    /// Returns the process's exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Input => 1,
            Self::Local => 2,
            Self::Registry => 3,
            Self::Resolution => 4,
            Self::Compatibility => 5,
            Self::Verification => 6,
        }
    }
}

/// Declares the classes once: variant, name, usual exit.
macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $exit:ident,)*) => {
        /// What kind of thing went wrong. The names are stable: scripts and recorded cases compare them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorClass {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorClass {
            /// Every class, in the order of this file.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the stable name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns how a command usually ends with it.
            pub const fn exit(self) -> ExitKind {
                match self {
                    $(Self::$variant => ExitKind::$exit,)*
                }
            }
        }
    };
}

classes! {
    /// The command line makes no sense.
    Usage = "usage" => Input,
    /// A directory without `AGENTS.md`.
    NotAWorkspace = "not-a-workspace" => Input,
    /// A name outside the naming rule.
    InvalidName = "invalid-name" => Input,
    /// A version that is not semantic.
    InvalidVersion = "invalid-version" => Input,
    /// A description, role or other text that must say something and does not.
    EmptyField = "empty-field" => Input,
    /// A member that must be there and is not, or has the wrong type.
    InvalidField = "invalid-field" => Input,
    /// A value outside its list.
    InvalidEnum = "invalid-enum" => Input,
    /// A tag stands twice.
    DuplicateTags = "duplicate-tags" => Input,
    /// No adapter is named.
    MissingAdapter = "missing-adapter" => Input,
    /// Two workspace sources share an id.
    DuplicateSourceId = "duplicate-source-id" => Input,
    /// Two workspace sources share a mount path.
    DuplicateMountPath = "duplicate-mount-path" => Input,
    /// A secret is declared twice.
    DuplicateSecretKey = "duplicate-secret-key" => Input,
    /// MCP without a server.
    EmptyServers = "empty-servers" => Input,
    /// A tool is both enabled and disabled.
    ToolOverlap = "tool-overlap" => Input,
    /// A secret value stands in a runtime profile.
    SecretInProfile = "secret-in-profile" => Input,
    /// The workspace checker found secrets.
    SecretFound = "secret-found" => Input,
    /// A reference is empty.
    EmptyReference = "empty-reference" => Input,
    /// A reference holds white space or is not of the form.
    InvalidReference = "invalid-reference" => Input,
    /// A reference names no host and none may be assumed.
    MissingHost = "missing-host" => Input,

    /// The definition file is not there.
    MissingEntry = "missing-entry" => Local,
    /// The definition file is not a definition.
    BadEntry = "bad-entry" => Local,
    /// No definition was found.
    NoEntry = "no-entry" => Local,
    /// Several definitions were found.
    AmbiguousEntry = "ambiguous-entry" => Local,
    /// A path that the definition names is not there.
    MissingPath = "missing-path" => Local,
    /// A path names a file where a directory is wanted, or the other way round.
    WrongPathType = "wrong-path-type" => Local,
    /// A path leads out of the project.
    OutsideRoot = "outside-root" => Local,
    /// A document is not JSON.
    MalformedJson = "malformed-json" => Local,
    /// A path begins with `/`.
    AbsolutePath = "absolute-path" => Local,
    /// A path begins with `./`.
    DotSlashPath = "dot-slash-path" => Local,
    /// A path climbs.
    DotdotSegment = "dotdot-segment" => Local,
    /// A path holds a NUL byte.
    NulPath = "nul-in-path" => Local,
    /// A path holds a backslash.
    BackslashPath = "backslash-in-path" => Local,
    /// A path is empty.
    EmptyPath = "empty-path" => Local,
    /// A name is not UTF-8.
    InvalidUtf8 = "invalid-utf8" => Local,
    /// Two paths are equal, or differ in case only.
    DuplicatePath = "duplicate-path" => Local,
    /// A path is longer than the format holds.
    PathTooLong = "path-too-long" => Local,
    /// A symbolic link.
    Symlink = "symlink" => Local,
    /// A link to nothing.
    SymlinkDangling = "symlink-dangling" => Local,
    /// Links in a circle.
    SymlinkCycle = "symlink-cycle" => Local,
    /// A link out of the project.
    SymlinkOutsideRoot = "symlink-outside-root" => Local,
    /// A link to a directory.
    SymlinkToDirectory = "symlink-to-directory" => Local,
    /// A file with a second name.
    HardLink = "hard-link" => Local,
    /// A FIFO, socket or device.
    SpecialFile = "special-file" => Local,
    /// A layer above its limit.
    LayerTooLarge = "layer-too-large" => Local,
    /// A surface that is not Markdown.
    InvalidSurface = "invalid-surface" => Local,
    /// A skill without its document.
    SkillWithoutDocument = "skill-without-SKILL.md" => Local,
    /// A blob's bytes are not those that its name promises.
    DigestMismatch = "digest-mismatch" => Local,
    /// A blob has another size than its descriptor says.
    SizeMismatch = "size-mismatch" => Local,
    /// A blob is not there.
    MissingBlob = "missing-blob" => Local,
    /// There is no manifest where one was expected.
    MissingManifest = "missing-manifest" => Local,
    /// A manifest or config is not what the format says.
    InvalidManifest = "invalid-manifest" => Local,
    /// Two layers of one type.
    DuplicateLayerType = "duplicate-layer-type" => Local,
    /// A path in an archive that would leave its place.
    UnsafePath = "unsafe-path" => Local,
    /// A link or something else stands where a file is to be written.
    UnsafeTarget = "unsafe-target" => Local,
    /// An archive holds something other than files and directories.
    UnsupportedEntryType = "unsupported-entry-type" => Local,
    /// An archive or its compression is damaged or cut off.
    MalformedArchive = "malformed-archive" => Local,
    /// Other bytes stand where a file is to be written.
    Conflict = "conflict" => Local,
    /// The operating system failed.
    Io = "io" => Local,

    /// A registry cannot be reached, refuses, or answers nonsense.
    Registry = "registry" => Registry,
    /// A registry wants credentials, or other ones.
    Unauthorized = "unauthorized" => Registry,
    /// A registry does not have it.
    NotFound = "not-found" => Registry,

    /// Packages need each other in a circle.
    DependencyCycle = "dependency-cycle" => Resolution,
    /// One reference, two contents.
    DependencyConflict = "dependency-conflict" => Resolution,
    /// Packages of packages of packages, too deep.
    DependencyDepth = "dependency-depth" => Resolution,
    /// A package is not there, or is no package.
    MissingPackage = "missing-package" => Resolution,
    /// A lock file of another version.
    UnsupportedLockVersion = "unsupported-lock-version" => Resolution,
    /// A lock file that is not of the form.
    InvalidLock = "invalid-lock" => Resolution,

    /// Exact layout was asked of an adapter that cannot.
    ExactIncompatible = "exact-incompatible" => Compatibility,
    /// An adapter that nobody here knows.
    UnsupportedAdapter = "unsupported-adapter" => Compatibility,
    /// None of the artifact's adapters fits.
    NoCompatibleAdapter = "no-compatible-adapter" => Compatibility,
    /// A surface that must be there is not.
    MissingSurface = "missing-surface" => Compatibility,

    /// No signature.
    SignatureMissing = "signature-missing" => Verification,
    /// A signature that does not hold.
    SignatureInvalid = "signature-invalid" => Verification,
    /// A good signature of somebody who is not trusted.
    SignatureUntrusted = "signature-untrusted" => Verification,
    /// A trusted signature that binds neither name nor version.
    SignatureUnbound = "signature-unbound" => Verification,
    /// A trusted signature for another name or version than the artifact is used under.
    SignatureMisnamed = "signature-misnamed" => Verification,
    /// A trusted signature that is older than one that was accepted under the same name.
    SignatureOlder = "signature-older" => Verification,
}

impl ErrorClass {
    /// Returns what the user can do about it, where whoever met it had nothing better to say.
    pub const fn usual_advice(self) -> &'static str {
        match self {
            Self::Usage => "`--help` shows how it is used",
            Self::NotAWorkspace => "a workspace has an `AGENTS.md` at its root",
            Self::InvalidName
            | Self::InvalidVersion
            | Self::EmptyField
            | Self::InvalidField
            | Self::InvalidEnum
            | Self::DuplicateTags
            | Self::MissingAdapter
            | Self::DuplicateSourceId
            | Self::DuplicateMountPath
            | Self::DuplicateSecretKey
            | Self::EmptyServers
            | Self::ToolOverlap
            | Self::MalformedJson => "correct the document and try again",
            Self::SecretInProfile | Self::SecretFound => {
                "take it out; hand it to the agent through the environment instead"
            }
            Self::EmptyReference | Self::InvalidReference | Self::MissingHost => {
                "a reference looks like `registry.example/team/agent:1.0.0`"
            }
            Self::MissingEntry | Self::BadEntry | Self::NoEntry | Self::AmbiguousEntry => {
                "name the definition file, such as `agent.json`"
            }
            Self::MissingPath | Self::WrongPathType | Self::OutsideRoot => {
                "correct the path in the definition"
            }
            Self::AbsolutePath
            | Self::DotSlashPath
            | Self::DotdotSegment
            | Self::NulPath
            | Self::BackslashPath
            | Self::EmptyPath
            | Self::InvalidUtf8
            | Self::DuplicatePath
            | Self::PathTooLong => "rename it, or leave it out with `.staxignore`",
            Self::Symlink
            | Self::SymlinkDangling
            | Self::SymlinkCycle
            | Self::SymlinkOutsideRoot
            | Self::SymlinkToDirectory
            | Self::HardLink => {
                "replace it by a copy of the file, or exclude it with `.staxignore`"
            }
            Self::SpecialFile => "remove it, or leave it out with `.staxignore`",
            Self::LayerTooLarge => "leave something out with `.staxignore`, or raise the limit",
            Self::InvalidSurface => "surfaces end in `.md`",
            Self::SkillWithoutDocument => "write one, or move the directory out of `skills/`",
            Self::DigestMismatch
            | Self::SizeMismatch
            | Self::MissingBlob
            | Self::MalformedArchive => "it was damaged or changed; get it again",
            Self::MissingManifest => "`chitin cache` lists the artifacts",
            Self::InvalidManifest | Self::DuplicateLayerType => {
                "this is not an artifact that Chitin can read; ask its author"
            }
            Self::UnsafePath | Self::UnsupportedEntryType => {
                "do not use this artifact; ask its author"
            }
            Self::UnsafeTarget => "move it away, or choose another directory",
            Self::Conflict => "allow overwriting, or choose another directory",
            Self::Io => {
                "see that the file is there, that you may use it, and that the disk has room"
            }
            Self::Registry => "try again; if it persists, ask the registry's operator",
            Self::Unauthorized => "`chitin login HOST` stores a user name and a password",
            Self::NotFound => "see that repository and tag are spelled right",
            Self::DependencyCycle
            | Self::DependencyConflict
            | Self::DependencyDepth
            | Self::MissingPackage => {
                "correct the packages that are named, or pin them in `stax.lock`"
            }
            Self::UnsupportedLockVersion | Self::InvalidLock => {
                "update the lock file with `chitin pack --definition --lock`"
            }
            Self::ExactIncompatible => "leave out `--exact`, or take the adapter it was packed for",
            Self::UnsupportedAdapter | Self::NoCompatibleAdapter => {
                "`chitin unpack --help` lists the adapters"
            }
            Self::MissingSurface => "leave out `--strict`, or pack the missing files",
            Self::SignatureMissing | Self::SignatureInvalid | Self::SignatureUntrusted => {
                "have it signed by a key of your policy, or change the policy"
            }
            Self::SignatureUnbound => {
                "have it signed again, or set `unbound: \"accept\"` in the trust policy"
            }
            Self::SignatureMisnamed => {
                "use it under the name that was signed, or have it signed with `chitin sign --as NAME:VERSION`"
            }
            Self::SignatureOlder => {
                "ask who publishes it; if going back is meant, repeat with `--allow-older`"
            }
        }
    }
}

/// Why nothing was done.
#[derive(Debug)]
pub struct PackError {
    class: ErrorClass,
    exit: ExitKind,
    message: String,
    items: Vec<String>,
    hint: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl PackError {
    /// Builds an error of a class; the message is one sentence without a full stop.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            exit: class.exit(),
            message: message.into(),
            items: Vec::new(),
            hint: None,
            source: None,
        }
    }

    /// Sets how the command ends, where that depends on who asked: a wrong name ends a build with another code than a
    /// check of the definition.
    #[must_use]
    pub const fn exiting(mut self, exit: ExitKind) -> Self {
        self.exit = exit;
        self
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the things it is about, all of them: conflicting files, missing surfaces, the members of a cycle.
    #[must_use]
    pub fn about<T: Into<String>>(mut self, items: impl IntoIterator<Item = T>) -> Self {
        self.items.extend(items.into_iter().map(Into::into));
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the class.
    pub const fn class(&self) -> ErrorClass {
        self.class
    }

    /// Returns how the command ends.
    pub const fn exit(&self) -> ExitKind {
        self.exit
    }

    /// Returns the things it is about.
    pub fn items(&self) -> &[String] {
        &self.items
    }

    /// Returns what caused it.
    pub fn into_source(self) -> Option<Box<dyn Error + Send + Sync>> {
        self.source
    }

    /// Tells whether whoever met it had something to say about it.
    pub const fn has_advice(&self) -> bool {
        self.hint.is_some()
    }

    /// Returns what the user can do.
    pub fn advice(&self) -> &str {
        match &self.hint {
            Some(hint) => hint,
            None => self.class.usual_advice(),
        }
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for PackError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
