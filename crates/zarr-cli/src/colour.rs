//! Colours: only on a terminal, and as the variables `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` say.

use std::io;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Look {
    Error,
    Warning,
    Heading,
}

/// Returns text for standard output.
pub(crate) fn on_stdout(look: Look, text: &str) -> String {
    on(&io::stdout(), look, text)
}

/// Returns text for standard error.
pub(crate) fn on_stderr(look: Look, text: &str) -> String {
    on(&io::stderr(), look, text)
}

fn on(stream: &impl RawStream, look: Look, text: &str) -> String {
    if AutoStream::choice(stream) == ColorChoice::Never {
        return text.to_owned();
    }
    let style = match look {
        Look::Error => AnsiColor::Red.on_default().bold(),
        Look::Warning => AnsiColor::Yellow.on_default().bold(),
        Look::Heading => Style::new().bold(),
    };
    format!("{style}{text}{style:#}")
}
