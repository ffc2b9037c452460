//! The first argument, if it is not a verb: a place to look at, or the word of another tool.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, Error as ClapError, ErrorKind};

/// Words of other tools, and what does the same here.
const WORDS: [(&[&str], &str); 12] = [
    (&["rechunk", "convert", "compress", "repack", "recompress"], "zarr copy SRC DST --chunks … --codecs …"),
    (&["cp", "get", "put", "download", "upload", "clone"], "zarr copy SRC DST"),
    (&["rename"], "zarr mv STORE/PATH STORE/NEW"),
    (&["head"], "zarr cat STORE/PATH -s :5"),
    (&["mean", "min", "max", "sum", "std", "describe", "summarize", "summary"], "zarr stats STORE/PATH"),
    (&["plot", "show", "open", "display"], "zarr view STORE, or zarr info STORE"),
    (&["dump", "ncdump", "header"], "zarr info --cdl STORE"),
    (&["check", "verify", "lint"], "zarr validate STORE; zarr checksum --verify FILE STORE"),
    (&["find", "grep", "search"], "zarr tree STORE"),
    (&["delete", "remove", "del", "erase"], "zarr rm STORE/PATH"),
    (&["size", "space"], "zarr du STORE"),
    (&["version"], "zarr --version"),
];

/// Returns the arguments with `info` in front of the first one, if that is the name of a place and not of a verb.
pub(crate) fn with_info(args: &[OsString], e: &ClapError) -> Option<Vec<OsString>> {
    let word = unknown(e)?;
    let at = args.iter().skip(1).position(|arg| arg.to_str() == Some(word))? + 1;
    is_place(word).then(|| {
        let mut args = args.to_vec();
        args.insert(at, "info".into());
        args
    })
}

/// Returns what does the same as the word of another tool.
pub(crate) fn hint(e: &ClapError) -> Option<String> {
    let word = unknown(e)?;
    let lower = word.to_lowercase();
    let (_, hint) = WORDS.iter().find(|(words, _)| words.contains(&lower.as_str()))?;
    Some(format!("{word:?} is not a verb; this does it: {hint}"))
}

/// Returns the word that is not a verb.
fn unknown(e: &ClapError) -> Option<&str> {
    match (e.kind(), e.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => Some(word),
        _ => None,
    }
}

/// Whether a word names a place: something that exists, a path, a URL, or a name as stores have it.
fn is_place(word: &str) -> bool {
    const ENDINGS: [&str; 3] = [".zarr", ".zip", ".json"];
    word.contains(['/', '\\', '|'])
        || ENDINGS.iter().any(|ending| word.ends_with(ending))
        || Path::new(word).exists()
}
