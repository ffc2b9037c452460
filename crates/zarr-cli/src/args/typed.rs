//! The paths and other arguments that the user typed: secrets in them, and links in paths of a confined store.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use clap::ArgMatches;
use zarr_store::{redacted, scheme_of, split_adapters};

use crate::args::around::{absolute, is_node};
use crate::args::stores::{directory_of, shown};
use crate::exit::{Exit, Failure};
use crate::secrets;

/// Remembers the secrets in the arguments of the process.
pub(crate) fn remember(args: &[OsString]) {
    let secrets = args.iter().filter_map(|arg| arg.to_str()).flat_map(values).filter_map(secret);
    secrets::hide(secrets.flatten().collect());
}

/// Returns the values that an argument may have: itself, or what comes after the name of an option, as in `--name=value`
/// and `-nvalue`.
fn values(arg: &str) -> impl Iterator<Item = &str> {
    let named = arg.strip_prefix('-');
    let short = named.and_then(|rest| rest.char_indices().nth(1)).map(|(at, _)| &arg[1 + at..]);
    let long = named.and_then(|rest| rest.split_once('=')).map(|(_, value)| value);
    named.map_or(Some(arg), |_| None).into_iter().chain(short).chain(long)
}

/// Returns a text with a secret as it is typed and as messages quote it, each with the text that is shown instead.
fn secret(typed: &str) -> Option<[(String, String); 2]> {
    let shown = if is_mistyped(typed) { redacted(typed) } else { shown(typed).to_str()?.to_owned() };
    let quoted = format!("{typed:?}");
    let quoted = quoted.trim_matches('"').to_owned();
    (shown != typed).then(|| [(typed.to_owned(), shown.clone()), (quoted, shown)])
}

/// Whether a text is a URL with a password whose `scheme://` is mistyped or missing. Names that exist, or begin like a
/// path, are names of files.
fn is_mistyped(text: &str) -> bool {
    let has_password = text.rsplit_once('@').is_some_and(|(credentials, _)| credentials.contains(':'));
    let is_path = ["./", "../"].iter().any(|start| text.starts_with(start))
        || text.starts_with('/') && !text.starts_with("//");
    scheme_of(text).is_none() && has_password && !is_path && fs::symlink_metadata(text).is_err()
}

/// Returns the paths and URLs that were typed, of the command and of its verb.
pub(crate) fn paths(matches: &ArgMatches) -> Vec<PathBuf> {
    let own = matches.ids().filter_map(|id| matches.try_get_many::<PathBuf>(id.as_str()).ok().flatten());
    let own = own.flatten().cloned();
    let below = matches.subcommand().map(|(_, matches)| paths(matches));
    own.chain(below.into_iter().flatten()).collect()
}

/// Refuses mistyped URLs with a password. Otherwise they would be taken for paths, and parts of them be shown or created.
pub(crate) fn check(paths: &[PathBuf]) -> Result<(), Failure> {
    let mistyped = paths.iter().filter_map(|path| path.to_str()).find(|text| is_mistyped(text));
    mistyped.map_or(Ok(()), |text| {
        Err(Failure::usage(format!(
            "{:?}: a URL begins with \"scheme://\"; put \"./\" in front of the name of a file",
            redacted(text)
        )))
    })
}

/// Refuses paths that leave the store around them through a link: the store is the topmost directory in the path that is
/// a node. Links below the node that the path names are checked when they are followed.
pub(crate) fn check_confined(paths: &[PathBuf]) -> Result<(), Failure> {
    let roots = paths.iter().filter_map(|path| match path.to_str() {
        Some(text) => directory_of(split_adapters(text).0),
        None => Some(path.clone()),
    });
    for path in roots.flat_map(|path| passed(&path)) {
        let Ok(path) = absolute(&path) else { continue };
        let Some(store) = path.ancestors().filter(|above| is_node(above)).last() else { continue };
        if leaves(store, &path) {
            let message = format!("store {store:?}: path {path:?}: a link leads out of the root");
            return Err(Failure::new(Exit::PermissionDenied, message));
        }
    }
    Ok(())
}

/// Returns a path, and those that it passes before each `..`.
fn passed(path: &Path) -> Vec<PathBuf> {
    let components: Vec<Component<'_>> = path.components().collect();
    let is_end = |end: &usize| components.get(*end).is_none_or(|next| *next == Component::ParentDir);
    (0..=components.len()).filter(is_end).map(|end| components[..end].iter().collect()).collect()
}

/// Whether the existing part of a path below `store` is outside of it.
fn leaves(store: &Path, path: &Path) -> bool {
    let there = path.ancestors().find(|above| fs::symlink_metadata(above).is_ok()).unwrap_or(store);
    match (fs::canonicalize(store), fs::canonicalize(there)) {
        (Ok(store), Ok(there)) => !there.starts_with(store),
        // A link without a target may get one outside.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::hidden;

    #[test]
    fn typed_secrets_are_hidden_in_messages() {
        let hide = |arg: &str, message: &str| {
            let secrets: Vec<_> = values(arg).filter_map(secret).flatten().collect();
            hidden(message, &secrets).into_owned()
        };
        for (arg, message, wanted) in [
            ("s3://u:secret@b/x", "no \"s3://u:secret@b/x\"", "no \"s3://b/x\""),
            ("https//u:secret@h/x", "no \"https//u:secret@h/x\"", "no \"…@h/x\""),
            ("u:secret@h", "unexpected 'u:secret@h'", "unexpected 'h'"),
            ("--endpoint=http://u:secret@h", "--endpoint \"http://u:secret@h\"", "--endpoint \"http://h\""),
            ("-ohttp://u:secret@h", "cannot create \"http://u:secret@h\"", "cannot create \"http://h\""),
            ("u:se\\cret@h", "no \"u:se\\\\cret@h\"", "no \"h\""),
            ("https://h/x?sig=secret", "'https://h/x?sig=secret'", "'https://h/x?…'"),
            // Names of files.
            ("./u:name@h", "no \"./u:name@h\"", "no \"./u:name@h\""),
            ("/u:name@h", "no \"/u:name@h\"", "no \"/u:name@h\""),
            ("what?", "no \"what?\"", "no \"what?\""),
        ] {
            assert_eq!(hide(arg, message), wanted, "{arg}");
        }
    }
}
