//! Files import downwards only: in each folder of a crate, no file reaches itself through what it imports.
//!
//! An entry of a folder is a file together with the folder of its children. An arrow leads from an entry to each other
//! entry of the same folder in which a name that it uses is defined. A name that comes through a `pub use` is followed to its
//! definition. Arrows between a module and its parents or children do not count, because a child may use the types of its
//! parent; code of tests does not count either.
//!
//! `xtask/circles.txt` has the circles that are left, a line each: the folder, then the entries. They only become fewer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;
use super::source::{Source, Use};

/// The circles that are allowed.
const ALLOWED: &str = "xtask/circles.txt";

/// How often a name is followed from one `use` to the next.
pub(super) const STEPS: usize = 12;

/// The path of a module in its crate. The root has none.
pub(super) type Module = Vec<String>;

/// The entries of a folder that reach each other.
type Circle = BTreeSet<String>;

/// Checks the sources of all crates.
pub(super) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let text = std::fs::read_to_string(root.join(ALLOWED)).with_context(|| ALLOWED.to_owned())?;
    Ok(judged(&text, &circles(sources)))
}

/// Compares circles with those that are allowed.
fn judged(allowed: &str, circles: &[(String, Circle)]) -> Vec<Finding> {
    let allowed: Vec<(&str, Circle)> = allowed.lines().map(line).collect();
    let mut findings = Vec::new();
    for (folder, circle) in circles {
        if !allowed.iter().any(|(of, names)| of == folder && circle.is_subset(names)) {
            let names: Vec<_> = circle.iter().map(String::as_str).collect();
            let message = format!(
                "{} import each other: move what they share into a file below them",
                names.join(", ")
            );
            findings.push(Finding::error(folder, "circles", message));
        }
    }
    for (number, (folder, names)) in (1..).zip(&allowed) {
        if !circles.iter().any(|(of, circle)| of == folder && circle == names) {
            let message = "this circle has become smaller or is gone: shorten the line or delete it";
            findings.push(Finding::error(format!("{ALLOWED}:{number}"), "circles", message));
        }
    }
    findings
}

/// Reads a line: `crates/zarr-meta/src/v3: array group`.
fn line(line: &str) -> (&str, Circle) {
    let (folder, names) = line.split_once(':').unwrap_or((line, ""));
    (folder, names.split_whitespace().map(str::to_owned).collect())
}

/// Returns the modules of all crates, by the folder of their sources.
pub(super) fn crates(sources: &[Source]) -> BTreeMap<&str, BTreeMap<Module, Code<'_>>> {
    let mut crates: BTreeMap<&str, BTreeMap<Module, Code<'_>>> = BTreeMap::new();
    for source in sources {
        if let Some((root, file)) = source.path.split_once("/src/") {
            let modules = crates.entry(&source.path[..root.len() + "/src".len()]).or_default();
            modules.entry(module(file)).or_default().add(source);
        }
    }
    crates
}

/// Returns the circles of all folders.
fn circles(sources: &[Source]) -> Vec<(String, Circle)> {
    let mut found = Vec::new();
    for (root, modules) in crates(sources) {
        let mut folders: BTreeMap<Module, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
        let arrows = modules.iter().flat_map(|(from, code)| arrows(&modules, from, code));
        let arrows: Vec<_> = arrows.collect();
        for (from, to) in &arrows {
            let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                let folder = folders.entry(from[..common].to_vec()).or_default();
                folder.entry(a).or_default().insert(b);
            }
        }
        for (folder, graph) in folders {
            let place =
                [root].into_iter().chain(folder.iter().map(String::as_str)).collect::<Vec<_>>().join("/");
            found.extend(knots(&graph).into_iter().map(|circle| (place.clone(), circle)));
        }
    }
    found
}

/// Returns the module of a file below `src`.
fn module(file: &str) -> Module {
    let mut path: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = path.len() == 1 && ["lib", "main"].contains(&&*path[0]);
    if is_root || path.last().is_some_and(|name| name == "mod") {
        path.pop();
    }
    path
}

/// The files of a module, and what they use.
#[derive(Debug, Default)]
pub(super) struct Code<'a> {
    pub(super) sources: Vec<&'a Source>,
    uses: Vec<Use>,
    paths: Vec<Vec<&'a str>>,
}

impl<'a> Code<'a> {
    fn add(&mut self, source: &'a Source) {
        self.sources.push(source);
        self.uses.extend(source.uses().into_iter().filter(|used| !source.is_test(used.line)));
        let paths = source.paths().into_iter().filter(|(line, _)| !source.is_test(*line));
        self.paths.extend(paths.map(|(_, path)| path));
    }
}

/// Returns the arrows from a module to those that define what its code uses.
fn arrows<'m>(
    modules: &'m BTreeMap<Module, Code<'_>>,
    from: &'m Module,
    code: &'m Code<'_>,
) -> impl Iterator<Item = (&'m Module, Module)> {
    let uses = code.uses.iter().map(|used| used.path.split("::").collect::<Vec<_>>());
    let paths = uses.chain(code.paths.iter().cloned());
    paths.filter_map(move |path| Some((from, defined(modules, from, &path, STEPS)?)))
}

