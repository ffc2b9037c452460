//! The search of rustdoc finds the words of other implementations: each is part of a public name or an alias
//! (`#[doc(alias = "…")]`) of one.

use std::collections::BTreeSet;

use super::Finding;
use super::source::{Source, Token};
use crate::workspace::Workspace;

/// Words that users of zarrs, zarr-python, TensorStore and of files of other formats look for.
const WORDS: [&str; 36] = [
    "append",
    "attrs",
    "cache_pool",
    "compress",
    "concurrency",
    "consolidate_metadata",
    "convert",
    "credentials",
    "delete",
    "fill_value",
    "kvstore",
    "members",
    "nchunks_initialized",
    "nodata",
    "oindex",
    "open_dataset",
    "open_group",
    "open_url",
    "order",
    "parallel",
    "partial_decode",
    "prefetch",
    "rechunk",
    "record_batch",
    "rename",
    "resize",
    "retrieve",
    "retry",
    "slice",
    "store_chunk",
    "stream",
    "subchunk",
    "subset",
    "tree",
    "upgrade",
    "vindex",
];

/// Words before the name of a public item.
const KEYWORDS: [&str; 13] = [
    "async", "const", "enum", "extern", "fn", "macro", "mod", "static", "struct", "trait", "type", "union",
    "unsafe",
];

/// Checks the crates that are published.
pub(super) fn check(workspace: &Workspace, sources: &[Source]) -> Vec<Finding> {
    let published: BTreeSet<_> = workspace.published().map(|p| p.name.as_str()).collect();
    let published =
        |source: &&Source| source.path.starts_with("crates/") && published.contains(source.crate_name());
    missing(&WORDS, sources.iter().filter(published))
        .into_iter()
        .map(|word| {
            let message = format!(
                "no public name contains \"{word}\", and none has it as `#[doc(alias = \"{word}\")]`: a search in the \
                 documentation finds nothing"
            );
            Finding::error("crates", "words", message)
        })
        .collect()
}

/// Returns the words that are in no public name and in no alias of `sources`.
fn missing<'a>(words: &[&'a str], sources: impl Iterator<Item = &'a Source>) -> Vec<&'a str> {
    let found: BTreeSet<String> = sources.flat_map(names).collect();
    words.iter().copied().filter(|word| !found.iter().any(|name| name.contains(word))).collect()
}

/// Returns the names of public items and their aliases, in lower case.
fn names(source: &Source) -> impl Iterator<Item = String> {
    let tokens: Vec<&Token> = source.tokens.iter().filter(|token| !source.is_test(token.line)).collect();
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let word = |ahead: usize| tokens.get(at + ahead).map_or("", |token| token.text.as_str());
        if word(0) == "pub" {
            // `pub(crate)` is not public, so the token behind `pub` is a bracket.
            let name = (1..).map(word).find(|word| !KEYWORDS.contains(word));
            found.extend(name.filter(|name| name.starts_with(char::is_alphabetic)).map(str::to_lowercase));
        } else if [word(0), word(1), word(2)] == ["doc", "(", "alias"] {
            let inside = (3..).map(word).take_while(|word| !["", "]"].contains(word));
            found.extend(
                inside.filter_map(|word| Some(word.strip_prefix('"')?.trim_matches('"').to_lowercase())),
            );
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_public_names_and_aliases() {
        let text = "#[doc(alias = \"retrieve\")]\npub async fn read() {}\n#[doc(alias(\"oindex\", \"vindex\"))]\n\
                    pub struct Selection;\npub(crate) fn subset() {}\nfn rename() {}\n// upgrade\n\
                    #[cfg(test)]\npub fn stream() {}\n";
        let source = Source::new("crates/x/src/lib.rs".to_owned(), text);
        let words =
            ["retrieve", "read", "oindex", "vindex", "select", "subset", "rename", "upgrade", "stream"];
        assert_eq!(missing(&words, [&source].into_iter()), ["subset", "rename", "upgrade", "stream"]);
    }
}
