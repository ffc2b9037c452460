//! The name under which the command was started: `zarr`, or `zarr-rs` in the package for Python.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

/// The name in the sources: messages and the help say `zarr copy`.
const USUAL: &str = "zarr";

static NAME: OnceLock<String> = OnceLock::new();

/// Takes the name from the first argument of the process. A name that a shell would not take as one word is left out.
pub(crate) fn set(first: &OsStr) {
    let stem = Path::new(first).file_stem().and_then(OsStr::to_str);
    let plain = |stem: &&str| stem.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if let Some(stem) = stem.filter(plain) {
        // Only the first call counts.
        let _ = NAME.set(stem.to_owned());
    }
}

/// Returns the name.
pub(crate) fn get() -> &'static str {
    NAME.get().map_or(USUAL, String::as_str)
}

/// Returns a text of the sources with the name in its commands, which stand in backquotes or alone in an indented line.
pub(crate) fn in_text(text: &str) -> Cow<'_, str> {
    renamed(text, get())
}

fn renamed<'t>(text: &'t str, name: &str) -> Cow<'t, str> {
    if name == USUAL {
        return text.into();
    }
    ["`", "\n  "]
        .iter()
        .fold(text.to_owned(), |text, before| {
            text.replace(&format!("{before}{USUAL} "), &format!("{before}{name} "))
        })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_name_of_the_process_and_other_words_stay() {
        let text = "`zarr rm` erases\nExamples:\n  zarr ls a.zarr\nof a zarr store";
        let other = "`zarr-rs rm` erases\nExamples:\n  zarr-rs ls a.zarr\nof a zarr store";
        assert_eq!(renamed(text, "zarr-rs"), other);
        assert_eq!(renamed(text, USUAL), text);
    }
}
