//! The progress bar on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar: bytes of a copy, objects of a listing, documents of a metadata change. Hidden unless stderr is a
/// terminal.
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

    /// Makes a counter of written bytes, without a known total.
    pub(crate) fn written(quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self::styled(ProgressBar::no_length(), "{bytes} written  {bytes_per_sec}")
    }

    /// Makes a counter of listed objects, without a known total.
    pub(crate) fn objects() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self::styled(ProgressBar::no_length(), "{msg}  {pos} objects")
    }

    /// Makes a counter of arrays, without a known total.
    pub(crate) fn arrays() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self::styled(ProgressBar::no_length(), "{msg}  {pos} arrays")
    }

    /// Makes a bar for elements.
    pub(crate) fn elements(total: u64) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self::styled(ProgressBar::new(total), "[{bar:30}] {percent:>3}%  {pos} of {len} elements  {eta} left")
    }

    /// Makes a counter of listed objects whose rows are printed at once. Rows on a terminal need none.
    pub(crate) fn rows() -> Self {
        match std::io::stdout().is_terminal() {
            true => Self(ProgressBar::hidden()),
            false => Self::objects(),
        }
    }

    /// Makes a bar for changed metadata documents.
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

    /// Shows the name of the current item.
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
