//! `$include`: one configuration from several files (R102).
//!
//! Included files stay in the directory of the first file, by name and by link. Objects are merged deeply, arrays are
//! joined, and what stands beside an include wins over what it brings.

use super::compat::{INCLUDE, NEVER_MERGED};
use super::scan::{self, Step, dotted};
use super::source::{ConfigFile, line_and_column};
use super::{MAX_DEPTH, MAX_FILE_BYTES};
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root};
use chitin_protocol::record::FileRefusal;
use serde_json::{Map, Value};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// How deep includes may nest.
const MAX_INCLUDE_DEPTH: usize = 10;

/// How many files one configuration may read, a file that is included twice counted twice.
const MAX_FILES: usize = 64;

/// A configuration with every include merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Included {
    /// The merged value.
    pub value: Value,
    /// The files, in the order of their say: where two say the same thing, the earlier one holds.
    pub files: Vec<ConfigFile>,
}

/// What is wrong with a file or an include.
#[derive(Debug, Error)]
pub enum IncludeProblem {
    /// The file is not there.
    #[error("it does not exist")]
    Missing,
    /// The guard or the operating system did not hand it out.
    #[error(transparent)]
    Unreadable(ReadError),
    /// It is larger than any configuration.
    #[error("it is larger than {MAX_FILE_BYTES} bytes")]
    TooLarge,
    /// It is no text.
    #[error("it is not UTF-8")]
    NotText,
    /// It is not JSON5.
    #[error("it is not JSON5: {0}")]
    Syntax(String),
    /// Values are nested too deeply.
    #[error("its values are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// The named file lies outside.
    #[error("`{0}` leads out of the configuration directory")]
    Outside(String),
    /// Includes go round in a circle.
    #[error("files include each other: {}", chain(.0))]
    Cycle(Vec<PathBuf>),
    /// Includes nest too deeply.
    #[error("includes are nested more than {MAX_INCLUDE_DEPTH} deep")]
    IncludesTooDeep,
    /// There are too many files.
    #[error("the configuration reads more than {MAX_FILES} files")]
    TooMany,
    /// The value is neither a name nor a list of names.
    #[error("`$include` takes a file name or a list of file names")]
    NotAName,
    /// Something stands beside an include that brought no object.
    #[error("keys beside `$include` need the included file to hold an object")]
    SiblingsNeedObject,
}

fn chain(files: &[PathBuf]) -> String {
    let names: Vec<_> = files
        .iter()
        .map(|file| format!("`{}`", file.display()))
        .collect();
    names.join(" -> ")
}

/// A configuration that could not be put together, with the place that says so.
#[derive(Debug, Error)]
#[error("`{}`: {problem}", file.display())]
pub struct IncludeError {
    /// The file that cannot be used, or that asks for something impossible.
    pub file: PathBuf,
    /// The dotted path of the value there; empty when it is about the whole file.
    pub path: String,
    /// Line and column, counted from one.
    pub position: Option<(usize, usize)>,
    /// The line of the file, for showing.
    pub source_line: Option<String>,
    /// What is wrong.
    #[source]
    pub problem: Box<IncludeProblem>,
}

/// Reads a configuration file and everything that it includes.
pub fn read_with_includes(path: &Path) -> Result<Included, IncludeError> {
    let bare = |problem| IncludeError {
        file: path.to_owned(),
        path: String::new(),
        position: None,
        source_line: None,
        problem: Box::new(problem),
    };
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(bare(IncludeProblem::Missing));
    };
    let directory = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    let root = Root::open(directory).map_err(|error| bare(unreadable(error)))?;
    let mut reader = Reader {
        root,
        directory: directory.to_owned(),
        read: 0,
        stack: Vec::new(),
    };
    // The user named this file, so a second name of it is fine; its includes are held to more.
    let (value, files) = reader.file(Path::new(name), Named::ByUser, &[])?;
    Ok(Included { value, files })
}

/// Who asked for a file.
#[derive(Clone, Copy)]
enum Named {
    /// The user, or the place where it always is.
    ByUser,
    /// An `$include` in another file.
    ByFile,
}

struct Reader {
    root: Root,
    directory: PathBuf,
    read: usize,
    /// The files being read, outermost first, relative to the directory.
    stack: Vec<PathBuf>,
}

/// Where in which file the reader is.
struct Here<'a> {
    relative: &'a Path,
    text: &'a Arc<str>,
    /// The path of the file's own value in the whole configuration.
    mount: &'a [Step],
}

type Merged = (Value, Vec<ConfigFile>);

