//! A public struct or enum can grow without a break: it is `#[non_exhaustive]`, or has a private field.
//!
//! The types are those that [`names`] finds from the root of a crate. A struct with public fields only can be written as a
//! literal and matched without `..`, so a further field breaks a program; a further variant breaks a `match`. [`ALLOWED`] has the types
//! that cannot grow, each with the reason.
//!
//! [`names`]: super::names

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::circles::crates;
use super::names::{declared, exported};
use super::source::{Source, Token, closing, text};
use crate::workspace::Workspace;

/// The types that may be exhaustive: the crate, the name and the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("zarr-array", "SmallFloat", "a wrapper of a number"),
    ("zarr-blosc", "Compressor", "the frames of C-Blosc 1 have these"),
    ("zarr-blosc", "Shuffle", "the frames of C-Blosc 1 have these"),
    ("zarr-copy", "Size", "a wrapper of a number"),
    ("zarr-hierarchy", "NodeKind", "the specification has two kinds of nodes"),
    ("zarr-json", "TextPosition", "a line, a column and a byte"),
    ("zarr-json", "ValueKind", "JSON has these"),
    ("zarr-meta", "NodeMeta", "the specification has two kinds of nodes"),
    ("zarr-number", "NumberType", "the core specification has these"),
    ("zarr-number", "Real", "every number is one of these"),
    ("zarr-number", "Rounding", "IEEE 754 has these"),
    ("zarr-strided", "PlainPod", "a transparent wrapper of a type"),
    ("zarr-traits", "ByteRange", "HTTP has these: all, from an offset, a suffix"),
    ("zarr-traits", "Codec", "decision 0012: code that matches on the kind must fail to compile"),
    ("zarr-traits", "CodecKind", "decision 0012: code that matches on the kind must fail to compile"),
    ("zarr-traits", "Span", "an offset and a length"),
    ("zarr-xarray", "Date", "a year, a month and a day"),
    ("zarr-xarray", "DateTime", "a date and a time of day"),
    ("zarr-xarray", "Picked", "a list has any positions"),
    ("zarr-xarray", "TimeUnit", "pandas and xarray have these"),
];

/// Checks the crates that are published.
pub(super) fn check(workspace: &Workspace, sources: &[Source]) -> Vec<Finding> {
    let published: BTreeSet<_> = workspace.published().map(|p| format!("crates/{}/src", p.name)).collect();
    let crates = crates(sources).into_iter().filter(|(folder, _)| published.contains(*folder));
    let mut found = BTreeMap::new();
    for (_, modules) in crates {
        let names = exported(&modules);
        for source in modules.values().flat_map(|code| &code.sources) {
            let types = exhaustive(source).filter(|(_, name)| names.contains_key(*name));
            let keyed = types.map(|(line, name)| ((source.crate_name(), name), source.at(line)));
            found.extend(keyed);
        }
    }
    judged(ALLOWED, &found)
}

/// Compares the types with those that are allowed.
fn judged(allowed: &[(&str, &str, &str)], found: &BTreeMap<(&str, &str), String>) -> Vec<Finding> {
    let is_allowed = |of: &(&str, &str)| allowed.iter().any(|(krate, name, _)| (*krate, *name) == *of);
    let grown = found.iter().filter(|(of, _)| !is_allowed(of)).map(|((_, name), place)| {
        let message = format!(
            "`{name}` cannot grow without a break: make it `#[non_exhaustive]` and give it a constructor, or name it in ALLOWED of \
             xtask/src/tidy/exhaustive.rs with the reason"
        );
        Finding::error(place, "exhaustive", message)
    });
    let stale = allowed.iter().filter(|(krate, name, _)| !found.contains_key(&(*krate, *name)));
    let stale = stale.map(|(krate, name, _)| {
        let message = format!("`{name}` is no exhaustive type: delete its line in ALLOWED");
        Finding::error(format!("crates/{krate}"), "exhaustive", message)
    });
    grown.chain(stale).collect()
}

/// Returns the line and the name of each public struct and enum that cannot grow, outside of tests.
fn exhaustive(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let tokens = &source.tokens;
    declared(source).filter_map(move |(at, kind, name)| {
        let is_closed = match kind {
            "enum" => true,
            "struct" => has_public_fields_only(tokens, at + 2),
            _ => false,
        };
        (is_closed && !is_marked(tokens, at)).then_some((tokens[at].line, name))
    })
}

