//! How the command ends: the exit codes, the error that carries one, and the one place that prints errors.

use std::fmt::Display;
use std::io::{self, Write};

use zarr_array::meta::MetaError;
use zarr_array::meta::json::JsonError;
use zarr_array::traits::StoreError;
use zarr_array::{ArrayError, ArrayErrorKind};
use zarr_hierarchy::HierarchyError;

use crate::colour::{Look, on_stderr};
use crate::name;
use crate::secrets;
use crate::terminal::is_unsafe;

/// The exit codes. Scripts may rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Ok = 0,
    /// Invalid metadata, or two things that should be equal and differ.
    Invalid = 1,
    /// A wrong command line.
    Usage = 2,
    NotFound = 3,
    /// A failure of input or output without a code of its own, such as a full disk.
    Io = 4,
    /// Stored bytes that do not match the metadata.
    Corrupt = 5,
    /// Valid, but not supported by this build: an unknown extension, another format.
    Unsupported = 6,
    /// The store is busy or down. Nothing was applied; try again.
    Unavailable = 7,
    /// No permission, wrong credentials, a read-only medium.
    PermissionDenied = 8,
    /// Another writer changed the same node at the same time; try again.
    Conflict = 9,
    /// A write may or may not have been applied; check what is stored.
    Uncertain = 10,
    /// A size exceeds a limit or the memory.
    LimitExceeded = 11,
}

/// The result of a verb.
pub(crate) type Outcome = Result<Exit, Failure>;

/// An error: an exit code and a one-line message, whose places go from outside in.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

/// The longest message, in characters. A hostile document may hold names of a megabyte.
const LONGEST: usize = 2000;

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Exit::Unsupported, message)
    }

    /// Ends the command without a message: nobody reads the output, or the error has been printed already.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Puts the place of the error in front of the message.
    pub(crate) fn within(mut self, place: impl Display) -> Self {
        if !self.message.is_empty() {
            self.message = format!("{place}: {}", self.message);
        }
        self
    }

    /// Makes a failure from an error of the file system; `doing` says what was attempted.
    pub(crate) fn io(e: &io::Error, doing: impl Display) -> Self {
        let exit = match e.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Exit::NotFound,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Exit::PermissionDenied,
            _ => Exit::Io,
        };
        Self::new(exit, format!("{doing}: {e}"))
    }
}

impl From<ArrayErrorKind> for Exit {
    fn from(kind: ArrayErrorKind) -> Self {
        match kind {
            ArrayErrorKind::NotFound => Self::NotFound,
            // The user can choose another name.
            ArrayErrorKind::Exists => Self::Usage,
            ArrayErrorKind::Unsupported | ArrayErrorKind::UnknownExtension => Self::Unsupported,
            // The user's arguments have been checked before, so the metadata is the cause.
            ArrayErrorKind::Metadata | ArrayErrorKind::InvalidArgument => Self::Invalid,
            ArrayErrorKind::Corrupt | ArrayErrorKind::Checksum | ArrayErrorKind::Panic => Self::Corrupt,
            ArrayErrorKind::Unavailable => Self::Unavailable,
            ArrayErrorKind::PermissionDenied => Self::PermissionDenied,
            ArrayErrorKind::Conflict => Self::Conflict,
            ArrayErrorKind::Uncertain => Self::Uncertain,
            ArrayErrorKind::LimitExceeded => Self::LimitExceeded,
            _ => Self::Io,
        }
    }
}

/// The advice in messages of the libraries, and the options of the command that do the same.
const OPTIONS: [(&str, &str); 5] = [
    ("Access::root_certificates adds", "`--ca-cert FILE` adds"),
    ("Access::redirects does not allow", "`--redirects` does not allow"),
    ("allow it, or a folder above it", "allow it, or a folder above it, with `--allow-references`"),
    ("can be read anonymously", "can be read with `--anon`"),
    ("explain a smaller selection", "choose a part with `-s`, such as `-s 0:100`"),
];