impl Reader {
    fn file(
        &mut self,
        relative: &Path,
        named: Named,
        mount: &[Step],
    ) -> Result<Merged, IncludeError> {
        let path = self.directory.join(relative);
        let fail = |problem| IncludeError {
            file: path.clone(),
            path: dotted(mount),
            position: None,
            source_line: None,
            problem: Box::new(problem),
        };
        self.read += 1;
        if self.read > MAX_FILES {
            return Err(fail(IncludeProblem::TooMany));
        }
        // The user's own file may be a link to wherever they keep it; what it includes stays in its directory.
        let (links, hardlinks) = match named {
            Named::ByUser => (LinkPolicy::Anywhere, Hardlinks::Allow),
            Named::ByFile => (LinkPolicy::EndInside, Hardlinks::Refuse),
        };
        let policy = ReadPolicy {
            links,
            hardlinks,
            max_bytes: MAX_FILE_BYTES,
            oversized: Oversized::Refuse,
        };
        let read = self
            .root
            .read(relative, &policy)
            .map_err(|error| fail(unreadable(error)))?;
        let text: Arc<str> = String::from_utf8(read.bytes)
            .map_err(|_| fail(IncludeProblem::NotText))?
            .into();
        let value = parse(&text).map_err(|(problem, position)| IncludeError {
            position,
            source_line: position.and_then(|(line, _)| source_line(&text, line)),
            ..fail(problem)
        })?;
        let mut files = vec![ConfigFile::new(path.clone(), text.clone(), mount.to_vec())];
        self.stack.push(relative.to_owned());
        let here = Here {
            relative,
            text: &text,
            mount,
        };
        let value = self.expand(value, &here, &mut Vec::new(), &mut files)?;
        self.stack.pop();
        Ok((value, files))
    }

