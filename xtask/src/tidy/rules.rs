//! Finds forbidden code in sources.

use super::Finding;
use super::source::{Source, Token};

/// A file with more lines than this, outside of tests, probably holds more than one idea.
const LONG: usize = 500;
const TOO_LONG: usize = 700;

/// All rules over one source.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in [
        unsafe_code,
        globals,
        environment,
        codecs,
        formats,
        one_build,
        unfinished,
        exceptions,
        comments,
        length,
    ] {
        rule(source, &mut findings);
    }
    findings
}

fn is_library(source: &Source) -> bool {
    source.path.starts_with("crates/") && source.crate_name() != "zarr-cli"
}

/// Crates whose code turns bytes into elements: no input, no output, nothing async.
fn is_codec(source: &Source) -> bool {
    source.path.starts_with("crates/zarr-codec")
        || ["zarr-strided", "zarr-blosc"].contains(&source.crate_name())
}

fn may_be_unsafe(source: &Source) -> bool {
    source.path.starts_with("crates/zarr-strided/")
        // Tests that count allocations need an unsafe allocator, and C-Blosc is called to compare with it.
        || source.path.contains("/tests/")
        || source.path.contains("/benches/")
}

fn unsafe_code(source: &Source, out: &mut Vec<Finding>) {
    // `unsafe extern` only declares, and the calls need the reason. In tests `unsafe fn` belongs to an `unsafe impl`.
    let mut declared: Vec<usize> = source.find(&["unsafe", "extern"]).collect();
    declared.extend(source.find(&["unsafe", "fn"]).filter(|&line| source.is_test(line)));
    for line in source.find(&["unsafe"]) {
        if !may_be_unsafe(source) {
            out.push(Finding::error(
                source.at(line),
                "unsafe",
                "`unsafe` belongs in zarr-strided, where sanitizers and Miri look for it (design 5)",
            ));
        } else if !declared.contains(&line) && !has_safety_reason(source, line) {
            out.push(Finding::error(
                source.at(line),
                "safety",
                "each `unsafe` needs a `SAFETY:` comment above it that says why it is sound (or, for a function, \
                 `# Safety` with the duties of the caller)",
            ));
        }
    }
}

/// Whether the comments above or beside the statement contain a reason.
fn has_safety_reason(source: &Source, line: usize) -> bool {
    let reason =
        |line: usize| source.comments[line].contains("SAFETY:") || source.comments[line].contains("# Safety");
    if reason(line) {
        return true;
    }
    for above in (0..line).rev() {
        if reason(above) {
            return true;
        }
        let code = source.code[above].trim();
        let ends_a_statement = code.ends_with([';', '{', '}', ',']) && !code.starts_with('#');
        let blank = code.is_empty() && source.comments[above].trim().is_empty();
        if ends_a_statement || blank {
            return false;
        }
    }
    false
}

/// Types that make a `static` mutable.
const CELLS: [&str; 8] =
    ["Mutex", "RwLock", "OnceLock", "LazyLock", "OnceCell", "LazyCell", "UnsafeCell", "Atomic"];

/// Static values that are made once, by file and name, and their reasons.
const STATICS: [(&str, &str, &str); 2] = [
    ("crates/zarr-array/src/cpu.rs", "OF_PROCESS", "the threads of the process: decision 0044"),
    ("crates/zarr-array/src/lib.rs", "STANDARD", "the standard registry, which never changes"),
];

fn globals(source: &Source, out: &mut Vec<Finding>) {
    if !is_library(source) {
        return;
    }
    let reason = "no global mutable state: pass shared values as arguments (design D3)";
    for (index, token) in source.tokens.iter().enumerate() {
        if source.is_test(token.line) {
            continue;
        }
        let next = source.tokens.get(index + 1).map_or("", |t| t.text.as_str());
        let found = match token.text.as_str() {
            "static" if next == "mut" => Some("static mut".to_owned()),
            "static" if STATICS.iter().any(|(path, name, _)| source.path == *path && next == *name) => None,
            "static" => cell_of_static(&source.tokens[index..]).map(|cell| format!("a static with {cell}")),
            "thread_local" if next == "!" => Some("thread_local!".to_owned()),
            _ => None,
        };
        if let Some(found) = found {
            out.push(Finding::error(source.at(token.line), "globals", format!("{found}: {reason}")));
        }
    }
}

