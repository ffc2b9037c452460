//! Diagnostics: deviations from the specification that a tolerant reader accepts, and advice.
//!
//! A reader accepts a document that breaks the specification only if its meaning is certain, and reports each deviation
//! to a [`Sink`]. The sink decides for each report whether reading goes on: `Vec<Diagnostic>` collects the reports,
//! [`Ignore`] drops them, [`Strict`] turns a deviation into an error.

use std::fmt;

pub use crate::code::{Code, Severity};
use crate::error::{MetaError, MetaErrorKind, MetaResult};

/// A reported deviation or piece of advice.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The code of the diagnostic. Codes stay the same between releases.
    pub code: Code,
    /// The member concerned, as a JSON pointer (RFC 6901); empty for the whole document.
    pub pointer: String,
    /// The problem and how it was read: lower case, one line, no full stop.
    pub message: String,
}

impl Diagnostic {
    /// Returns a diagnostic about the member at `pointer`.
    pub fn new(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, pointer: pointer.into(), message: message.into() }
    }

    /// The severity of the [code](Self::code).
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

impl fmt::Display for Diagnostic {
    /// Prints `ZM021 member "/chunk_grid": …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.code)?;
        if !self.pointer.is_empty() {
            write!(f, "member {:?}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

impl From<Diagnostic> for MetaError {
    fn from(d: Diagnostic) -> Self {
        Self::new(MetaErrorKind::Deviation(d.code), format!("{} ({})", d.message, d.code)).at(&d.pointer)
    }
}

/// A receiver of diagnostics.
pub trait Sink {
    /// Takes one diagnostic.
    ///
    /// # Errors
    /// An error stops the reader, which returns that error.
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()>;
}

/// Collects the diagnostics.
impl Sink for Vec<Diagnostic> {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        self.push(diagnostic);
        Ok(())
    }
}

/// A sink that drops all diagnostics.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl Sink for Ignore {
    fn report(&mut self, _: Diagnostic) -> MetaResult<()> {
        Ok(())
    }
}

/// A sink that turns the first deviation into an error. It drops advice ([`Severity::Warning`]).
#[derive(Debug, Clone, Copy, Default)]
pub struct Strict;

impl Sink for Strict {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        match diagnostic.severity() {
            Severity::Error => Err(diagnostic.into()),
            Severity::Warning => Ok(()),
        }
    }
}

/// A sink for the content of a member: it puts the place of the member in front of every pointer.
pub(crate) struct Below<'a> {
    pub(crate) place: &'a str,
    /// The index of the element, if `place` is an array.
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

/// The most reports about one document. Later reports are dropped, so that a hostile document cannot flood a sink.
pub(crate) const MOST_REPORTS: usize = 100;

/// A sink that passes on the first [`MOST_REPORTS`] reports.
pub(crate) struct Capped<'a> {
    sink: &'a mut dyn Sink,
    reports: usize,
}

impl<'a> Capped<'a> {
    pub(crate) fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, reports: 0 }
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