/// Returns a message of a library with the options of the command in its advice.
fn advised(message: &str) -> String {
    OPTIONS.iter().fold(message.to_owned(), |message, (advice, option)| message.replace(advice, option))
}

/// The codes of services for a bucket or container that does not exist.
const NO_CONTAINER: [&str; 3] = ["(NoSuchBucket)", "(ContainerNotFound)", "(AccountNotFound)"];

impl From<ArrayError> for Failure {
    fn from(e: ArrayError) -> Self {
        let message = advised(&format!("{e:#}"));
        let is_absent = NO_CONTAINER.iter().any(|code| message.contains(code));
        Self::new(if is_absent { Exit::NotFound } else { e.kind().into() }, message)
    }
}

impl From<HierarchyError> for Failure {
    fn from(e: HierarchyError) -> Self {
        Self::new(e.kind().into(), advised(&format!("{e:#}")))
    }
}

impl From<JsonError> for Failure {
    fn from(e: JsonError) -> Self {
        MetaError::from(e).into()
    }
}

impl From<MetaError> for Failure {
    fn from(e: MetaError) -> Self {
        ArrayError::from(e).into()
    }
}

impl From<StoreError> for Failure {
    fn from(e: StoreError) -> Self {
        ArrayError::from(e).into()
    }
}

/// Prints the error, if any, on stderr and returns the exit code.
pub(crate) fn report(done: Outcome) -> u8 {
    let exit = match done {
        Ok(exit) => exit,
        Err(Failure { exit, message }) => {
            if !message.is_empty() {
                say(&message);
            }
            exit
        }
    };
    exit as u8
}

/// Prints one line on stderr. A failure to print is ignored.
pub(crate) fn say(message: &str) {
    let message = &*secrets::without_secrets(message);
    let (start, rest) = match message.strip_prefix("note: ") {
        Some(rest) => (on_stderr(Look::Warning, &format!("{}: note:", name::get())), rest),
        None => (on_stderr(Look::Error, &format!("{}:", name::get())), message),
    };
    let _ = writeln!(io::stderr().lock(), "{start} {}", line(&name::in_text(rest)));
}

/// Makes text fit into one line: escapes [unsafe](is_unsafe) characters and cuts it at [`LONGEST`].
pub(crate) fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST));
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            line.push('…');
            break;
        }
        if is_unsafe(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_array::traits::StoreErrorKind;

    #[test]
    fn a_message_is_one_line_whatever_is_in_it() {
        assert_eq!(line("a\nb\u{1b}[31mc\u{9b}é"), "a\\nb\\u{1b}[31mc\\u{9b}é");
        assert_eq!(line("a\u{202e}b\u{2066}c\u{200f}"), "a\\u{202e}b\\u{2066}c\\u{200f}");
        assert_eq!(line(&"x".repeat(1 << 20)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn each_kind_of_store_error_has_its_exit_code() {
        for (kind, code) in [
            (StoreErrorKind::Unsupported, 6),
            (StoreErrorKind::Unavailable, 7),
            (StoreErrorKind::PermissionDenied, 8),
            (StoreErrorKind::Changed, 9),
            (StoreErrorKind::Uncertain, 10),
            (StoreErrorKind::LimitExceeded, 11),
            (StoreErrorKind::Io, 4),
            (StoreErrorKind::Corrupt, 5),
        ] {
            let e = Failure::from(StoreError::new(kind, "no").with_key("a/b"));
            assert_eq!((e.exit() as u8, e.message()), (code, "key \"a/b\": no"));
        }
        let e = StoreError::new(StoreErrorKind::Io, "the service answered 404 Not Found (NoSuchBucket)");
        assert_eq!(Failure::from(e).exit(), Exit::NotFound);
    }

    #[test]
    fn places_go_in_front_of_a_message_but_not_of_silence() {
        let e = Failure::usage("no").within("array").within("store");
        assert_eq!(e.message(), "store: array: no");
        assert_eq!(Failure::silent(Exit::Ok).within("store").message(), "");
    }
}