/// Returns the type within a static's type that makes it mutable.
fn cell_of_static(tokens: &[Token]) -> Option<&str> {
    let declared = tokens.iter().take_while(|t| t.text != "=" && t.text != ";" && t.text != "{");
    declared
        .map(|t| t.text.as_str())
        .find(|t| CELLS.iter().any(|c| t == c || (*c == "Atomic" && t.starts_with(c))))
}

fn environment(source: &Source, out: &mut Vec<Finding>) {
    if !is_library(source) {
        return;
    }
    let mut lines: Vec<usize> = Vec::new();
    for function in ["var", "var_os", "vars", "vars_os", "set_var"] {
        lines.extend(source.find(&["env", ":", ":", function]));
        let path = format!("std::env::{function}");
        lines.extend(source.uses().into_iter().filter(|used| used.path == path).map(|used| used.line));
    }
    lines.sort_unstable();
    lines.dedup();
    for line in lines.into_iter().filter(|&l| !source.is_test(l)) {
        out.push(Finding::error(
            source.at(line),
            "environment",
            "a library crate reads no environment variables: callers pass options (design D3)",
        ));
    }
}

fn codecs(source: &Source, out: &mut Vec<Finding>) {
    if !is_codec(source) {
        return;
    }
    let mut found: Vec<(usize, &str)> = Vec::new();
    for words in [&["async", "fn"][..], &["async", "move"], &["async", "{"], &[".", "await"]] {
        found.extend(source.find(words).map(|line| (line, "async code")));
    }
    for module in ["fs", "net"] {
        found.extend(source.find(&["std", ":", ":", module]).map(|line| (line, "input and output")));
        let path = format!("std::{module}");
        let inside = |p: &str| p == path || p.starts_with(&format!("{path}::"));
        let uses = source.uses().into_iter().filter(|used| inside(&used.path));
        found.extend(uses.map(|used| (used.line, "input and output")));
    }
    found.sort_unstable();
    found.dedup();
    for (line, what) in found.into_iter().filter(|&(l, _)| !source.is_test(l)) {
        out.push(Finding::error(
            source.at(line),
            "codecs",
            format!("{what} in a codec crate: codecs do no I/O and are never async, one engine does both (design D1)"),
        ));
    }
}

/// Texts of documents of formats 1 and 2. A string with one of them shows that a crate knows these formats.
const OLD_FORMATS: [&str; 6] =
    [".zarray", ".zgroup", ".zattrs", ".zmetadata", "\"zarr_format\":1", "\"zarr_format\":2"];

/// Where else these texts may stand, and why.
const OTHER_FORMATS: [(&str, &str); 2] = [
    ("crates/zarr-meta/", "it knows the formats"),
    ("crates/zarr-store-refs/src/records/", "a document of format 2 numbers the references (decision 0042)"),
];

fn formats(source: &Source, out: &mut Vec<Finding>) {
    if !source.path.starts_with("crates/")
        || OTHER_FORMATS.iter().any(|(path, _)| source.path.starts_with(path))
    {
        return;
    }
    for token in source.tokens.iter().filter(|t| t.text.starts_with('"') && !source.is_test(t.line)) {
        let text: String = token.text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect();
        if let Some(word) = OLD_FORMATS.iter().find(|w| text.contains(**w)) {
            out.push(Finding::error(
                source.at(token.line),
                "formats",
                format!(
                    "`{word}`: only zarr-meta knows formats 1 and 2, other crates use its model (design D4)"
                ),
            ));
        }
    }
}

/// Files that may build a package by itself, and why.
const OTHER_BUILDS: [(&str, &str); 9] = [
    ("xtask/src/asan.rs", "another toolchain"),
    ("xtask/src/bench.rs", "the profile `release`"),
    ("xtask/src/conformance/peers.rs", "for somebody who only tests another implementation"),
    ("xtask/src/features.rs", "other features, nightly"),
    ("xtask/src/fixtures/mod.rs", "default features, nightly"),
    ("xtask/src/fuzz.rs", "packages beside the workspace"),
    ("xtask/src/seeded.rs", "a copy of the sources"),
    ("xtask/src/wasm.rs", "another target, nightly"),
    ("xtask/src/works.rs", "with optimisation, nightly"),
];

