//! The bar on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How far a copy is in bytes, a listing in objects, a change of metadata in documents. Shows nothing unless stderr is a terminal.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(total: u64, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let template =
            "{msg} [{bar:30}] {percent:>3}%  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";
        Self::styled(ProgressBar::new(total), template)
    }

    /// Of a listing whose end is not known.
    pub(crate) fn objects() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self::styled(ProgressBar::no_length(), "{msg}  {pos} objects")
    }

    /// Of a change of metadata.
    pub(crate) fn documents(total: usize, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self::styled(ProgressBar::new(total as u64), "[{bar:30}] {pos} of {len} documents")
    }

    fn styled(bar: ProgressBar, template: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    /// Names what is worked on.
    pub(crate) fn at(&self, what: &str) {
        self.0.set_message(crate::exit::line(what));
    }

    pub(crate) fn add(&self, n: u64) {
        self.0.inc(n);
    }

    /// Prints a line above the bar.
    pub(crate) fn say(&self, message: &str) {
        self.0.suspend(|| crate::exit::say(message));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