    fn expand(
        &mut self,
        value: Value,
        here: &Here<'_>,
        inside: &mut Vec<Step>,
        files: &mut Vec<ConfigFile>,
    ) -> Result<Value, IncludeError> {
        match value {
            Value::Array(items) => {
                let mut expanded = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    inside.push(Step::Index(index));
                    expanded.push(self.expand(item, here, inside, files)?);
                    inside.pop();
                }
                Ok(Value::Array(expanded))
            }
            Value::Object(mut fields) => {
                let include = fields.shift_remove(INCLUDE);
                let included = match include {
                    Some(names) => Some(self.include(&names, here, inside, files)?),
                    None => None,
                };
                let mut rest = Map::with_capacity(fields.len());
                for (key, field) in fields {
                    inside.push(Step::Key(key.clone()));
                    let field = self.expand(field, here, inside, files)?;
                    inside.pop();
                    rest.insert(key, field);
                }
                match included {
                    None => Ok(Value::Object(rest)),
                    Some(included) if rest.is_empty() => Ok(included),
                    Some(included @ Value::Object(_)) => Ok(merge(included, Value::Object(rest))),
                    Some(_) => {
                        Err(self.fail(here, inside, INCLUDE, IncludeProblem::SiblingsNeedObject))
                    }
                }
            }
            scalar => Ok(scalar),
        }
    }

    fn include(
        &mut self,
        names: &Value,
        here: &Here<'_>,
        inside: &[Step],
        files: &mut Vec<ConfigFile>,
    ) -> Result<Value, IncludeError> {
        let one = |name: &Value| name.as_str().map(str::to_owned);
        let listed: Option<Vec<String>> = match names {
            Value::Array(names) => names.iter().map(one).collect(),
            single => one(single).map(|name| vec![name]),
        };
        let Some(listed) = listed else {
            return Err(self.fail(here, inside, INCLUDE, IncludeProblem::NotAName));
        };
        let mut merged: Option<Value> = names.is_array().then(|| Value::Object(Map::new()));
        for name in listed {
            let (value, mut brought) = self.included(&name, here, inside)?;
            // A later include wins over an earlier one, and nothing wins over the file that includes.
            brought.append(&mut files.split_off(1));
            files.append(&mut brought);
            merged = Some(match merged {
                Some(earlier) => merge(earlier, value),
                None => value,
            });
        }
        Ok(merged.unwrap_or_default())
    }

    fn included(
        &mut self,
        name: &str,
        here: &Here<'_>,
        inside: &[Step],
    ) -> Result<Merged, IncludeError> {
        let Some(relative) = self.resolve(here.relative, name) else {
            let problem = IncludeProblem::Outside(name.to_owned());
            return Err(self.fail(here, inside, INCLUDE, problem));
        };
        if self.stack.contains(&relative) {
            let mut files: Vec<_> = self.stack.iter().map(|f| self.directory.join(f)).collect();
            files.push(self.directory.join(&relative));
            return Err(self.fail(here, inside, INCLUDE, IncludeProblem::Cycle(files)));
        }
        if self.stack.len() > MAX_INCLUDE_DEPTH {
            return Err(self.fail(here, inside, INCLUDE, IncludeProblem::IncludesTooDeep));
        }
        let mount = [here.mount, inside].concat();
        self.file(&relative, Named::ByFile, &mount)
            .map_err(|error| match *error.problem {
                // A file that is not there has no place of its own; the line that asks for it has.
                IncludeProblem::Missing | IncludeProblem::TooMany => {
                    let asked = self.fail(here, inside, INCLUDE, IncludeProblem::Missing);
                    IncludeError {
                        position: asked.position,
                        source_line: asked.source_line,
                        ..error
                    }
                }
                _ => error,
            })
    }

    /// Turns a name into a path relative to the directory, or nothing when it leads out of it.
    fn resolve(&self, from: &Path, name: &str) -> Option<PathBuf> {
        let name = Path::new(name);
        let joined = if name.is_absolute() {
            name.strip_prefix(&self.directory)
                .or_else(|_| name.strip_prefix(self.root.real_path()))
                .ok()?
                .to_owned()
        } else {
            from.parent().unwrap_or(Path::new("")).join(name)
        };
        let mut clean = PathBuf::new();
        for component in joined.components() {
            match component {
                Component::Normal(part) => clean.push(part),
                Component::CurDir => {}
                Component::ParentDir => {
                    if !clean.pop() {
                        return None;
                    }
                }
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        (!clean.as_os_str().is_empty()).then_some(clean)
    }

    fn fail(
        &self,
        here: &Here<'_>,
        inside: &[Step],
        key: &str,
        problem: IncludeProblem,
    ) -> IncludeError {
        let mut steps = inside.to_vec();
        steps.push(Step::Key(key.to_owned()));
        let position = scan::locate(here.text, &steps).map(|byte| line_and_column(here.text, byte));
        IncludeError {
            file: self.directory.join(here.relative),
            path: dotted(&[here.mount, inside].concat()),
            position,
            source_line: position.and_then(|(line, _)| source_line(here.text, line)),
            problem: Box::new(problem),
        }
    }
}

/// Takes the first characters of a line: enough to show, never a whole machine-made file.
fn source_line(text: &str, line: usize) -> Option<String> {
    text.lines()
        .nth(line.checked_sub(1)?)
        .map(|line| line.chars().take(400).collect())
}

fn unreadable(error: ReadError) -> IncludeProblem {
    match error {
        ReadError::Missing { .. } => IncludeProblem::Missing,
        ReadError::Refused {
            reason: FileRefusal::TooLarge,
            ..
        } => IncludeProblem::TooLarge,
        other => IncludeProblem::Unreadable(other),
    }
}

type ParseFailure = (IncludeProblem, Option<(usize, usize)>);

/// Parses JSON5 text whose nesting is bounded.
pub(super) fn parse(text: &str) -> Result<Value, ParseFailure> {
    if scan::depth(text) > MAX_DEPTH {
        return Err((IncludeProblem::TooDeep, None));
    }
    json5::from_str(text).map_err(|error| {
        let Some(at) = error.position() else {
            // The parser knows no place for what is not there.
            let end = line_and_column(text, text.trim_end().len());
            let message = "it ends in the middle of a value".to_owned();
            return (IncludeProblem::Syntax(message), Some(end));
        };
        let message = error
            .code()
            .map_or_else(|| error.to_string(), |code| code.to_string());
        let position = (at.line + 1, at.column + 1);
        (IncludeProblem::Syntax(message), Some(position))
    })
}

/// Merges objects deeply and joins arrays; otherwise the later value holds.
pub(super) fn merge(earlier: Value, later: Value) -> Value {
    match (earlier, later) {
        (Value::Array(mut items), Value::Array(more)) => {
            items.extend(more);
            Value::Array(items)
        }
        (Value::Object(mut fields), Value::Object(more)) => {
            for (key, value) in more {
                if NEVER_MERGED.contains(&key.as_str()) {
                    continue;
                }
                let value = match fields.get_mut(&key) {
                    Some(known) => merge(known.take(), value),
                    None => value,
                };
                fields.insert(key, value);
            }
            Value::Object(fields)
        }
        (_, later) => later,
    }
}