/// How many tokens around `-p` belong to the same call of cargo.
const CALL: usize = 24;

fn one_build(source: &Source, out: &mut Vec<Finding>) {
    let tests = source.path.contains("/tests/") || source.path.starts_with("xtask/src/");
    if !tests || OTHER_BUILDS.iter().any(|(path, _)| source.path == *path) {
        return;
    }
    let is = |token: &Token, words: &[&str]| words.iter().any(|word| token.text == format!("\"{word}\""));
    for (index, token) in source.tokens.iter().enumerate().filter(|(_, t)| is(t, &["-p", "--package"])) {
        // Unit tests have calls as samples.
        if source.path.starts_with("xtask/src/") && source.is_test(token.line) {
            continue;
        }
        let call = &source.tokens[index.saturating_sub(CALL)..source.tokens.len().min(index + CALL)];
        if call.iter().any(|t| is(t, &["build", "run", "test"])) {
            let message = "a build of one package selects other features, and compiles the crates again: take the \
                           file of the one build (xtask/src/build.rs), or `CARGO_BIN_EXE_…`";
            out.push(Finding::error(source.at(token.line), "build", message));
        }
    }
}

fn unfinished(source: &Source, out: &mut Vec<Finding>) {
    for name in ["todo", "unimplemented", "dbg"] {
        for line in source.find(&[name, "!"]) {
            let message = format!("`{name}!`: return an error for unfinished code, or open an issue");
            out.push(Finding::error(source.at(line), "unfinished", message));
        }
    }
    for line in source.find(&["#", "[", "ignore", "]"]) {
        let message = "`#[ignore]` needs its reason: `#[ignore = \"…\"]`";
        out.push(Finding::error(source.at(line), "unfinished", message));
    }
}

fn exceptions(source: &Source, out: &mut Vec<Finding>) {
    for (index, token) in source.tokens.iter().enumerate() {
        let word = token.text.as_str();
        let attribute = (word == "allow" || word == "expect")
            && index >= 1
            && source.tokens[index - 1].text == "["
            && source.tokens.get(index + 1).is_some_and(|t| t.text == "(");
        if !attribute {
            continue;
        }
        let inside = source.tokens[index..].iter().take_while(|t| t.text != "]");
        let explained = inside.clone().any(|t| t.text == "reason")
            || !source.comments[token.line].trim().is_empty()
            || token.line.checked_sub(1).is_some_and(|above| {
                let comment = source.comments[above].trim();
                source.code[above].trim().is_empty()
                    && comment.starts_with("//")
                    && !comment.starts_with("///")
            });
        if !explained {
            let message = format!("`#[{word}(…)]` needs its reason: `reason = \"…\"`, or a comment above it");
            out.push(Finding::error(source.at(token.line), "exceptions", message));
        }
    }
}

fn comments(source: &Source, out: &mut Vec<Finding>) {
    for (line, comment) in source.comments.iter().enumerate() {
        // Without text in `code`, which may mention the marks.
        let plain: String = comment.split('`').step_by(2).collect();
        let words = plain.split(|c: char| !c.is_alphanumeric() && c != '_');
        for mark in words.filter(|w| ["TODO", "FIXME", "XXX"].contains(w)) {
            let numbered =
                plain.split('#').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            if !numbered {
                let message = format!("{mark} without the number of an issue (`#12`): it would be forgotten");
                out.push(Finding::error(source.at(line), "comments", message));
            }
        }
    }
}

