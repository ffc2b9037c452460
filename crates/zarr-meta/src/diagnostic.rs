//! What a tolerant reader has put up with: named deviations, handed to a sink of the caller.
//!
//! A reader accepts what the specification forbids only where the meaning is certain, and it reports each time
//! (checklist 0.3.1). Who reports to whom is one small trait: a [`Sink`] decides, report by report, whether
//! reading goes on. A `Vec<Diagnostic>` collects, [`Ignore`] forgets, [`Strict`] turns a deviation into an error.

use std::fmt;

pub use crate::code::{Code, Severity};
use crate::error::MetaResult;

/// One deviation, or one piece of advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which one; stable between releases.
    pub code: Code,
    /// The member it is about, as a JSON pointer (RFC 6901); empty for the whole document.
    pub pointer: String,
    /// What was found and how it was taken: lower case, one line, no full stop.
    pub message: String,
}

impl Diagnostic {
    /// A diagnostic about the member at `pointer`.
    pub fn new(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for Diagnostic {
    /// `ZM021 member "/chunk_grid": …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.code)?;
        if !self.pointer.is_empty() {
            write!(f, "member {:?}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

/// Takes diagnostics as they are found.
pub trait Sink {
    /// Takes one diagnostic.
    ///
    /// # Errors
    /// An error ends the reading, which returns that error.
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()>;
}

/// Collects.
impl Sink for Vec<Diagnostic> {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        self.push(diagnostic);
        Ok(())
    }
}

/// Reads tolerantly and says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl Sink for Ignore {
    fn report(&mut self, _: Diagnostic) -> MetaResult<()> {
        Ok(())
    }
}

/// Turns the first deviation into an error. Advice ([`Severity::Warning`]) is no deviation and is dropped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strict;

impl Sink for Strict {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        match diagnostic.code.severity() {
            Severity::Error => Err(diagnostic.into()),
            Severity::Warning => Ok(()),
        }
    }
}

/// A sink for what lies below a member: it puts the place in front of every pointer.
pub(crate) struct Below<'a> {
    pub(crate) place: &'a str,
    /// The element of the array at `place`.
    pub(crate) element: Option<usize>,
    pub(crate) sink: &'a mut dyn Sink,
}

impl<'a> Below<'a> {
    pub(crate) fn member(place: &'a str, sink: &'a mut dyn Sink) -> Self {
        Self { place, element: None, sink }
    }

    pub(crate) fn element(place: &'a str, element: usize, sink: &'a mut dyn Sink) -> Self {
        Self { place, element: Some(element), sink }
    }
}

impl Sink for Below<'_> {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        let place = match self.element {
            Some(i) => format!("{}/{i}{}", self.place, diagnostic.pointer),
            None => format!("{}{}", self.place, diagnostic.pointer),
        };
        self.sink.report(Diagnostic { pointer: place, ..diagnostic })
    }
}

/// Reports about one document; what comes after is left out, so that a hostile document cannot flood a sink.
pub(crate) const MOST_REPORTS: usize = 100;

/// A sink that passes on [`MOST_REPORTS`].
pub(crate) struct Capped<'a> {
    sink: &'a mut dyn Sink,
    reports: usize,
}

impl<'a> Capped<'a> {
    pub(crate) fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, reports: 0 }
    }

    /// Whether the reports are used up: a report need not be made.
    pub(crate) fn is_full(&self) -> bool {
        self.reports >= MOST_REPORTS
    }
}

impl Sink for Capped<'_> {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        self.reports += 1;
        match self.reports {
            ..MOST_REPORTS => self.sink.report(diagnostic),
            MOST_REPORTS => {
                let message = format!("{}; further reports are left out", diagnostic.message);
                self.sink.report(Diagnostic { message, ..diagnostic })
            }
            _ => Ok(()),
        }
    }
}
