//! Standard output that may be large and may be closed by its reader.

use std::io::{self, StdoutLock, Write};

use crate::exit::{Exit, Failure};

/// Standard output. When the reader closes it, the command stops without an error.
#[derive(Debug)]
pub(crate) struct Stdout(StdoutLock<'static>);

impl Stdout {
    pub(crate) fn new() -> Self {
        Self(io::stdout().lock())
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.0.write_all(bytes).map_err(|e| failed(&e))
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.0.flush().map_err(|e| failed(&e))
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