fn length(source: &Source, out: &mut Vec<Finding>) {
    let lines = source.test.iter().filter(|test| !**test).count();
    if lines > TOO_LONG {
        let message =
            format!("{lines} lines outside of tests, over {TOO_LONG}: one file, one idea (style 3)");
        out.push(Finding::error(source.path.as_str(), "length", message));
    } else if lines > LONG {
        let message =
            format!("{lines} lines outside of tests, over {LONG}: does it hold more than one idea?");
        out.push(Finding::warning(source.path.as_str(), "length", message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, String)> {
        check(&Source::new(path.to_owned(), text)).into_iter().map(|f| (f.rule, f.place)).collect()
    }

    fn names(path: &str, text: &str) -> Vec<&'static str> {
        rules(path, text).into_iter().map(|(rule, _)| rule).collect()
    }

    const LIB: &str = "crates/zarr-array/src/a.rs";
    const CODEC: &str = "crates/zarr-codecs-core/src/gzip.rs";

    #[test]
    fn unsafe_code_needs_its_place_and_a_reason() {
        let block = "fn f() {\n    unsafe { g() }\n}\n";
        let reasoned =
            "fn f() {\n    // SAFETY: g is fine,\n    // really.\n    let x =\n        unsafe { g() };\n}\n";
        assert_eq!(rules(LIB, block), [("unsafe", format!("{LIB}:2"))]);
        assert_eq!(names(LIB, reasoned), ["unsafe"]);
        assert_eq!(names("crates/zarr-strided/src/copy.rs", block), ["safety"]);
        assert!(names("crates/zarr-strided/src/copy.rs", reasoned).is_empty());
        assert_eq!(names(CODEC, reasoned), ["unsafe"]);
        assert!(names(LIB, "#![forbid(unsafe_code)]\n// unsafe\nlet a = \"unsafe\";\n").is_empty());
        let function =
            "/// Does.\n///\n/// # Safety\n///\n/// Be careful.\n#[inline]\npub unsafe fn f() {}\n";
        assert!(names("crates/zarr-strided/src/copy.rs", function).is_empty());
        assert!(names("crates/zarr-strided/src/c.rs", "unsafe extern \"C\" {\n    fn f();\n}\n").is_empty());
        assert_eq!(names(LIB, "unsafe extern \"C\" {}\n"), ["unsafe"]);
        let counting = "// SAFETY: passed on.\nunsafe impl GlobalAlloc for C {\n    unsafe fn alloc(&self) {\n    }\n}\n";
        assert!(names("crates/zarr-array/tests/a.rs", counting).is_empty());
        assert_eq!(names("crates/zarr-strided/src/a.rs", counting), ["safety"]);
        let two = "// SAFETY: a.\nunsafe { a() };\nunsafe { b() };\n";
        assert_eq!(
            rules("crates/zarr-strided/src/c.rs", two),
            [("safety", "crates/zarr-strided/src/c.rs:3".into())]
        );
    }

    #[test]
    fn mutable_statics_are_found() {
        assert_eq!(names(LIB, "static mut A: u8 = 0;\n"), ["globals"]);
        assert_eq!(names(LIB, "static A: LazyLock<Vec<u8>> = LazyLock::new(Vec::new);\n"), ["globals"]);
        assert_eq!(names(LIB, "pub static A: std::sync::Mutex<u8> = Mutex::new(0);\n"), ["globals"]);
        assert_eq!(names(LIB, "static A: AtomicU64 = AtomicU64::new(0);\n"), ["globals"]);
        assert_eq!(names(LIB, "thread_local! { }\n"), ["globals"]);
        assert!(names(LIB, "static A: &[u8] = &[];\nfn f(m: &'static Mutex<u8>) {}\n").is_empty());
        assert!(
            names(LIB, "#[cfg(test)]\nmod tests {\n static A: Mutex<u8> = Mutex::new(0);\n}\n").is_empty()
        );
        assert!(names("crates/zarr-cli/src/main.rs", "static A: Mutex<u8> = Mutex::new(0);\n").is_empty());
    }

    #[test]
    fn environment_variables_in_libraries_are_found() {
        assert_eq!(names(LIB, "let a = std::env::var(\"A\");\n"), ["environment"]);
        assert_eq!(names(LIB, "use std::env::{var_os, args};\n"), ["environment"]);
        assert!(names(LIB, "let a = env!(\"CARGO_PKG_VERSION\");\n").is_empty());
        assert!(names("crates/zarr-cli/src/main.rs", "std::env::var(\"A\");\n").is_empty());
    }

    #[test]
    fn async_code_and_input_and_output_in_codecs_are_found() {
        for text in ["async fn f() {}\n", "a.b().await;\n", "use std::{fs, io};\n", "std::net::lookup();\n"] {
            assert_eq!(names(CODEC, text), ["codecs"], "{text}");
            assert!(names(LIB, text).is_empty(), "{text}");
        }
        assert!(names(CODEC, "use std::io::Write;\n#[cfg(test)]\nmod tests { use std::fs; }\n").is_empty());
        assert!(names("crates/zarr-codecs-core/tests/a.rs", "use std::fs;\n").is_empty());
    }

    #[test]
    fn old_formats_outside_of_the_metadata_crate_are_found() {
        assert_eq!(names(LIB, "let key = \".zarray\";\n"), ["formats"]);
        assert_eq!(names(LIB, "let d = r#\"{ \"zarr_format\": 2 }\"#;\n"), ["formats"]);
        assert_eq!(names(LIB, "let d = \"{\\\"zarr_format\\\" : 2 }\";\n"), ["formats"]);
        assert!(names(LIB, "/// Like `.zarray`.\nlet key = \"zarr.json\";\n").is_empty());
        assert!(names("crates/zarr-meta/src/v2/array.rs", "let key = \".zarray\";\n").is_empty());
        assert_eq!(names("crates/zarr-store-refs/src/table.rs", "let key = \".zarray\";\n"), ["formats"]);
        assert!(names("crates/zarr-array/tests/v2.rs", "let key = \".zarray\";\n").is_empty());
    }

    #[test]
    fn builds_of_one_package_are_found() {
        let call = "fn f() { cargo([\"run\", \"-p\", \"zarr-cli\"]); }\n";
        assert_eq!(names("xtask/src/race.rs", call), ["build"]);
        assert_eq!(names("conformance/services/tests/a.rs", &call.replace("-p", "--package")), ["build"]);
        assert!(names("xtask/src/race.rs", &call.replace("run", "check")).is_empty());
        assert!(names("xtask/src/asan.rs", call).is_empty());
        assert!(names(LIB, call).is_empty());
    }

    #[test]
    fn unfinished_code_is_found() {
        assert_eq!(names(LIB, "fn f() { todo!() }\n"), ["unfinished"]);
        assert_eq!(names("xtask/src/a.rs", "dbg!(1);\n"), ["unfinished"]);
        assert_eq!(names(LIB, "#[test]\n#[ignore]\nfn f() {}\n"), ["unfinished"]);
        assert!(names(LIB, "#[test]\n#[ignore = \"needs a network\"]\nfn f() {}\n").is_empty());
        assert_eq!(names(LIB, "// TODO: later\n"), ["comments"]);
        assert_eq!(names(LIB, "// FIXME(x): item # 3\n"), ["comments"]);
        assert!(names(LIB, "// TODO(#12): later; no todo, no `TODO`\n").is_empty());
    }

    #[test]
    fn lint_exceptions_need_reasons() {
        assert_eq!(names(LIB, "#[allow(dead_code)]\nfn f() {}\n"), ["exceptions"]);
        assert_eq!(names(LIB, "/// Docs.\n#[expect(clippy::x)]\nfn f() {}\n"), ["exceptions"]);
        assert!(names(LIB, "#[expect(clippy::x, reason = \"y\")]\nfn f() {}\n").is_empty());
        assert!(names(LIB, "// Because.\n#[allow(dead_code)]\nfn f() {}\n").is_empty());
        assert!(names(LIB, "#[allow(dead_code)] // Because.\nfn f() {}\n").is_empty());
        assert!(names(LIB, "let a = b.expect(\"c\");\n").is_empty());
    }

    #[test]
    fn long_files_are_found() {
        assert!(names(LIB, &"fn f() {}\n".repeat(500)).is_empty());
        assert_eq!(names(LIB, &"fn f() {}\n".repeat(501)), ["length"]);
        assert_eq!(names("crates/x/tests/a.rs", &"fn f() {}\n".repeat(800)), Vec::<&str>::new());
        assert!(check(&Source::new(LIB.to_owned(), &"fn f() {}\n".repeat(501)))[0].warning);
        assert!(!check(&Source::new(LIB.to_owned(), &"fn f() {}\n".repeat(701)))[0].warning);
    }
}
