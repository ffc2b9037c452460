//! The secrets in the arguments of the process, which no message shows.

use std::borrow::Cow;
use std::sync::OnceLock;

/// The typed texts with secrets, each with the text that messages show.
static SECRETS: OnceLock<Vec<(String, String)>> = OnceLock::new();

/// Hides these texts in all messages. Only the first call counts.
pub(crate) fn hide(secrets: Vec<(String, String)>) {
    let _ = SECRETS.set(secrets);
}

/// Returns a message in which the secrets of the arguments are hidden.
pub(crate) fn without_secrets(message: &str) -> Cow<'_, str> {
    hidden(message, SECRETS.get().map_or(&[], Vec::as_slice))
}

pub(crate) fn hidden<'m>(message: &'m str, secrets: &[(String, String)]) -> Cow<'m, str> {
    secrets.iter().fold(message.into(), |message, (typed, shown)| match message.contains(typed) {
        true => message.replace(typed, shown).into(),
        false => message,
    })
}