/// Tells whether the struct whose name is before `at` has fields and all are public.
fn has_public_fields_only(tokens: &[Token], mut at: usize) -> bool {
    // Parameters and bounds may have parentheses, as in `F: Fn(u8)`.
    let mut depth = 0;
    while !(depth == 0 && ["{", "(", ";", ""].contains(&text(tokens, at))) {
        match text(tokens, at) {
            "<" => depth += 1,
            ">" if text(tokens, at - 1) != "-" => depth -= 1,
            "where" => {
                at += tokens.iter().skip(at).position(|t| ["{", ";"].contains(&&*t.text)).unwrap_or(0);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if !["{", "("].contains(&text(tokens, at)) {
        return false;
    }
    let end = closing(tokens, at);
    let mut fields = Vec::new();
    let (mut begins, mut depth) = (true, 0);
    at += 1;
    while at < end {
        match text(tokens, at) {
            "#" => {
                at = closing(tokens, at + 1) + 1;
                continue;
            }
            word if begins => {
                fields.push(word == "pub" && text(tokens, at + 1) != "(");
                begins = false;
            }
            "," if depth == 0 => begins = true,
            "<" => depth += 1,
            ">" if text(tokens, at - 1) != "-" => depth -= 1,
            _ => {}
        }
        at = if ["(", "[", "{"].contains(&text(tokens, at)) { closing(tokens, at) + 1 } else { at + 1 };
    }
    !fields.is_empty() && !fields.contains(&false)
}

/// Tells whether `#[non_exhaustive]` stands before the declaration whose word `struct` or `enum` is at `at`.
fn is_marked(tokens: &[Token], at: usize) -> bool {
    let mut end = at - 1;
    while end > 0 && text(tokens, end - 1) == "]" {
        let open = (0..end).rev().find(|&open| text(tokens, open) == "[" && closing(tokens, open) == end - 1);
        let Some(open) = open.filter(|&open| open > 0) else { return false };
        if text(tokens, open + 1) == "non_exhaustive" {
            return true;
        }
        end = open - 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_cannot_grow_are_found() {
        for (text, expected) in [
            ("pub enum E { A }", "E"),
            ("#[non_exhaustive]\npub enum E { A }", ""),
            ("#[derive(Clone)] #[non_exhaustive] #[must_use]\npub enum E { A }", ""),
            ("#[non_exhaustive] pub struct A { pub x: u8 } pub enum E { B }", "E"),
            ("enum E { A } pub(crate) enum F { A }", ""),
            ("pub struct S { pub a: u8, #[serde(default)] pub b: Vec<(u8, u8)>, }", "S"),
            ("pub struct S { pub a: BTreeMap<u8, u8>, b: u8 }", ""),
            ("pub struct S { pub a: fn(u8) -> Option<u8>, b: u8 }", ""),
            ("pub struct S { pub a: u8, pub(crate) b: u8 }", ""),
            ("pub struct S(pub u8, pub [u8; 2]);", "S"),
            ("pub struct S(u8);", ""),
            ("pub struct S<F: Fn(u8) -> u8>(pub F);", "S"),
            ("pub struct S<F> where F: Fn(u8) { pub f: F }", "S"),
            ("pub struct S; pub struct T {}", ""),
            ("#[cfg(test)]\npub enum E { A }\n", ""),
        ] {
            let source = Source::new("crates/x/src/lib.rs".to_owned(), text);
            let names: Vec<_> = exhaustive(&source).map(|(_, name)| name).collect();
            assert_eq!(names.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_type_that_is_not_allowed_and_a_stale_line_are_findings() {
        let found = BTreeMap::from([(("x", "A"), "x:1".to_owned()), (("x", "B"), "x:2".to_owned())]);
        let places = |allowed| -> Vec<_> { judged(allowed, &found).into_iter().map(|f| f.place).collect() };
        assert_eq!(places(&[("x", "A", "reason"), ("x", "B", "reason")]), [""; 0]);
        assert_eq!(places(&[("x", "A", "reason")]), ["x:2"]);
        assert_eq!(places(&[("x", "A", ""), ("x", "B", ""), ("y", "A", "")]), ["crates/y"]);
    }
}
