//! A public type name belongs to one crate: a program that uses several crates needs no paths to tell two types apart.
//!
//! The names of a crate are the structs, enums, traits, unions and type aliases that are reachable from its root by public
//! modules and by `pub use` of its own items. A `pub use` of another crate's item declares nothing. Twins within a crate, such
//! as the blocking handles, may have one name.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::circles::{Code, Module, STEPS, crates, defined};
use super::source::{Source, Token};
use crate::workspace::Workspace;

/// The words that declare a type.
const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// Checks the crates that are published.
pub(super) fn check(workspace: &Workspace, sources: &[Source]) -> Vec<Finding> {
    let published: BTreeSet<_> = workspace.published().map(|p| format!("crates/{}/src", p.name)).collect();
    let crates = crates(sources).into_iter().filter(|(folder, _)| published.contains(*folder));
    let exported: Vec<_> = crates.map(|(_, modules)| exported(&modules)).collect();
    judged(&exported)
}

/// Compares the names of crates, each with its place.
fn judged(crates: &[BTreeMap<String, String>]) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, place) in crates.iter().flatten() {
        places.entry(name).or_default().push(place);
    }
    let several = places.into_iter().filter(|(_, places)| places.len() > 1);
    let finding = |(name, places): (&str, Vec<&str>)| {
        let message = format!("`{name}` is also a type in {}: rename all but one", places[1..].join(", "));
        Finding::error(places[0], "names", message)
    };
    several.map(finding).collect()
}

/// Returns the public type names of a crate, each with the place that declares it or makes it public.
pub(super) fn exported(modules: &BTreeMap<Module, Code<'_>>) -> BTreeMap<String, String> {
    let (mut names, mut seen, mut next) = (BTreeMap::new(), BTreeSet::new(), vec![Module::new()]);
    while let Some(module) = next.pop() {
        let Some(code) = modules.get(&module).filter(|_| seen.insert(module.clone())) else { continue };
        for source in &code.sources {
            for (at, kind, name) in declared(source) {
                if kind == "mod" {
                    next.push([&module[..], &[name.to_owned()]].concat());
                } else if KINDS.contains(&kind) {
                    names.insert(name.to_owned(), source.at(source.tokens[at].line));
                }
            }
            for used in source.uses().iter().filter(|used| used.public && !source.is_test(used.line)) {
                let path: Vec<&str> = used.path.split("::").collect();
                let Some(from) = defined(modules, &module, &path, STEPS) else { continue };
                if is_type(used.name()) {
                    names.insert(used.name().to_owned(), source.at(used.line));
                } else if used.name() == "*" || from.last().is_some_and(|last| path.ends_with(&[last])) {
                    next.push(from);
                }
            }
        }
    }
    names
}

/// Returns each `pub` declaration: the index of the token of its word, the word and the name.
pub(super) fn declared(source: &Source) -> impl Iterator<Item = (usize, &str, &str)> {
    let public = source.tokens.windows(4).enumerate();
    let public = public.filter(|(_, w)| w[0].text == "pub" && !source.is_test(w[0].line));
    public.filter_map(|(at, w)| match w {
        [_, Token { text, .. }, kind, name] if text == "unsafe" => Some((at + 2, &*kind.text, &*name.text)),
        [_, kind, name, _] if name.text.starts_with(char::is_alphabetic) => {
            Some((at + 1, &*kind.text, &*name.text))
        }
        _ => None,
    })
}

/// Types are written like `ChunkGrid`, constants like `MAX`, functions and modules like `chunk`.
fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && (name.len() == 1 || name.contains(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(file, text): &(&str, &str)| Source::new(format!("crates/x/src/{file}.rs"), text);
        let sources: Vec<_> = files.iter().map(source).collect();
        crates(&sources).values().flat_map(exported).map(|(name, _)| name).collect()
    }

    #[test]
    fn public_names_of_a_crate_are_found() {
        let a = ("a", "pub struct A; pub(crate) struct B; struct C; pub fn f() {} pub const MAX: u8 = 0;");
        for (what, files, expected) in [
            (
                "root",
                vec![("lib", "pub enum E {} pub unsafe trait T {} pub type U = u8; union V {}")],
                "E T U",
            ),
            ("public module", vec![("lib", "pub mod a;"), a], "A"),
            ("private module", vec![("lib", "mod a; pub(crate) mod b;"), a, ("b", "pub struct B;")], ""),
            (
                "module of a module",
                vec![("lib", "pub mod a;"), ("a", "pub mod b;"), ("a/b", "pub struct B;")],
                "B",
            ),
            ("use", vec![("lib", "mod a; pub use a::{A, MAX, f};"), a], "A"),
            ("use by another name", vec![("lib", "mod a; pub use a::A as Other;"), a], "Other"),
            ("use of all", vec![("lib", "mod a; pub use a::*;"), a], "A"),
            (
                "use of a module",
                vec![("lib", "mod b; pub use b::a;"), ("b", "pub mod a;"), ("b/a", a.1)],
                "A",
            ),
            ("use for the crate", vec![("lib", "mod a; use a::A; pub(crate) use a::A as B;"), a], ""),
            ("another crate", vec![("lib", "pub use y::{A, b::*}; mod a;"), a], ""),
            ("another crate, by a module", vec![("lib", "mod a; pub use a::Y;"), ("a", "pub use y::Y;")], ""),
            ("tests", vec![("lib", "#[cfg(test)]\npub struct A;\n")], ""),
            ("macros", vec![("lib", "macro_rules! m { ($t:ident) => { pub struct $t; } }")], ""),
        ] {
            assert_eq!(names(&files).join(" "), expected, "{what}");
        }
    }

    #[test]
    fn a_type_name_belongs_to_one_crate() {
        let names = |names: &[(&str, &str)]| {
            names.iter().map(|&(name, place)| (name.to_owned(), place.to_owned())).collect()
        };
        let crates = [names(&[("A", "x:1"), ("B", "x:2")]), names(&[("A", "y:1"), ("C", "y:2")])];
        let message = "`A` is also a type in y:1: rename all but one";
        assert_eq!(judged(&crates), [Finding::error("x:1", "names", message)]);
        assert_eq!(judged(&crates[..1]), []);
    }
}
