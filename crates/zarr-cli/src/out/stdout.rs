//! Standard output that may be large and may be closed by its reader.

use std::io::{self, StdoutLock, Write};

use crate::exit::{Exit, Failure};
use crate::terminal::Shield;

/// Standard output. When the reader closes it, the command stops without an error. On a terminal, characters that could
/// control it are escaped.
#[derive(Debug)]
pub(crate) struct Stdout {
    out: StdoutLock<'static>,
    shield: Shield,
}

impl Stdout {
    pub(crate) fn new() -> Self {
        let out = io::stdout().lock();
        Self { shield: Shield::of(&out), out }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out.write_all(&self.shield.pass(bytes)).map_err(|e| failed(&e))
    }

    /// Writes text with [colours](crate::colour), in which everything that is stored is [escaped](crate::exit::line) already.
    pub(crate) fn write_coloured(&mut self, text: &str) -> Result<(), Failure> {
        self.out.write_all(text.as_bytes()).map_err(|e| failed(&e))
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|e| failed(&e))
    }
}

fn failed(e: &io::Error) -> Failure {
    match e.kind() {
        io::ErrorKind::BrokenPipe => Failure::silent(Exit::Ok),
        _ => Failure::new(Exit::Io, format!("cannot write to standard output: {e}")),
    }
}

/// Prints all of `text`.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = Stdout::new();
    out.write(text.as_bytes())?;
    out.flush()
}