/// Returns the module that defines what a path means in `from`; `None` for another crate or a name of the file itself.
pub(super) fn defined(
    modules: &BTreeMap<Module, Code<'_>>,
    from: &Module,
    path: &[&str],
    steps: usize,
) -> Option<Module> {
    let (&first, rest) = path.split_first()?;
    let (mut at, mut rest) = match first {
        "crate" => (Module::new(), rest),
        "self" => (from.clone(), rest),
        "super" => (from.clone(), path),
        _ if modules.contains_key(&[&from[..], &[first.to_owned()]].concat()) => (from.clone(), path),
        _ => return None,
    };
    while let Some((&name, after)) = rest.split_first() {
        if name == "super" {
            at.pop()?;
        } else {
            let child = [&at[..], &[name.to_owned()]].concat();
            if !modules.contains_key(&child) {
                break;
            }
            at = child;
        }
        rest = after;
    }
    let Some(name) = rest.first() else { return Some(at) };
    // What a file passes on to itself is an arrow of its own.
    let code = modules.get(&at).filter(|_| at != *from && steps > 0);
    let passes_on = |used: &&Use| used.name() == *name && used.path != *name;
    match code.and_then(|code| code.uses.iter().find(passes_on)) {
        Some(used) => defined(modules, &at, &used.path.split("::").collect::<Vec<_>>(), steps - 1),
        None => Some(at),
    }
}

/// Returns the sets of two or more entries that reach each other.
fn knots(graph: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Circle> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|&from| (from, reach(graph, from))).collect();
    let both = |a: &str, b: &str| {
        let leads = |a: &str, b: &str| reached.get(a).is_some_and(|to| to.contains(b));
        leads(a, b) && leads(b, a)
    };
    let mut found: Vec<Circle> = Vec::new();
    for (&from, to) in &reached {
        let circle: Circle = to.iter().filter(|to| both(from, to)).map(|&name| name.to_owned()).collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

/// Returns what an entry reaches. It reaches itself only through another one.
fn reach<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph.get(from).into_iter().flatten().copied().collect();
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(graph.get(name).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(file, text): &(&str, &str)| Source::new(format!("crates/x/src/{file}.rs"), text);
        let sources: Vec<_> = files.iter().map(source).collect();
        let shown = |(folder, circle): (String, Circle)| {
            format!("{folder}: {}", circle.into_iter().collect::<Vec<_>>().join(" "))
        };
        circles(&sources).into_iter().map(shown).collect()
    }

    #[test]
    fn finds_files_that_import_each_other() {
        let lib = ("lib", "mod a; mod b; mod c; pub use a::A; pub use c::{C as D};");
        for (what, files, circle) in [
            ("downwards", vec![lib, ("a", "use crate::b::B;"), ("b", "")], None),
            ("both ways", vec![lib, ("a", "use crate::b::B;"), ("b", "use super::a::A;")], Some(": a b")),
            (
                "by paths",
                vec![lib, ("a", "fn f() { crate::b::g() }"), ("b", "type B = super::a::A;")],
                Some(": a b"),
            ),
            ("through the root", vec![lib, ("a", "use crate::b::B;"), ("b", "use crate::A;")], Some(": a b")),
            (
                "by another name",
                vec![lib, ("a", "use crate::D;"), ("b", ""), ("c", "use crate::a;")],
                Some(": a c"),
            ),
            (
                "of three",
                vec![lib, ("a", "use crate::b::B;"), ("b", "use crate::c::*;"), ("c", "use crate::A;")],
                Some(": a b c"),
            ),
            (
                "in a folder",
                vec![lib, ("a", ""), ("a/d", "use super::e::E;"), ("a/e", "use super::d::D;")],
                Some("/a: d e"),
            ),
            (
                "of folders",
                vec![lib, ("a/mod", ""), ("a/d", "use crate::b::B;"), ("b", "use crate::a::d::D;")],
                Some(": a b"),
            ),
            (
                "child and parent",
                vec![lib, ("a", "use self::d::D; fn f() { d::g() }"), ("a/d", "use super::A;")],
                None,
            ),
            (
                "tests",
                vec![lib, ("a", "use crate::b::B;"), ("b", "#[cfg(test)]\nmod tests { use crate::A; }")],
                None,
            ),
            ("another crate", vec![lib, ("a", "use crate::b::B;"), ("b", "use a::A; use ::a::A;")], None),
        ] {
            let expected: Vec<_> = circle.map(|circle| format!("crates/x/src{circle}")).into_iter().collect();
            assert_eq!(found(&files), expected, "{what}");
        }
    }

    #[test]
    fn circles_only_become_fewer() {
        let circle = |names: &str| vec![("x".to_owned(), line(&format!("x: {names}")).1)];
        for (allowed, circles, errors) in [
            ("x: a b\n", circle("a b"), 0),
            ("x: a b c\n", circle("a b"), 1),
            ("x: a b\n", circle("a b c"), 2),
            ("x: a b\n", vec![], 1),
            ("", circle("a b"), 1),
        ] {
            assert_eq!(judged(allowed, &circles).len(), errors, "{allowed:?} {circles:?}");
        }
    }
}
