//! The first argument, if it is not a verb: a place to look at, or the word of another tool.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, Error as ClapError, ErrorKind};

/// Words of other tools, and what does the same here.
const WORDS: [(&[&str], &str); 12] = [
    (&["rechunk", "convert", "compress", "repack", "recompress"], "zarr copy SRC DST --chunks … --codecs …"),
    (&["get", "put", "download", "upload", "clone"], "zarr copy SRC DST"),
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

/// Options of other tools: the verb, the option, and what does the same here.
const OPTIONS: [(&str, &str, &str); 10] = [
    ("stats", "--axis", "--by DIMENSION has a row for each label, --mean DIMENSIONS -o NEW writes means"),
    ("write", "--append", "`zarr append` makes arrays longer"),
    ("tree", "--level", "-d N shows N levels"),
    ("ls", "-a", "all children are listed, and -R lists those below them"),
    ("ls", "-h", "sizes are always for people"),
    ("du", "-s", "-d 0 shows the sum only"),
    ("du", "-h", "sizes are always for people"),
    ("serve", "--port", "--listen 127.0.0.1:PORT"),
    ("cat", "-n", "-s :5 takes the first five"),
    ("copy", "-r", "everything in a group is copied"),
];

/// The formats of tables that not every build has.
const TABLES: [&str; 3] = ["arrow", "arrows", "parquet"];

/// Returns what the user may have meant by a word or an option of another tool, by a second place, or by a format that this
/// build lacks.
pub(crate) fn hint(args: &[OsString], e: &ClapError) -> Option<String> {
    if let (ErrorKind::InvalidValue, Some(ContextValue::String(given))) =
        (e.kind(), e.get(ContextKind::InvalidValue))
        && let Some(table) = TABLES.iter().find(|table| given == **table)
    {
        let feature = if *table == "parquet" { "parquet" } else { "arrow" };
        return Some(format!("this build has no tables of {table}: they need the cargo feature {feature:?}"));
    }
    if let Some(word) = unknown(e) {
        let lower = word.to_lowercase();
        // A letter of a long word may be wrong.
        let is = |known: &str| {
            lower == *known || known.len() > 5 && strsim::damerau_levenshtein(known, &lower) == 1
        };
        let (_, hint) = WORDS.iter().find(|(words, _)| words.iter().any(|known| is(known)))?;
        return Some(format!("{word:?} is not a verb; this does it: {hint}"));
    }
    let texts: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let verb = *texts.get(1)?;
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) =
        (e.kind(), e.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    if ["-v", "--verbose"].contains(&given.as_str()) {
        return Some(format!(
            "there is no {given}: `--trace -` prints each request, and --version the version"
        ));
    }
    if let Some((.., hint)) = OPTIONS.iter().find(|(of, option, _)| *of == verb && option == given) {
        return Some(format!("`{verb}` has no option {given}: {hint}"));
    }
    // A second word behind a place.
    let at = texts.iter().position(|text| text == given).filter(|at| *at > 2 && !given.starts_with('-'))?;
    let place = texts.get(at - 1).filter(|place| is_place(place) && !place.starts_with('-'))?;
    let rest: Vec<&str> =
        texts[at..].iter().copied().take_while(|text| text.parse::<i64>().is_ok()).collect();
    Some(match () {
        () if verb == "cat" && !rest.is_empty() => {
            format!("elements are selected with -s: `zarr cat {place} -s {}`", rest.join(","))
        }
        () if is_place(given) => format!("`{verb}` takes one store, and {given:?} is another one"),
        () => {
            format!("a node is named behind its store: `zarr {verb} {}/{given}`", place.trim_end_matches('/'))
        }
    })
}

/// Returns the word that is not a verb.
fn unknown(e: &ClapError) -> Option<&str> {
    match (e.kind(), e.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => Some(word),
        _ => None,
    }
}

/// Whether a word names a place: something that exists, a path, a URL, or a name as stores have it.
pub(crate) fn is_place(word: &str) -> bool {
    const ENDINGS: [&str; 3] = [".zarr", ".zip", ".json"];
    word.contains(['/', '\\', '|'])
        || ENDINGS.iter().any(|ending| word.ends_with(ending))
        || Path::new(word).exists()
}
