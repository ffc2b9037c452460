//! Programs with the protocol of adapters, and requests to them.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use super::SuiteError;
use super::process::{self, ProcessLimits, undocumented};

/// A call of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verb {
    /// Describe a node.
    Info,
    /// Print the elements of an array.
    Read,
    /// List the nodes of a store.
    List,
    /// Create an array.
    Write,
}

impl Verb {
    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Read => "read",
            Self::List => "list",
            Self::Write => "write",
        }
    }
}

/// A request to a peer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PeerRequest<'a> {
    /// The verb.
    pub verb: Verb,
    /// The folder of the node.
    pub node: &'a Path,
    /// Whether elements are JSON.
    pub json: bool,
    /// The files with the metadata and the elements of an array to write.
    pub write: Option<(&'a Path, &'a Path)>,
}

impl<'a> PeerRequest<'a> {
    /// Returns a request for a verb that needs only a node.
    pub fn new(verb: Verb, node: &'a Path) -> Self {
        Self { verb, node, json: false, write: None }
    }
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It succeeded.
    Done,
    /// It was refused, or failed.
    Refused,
    /// The peer does not support it.
    NotImplemented,
    /// The peer printed more than allowed, and its output was closed.
    Closed,
    /// The peer crashed, or exceeded a limit.
    Broken(String),
}

/// The answer of a peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PeerAnswer {
    /// How it ended.
    pub exit: Exit,
    /// The output.
    pub output: Vec<u8>,
    /// The reason of a failure.
    pub message: String,
    /// The exit code of the process, if it ended.
    pub(super) code: Option<i32>,
}

impl PeerAnswer {
    /// Returns an answer.
    pub fn new(exit: Exit, message: impl Into<String>, output: Vec<u8>) -> Self {
        Self { exit, output, message: message.into(), code: None }
    }
}

/// An implementation under test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Peer {
    /// A short name, used in file names.
    pub id: String,
    /// The name in reports.
    pub name: String,
    /// The version of the implementation.
    pub version: String,
    /// The programming language.
    pub language: String,
    /// A web page about it.
    pub url: String,
    /// The program and its first arguments.
    pub command: Vec<OsString>,
    /// Environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether one process can answer many requests (`serve`).
    pub serve: bool,
}

/// The codes of the protocol.
const REFUSED: i32 = 1;
const NOT_IMPLEMENTED: i32 = 89;

impl Peer {
    /// Returns a peer that is started by a command.
    pub fn new<S: Into<OsString>>(id: impl Into<String>, command: impl IntoIterator<Item = S>) -> Self {
        let id = id.into();
        Self {
            name: id.clone(),
            id,
            version: String::new(),
            language: String::new(),
            url: String::new(),
            command: command.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            serve: false,
        }
    }

    /// Returns a peer that is started by a command of the shell `sh`, such as `python3 adapter.py`. The call of the
    /// protocol follows the command.
    pub fn shell(id: impl Into<String>, command: &str) -> Self {
        // The shell splits the command, so that quotes and variables work as expected.
        Self::new(id, ["sh", "-c", &format!("{command} \"$@\""), "sh"])
    }

    /// Sets whether one process answers many requests.
    #[must_use]
    pub fn serving(self, serve: bool) -> Self {
        Self { serve, ..self }
    }

    /// Returns the command that starts the peer.
    pub(super) fn start(&self) -> Result<Command, SuiteError> {
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or_else(|| SuiteError::new(format!("the peer {:?} has no command", self.id)))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    /// Answers one request in its own process.
    pub(super) fn once(
        &self,
        request: &PeerRequest<'_>,
        limits: ProcessLimits,
    ) -> Result<PeerAnswer, SuiteError> {
        let mut command = self.start()?;
        command.arg(request.verb.name());
        if request.json {
            command.arg("--json");
        }
        command.arg(request.node);
        let mut input = None;
        if let Some((metadata, elements)) = request.write {
            command.arg(metadata);
            input = Some(File::open(elements).map_err(SuiteError::at(elements))?);
        }
        let outcome = process::run(&mut command, input, limits)
            .map_err(|e| SuiteError::new(format!("cannot start the peer {:?}: {e}", self.id)))?;
        let code = outcome.status.code();
        let exit = match outcome.broken(&[0, REFUSED, NOT_IMPLEMENTED]) {
            Some(broken) => Exit::Broken(broken),
            None if outcome.closed => Exit::Closed,
            None => Exit::of(code),
        };
        Ok(PeerAnswer { exit, message: outcome.message().to_owned(), output: outcome.stdout, code })
    }
}

impl Exit {
    pub(super) fn of(code: Option<i32>) -> Self {
        match code {
            Some(0) => Self::Done,
            Some(REFUSED) => Self::Refused,
            Some(NOT_IMPLEMENTED) => Self::NotImplemented,
            Some(code) => Self::Broken(undocumented(code)),
            None => Self::Broken("no exit code".to_owned()),
        }
    }
}
