//! Programs that speak the protocol of adapters, and how they are asked.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::SuiteError;
use super::process::{self, Limits};
use super::session::Session;

/// What a peer is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// To say what a node is.
    Info,
    /// To print the elements of an array.
    Read,
    /// To say which nodes a store has.
    List,
    /// To create an array.
    Write,
}

impl Verb {
    /// As the protocol has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Read => "read",
            Self::List => "list",
            Self::Write => "write",
        }
    }
}

/// One thing to do.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What.
    pub verb: Verb,
    /// With which node, a folder.
    pub node: &'a Path,
    /// Elements are JSON.
    pub json: bool,
    /// The files with the metadata, and with the elements, of an array to write.
    pub write: Option<(&'a Path, &'a Path)>,
}

impl<'a> Request<'a> {
    /// For a verb that needs nothing but a node.
    pub fn new(verb: Verb, node: &'a Path) -> Self {
        Self { verb, node, json: false, write: None }
    }
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It is done.
    Done,
    /// It was refused, or failed.
    Refused,
    /// The peer does not have what it needs.
    NotImplemented,
    /// It printed more than it may, and nobody listened any longer.
    Closed,
    /// It crashed, or took more than it may.
    Broken(String),
}

/// What a peer says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// How it ended.
    pub exit: Exit,
    /// What it printed.
    pub output: Vec<u8>,
    /// Why not.
    pub message: String,
}

impl Answer {
    /// That it ended like this, with what it printed.
    pub fn new(exit: Exit, message: impl Into<String>, output: Vec<u8>) -> Self {
        Self { exit, output, message: message.into() }
    }
}

/// An implementation that is looked at.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Peer {
    /// A short name, of which files are named.
    pub id: String,
    /// As reports name it.
    pub name: String,
    /// Of the implementation.
    pub version: String,
    /// In which it is written.
    pub language: String,
    /// Where to learn more.
    pub url: String,
    /// The program and its first arguments.
    pub command: Vec<OsString>,
    /// Variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// It can do many things one after the other (`serve`).
    pub serve: bool,
}

/// The codes of the protocol.
const REFUSED: i32 = 1;
const NOT_IMPLEMENTED: i32 = 89;

impl Peer {
    /// One that is started by a command.
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

    /// Whether it serves.
    #[must_use]
    pub fn serving(self, serve: bool) -> Self {
        Self { serve, ..self }
    }

    /// How it is started.
    pub(super) fn start(&self) -> Result<Command, SuiteError> {
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or_else(|| SuiteError::new(format!("the peer {:?} has no command", self.id)))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    /// Does one thing in a process of its own.
    fn once(&self, request: &Request<'_>, limits: Limits) -> Result<Answer, SuiteError> {
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
        let exit = match (outcome.broken(&[0, REFUSED, NOT_IMPLEMENTED]), outcome.status.code()) {
            (Some(broken), _) => Exit::Broken(broken),
            (None, _) if outcome.closed => Exit::Closed,
            (None, code) => Exit::of(code),
        };
        Ok(Answer { exit, message: outcome.message().to_owned(), output: outcome.stdout })
    }
}

impl Exit {
    pub(super) fn of(code: Option<i32>) -> Self {
        match code {
            Some(0) => Self::Done,
            Some(REFUSED) => Self::Refused,
            Some(NOT_IMPLEMENTED) => Self::NotImplemented,
            other => Self::Broken(format!("exit code {other:?}, which means nothing")),
        }
    }
}

/// A peer that is asked by one thread.
#[derive(Debug)]
pub(super) struct Line<'a> {
    peer: &'a Peer,
    /// A folder for what is printed.
    work: PathBuf,
    session: Option<Session>,
}

impl<'a> Line<'a> {
    pub(super) fn new(peer: &'a Peer, work: PathBuf) -> Self {
        Self { peer, work, session: None }
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(&mut self, request: &Request<'_>, limits: Limits) -> Result<Answer, SuiteError> {
        if !self.peer.serve {
            return self.peer.once(request, limits);
        }
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(Session::start(self.peer)?),
        };
        let output = self.work.join("output");
        let _ = fs::remove_file(&output);
        let answer = session.ask(request, &output, limits);
        if matches!(answer.exit, Exit::Broken(_) | Exit::Closed) {
            // It cannot be relied on any longer.
            self.session = None;
        }
        Ok(answer)
    }
}
