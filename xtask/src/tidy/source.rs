//! Splits a Rust source into code, strings and comments, finds lines of tests, and the tokens of the code.
//!
//! This is not a parser. It finds the beginning and end of comments, strings and characters, which is enough for rules
//! that look for words.

use std::collections::BTreeSet;

/// A token of the code outside comments; strings are one token with their quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The line, from 0.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// A name that a `use` declaration brings in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The line, from 0.
    pub(crate) line: usize,
    /// The full path, for example `std::fs::File`, or `std::fs::self`, or `std::fs::*`.
    pub(crate) path: String,
    /// The name after `as`.
    renamed: Option<String>,
    /// Whether it is a `pub use`.
    pub(crate) public: bool,
}

impl Use {
    /// Returns the name in this file, or `*`.
    pub(crate) fn name(&self) -> &str {
        let path = self.path.strip_suffix("::self").unwrap_or(&self.path);
        self.renamed.as_deref().unwrap_or_else(|| path.rsplit("::").next().unwrap_or(path))
    }
}

/// A source file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The path from the root of the workspace, with `/`.
    pub(crate) path: String,
    /// The code of each line, without comments and with empty strings.
    pub(crate) code: Vec<String>,
    /// The comments of each line.
    pub(crate) comments: Vec<String>,
    pub(crate) tokens: Vec<Token>,
    /// Whether each line is in a `#[cfg(test)]` item or in a test file.
    pub(crate) test: Vec<bool>,
    /// Files that `#[cfg(test)] mod name;` lines make tests.
    test_modules: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    String,
    Comment,
}

impl Source {
    /// Splits a text.
    pub(crate) fn new(path: String, text: &str) -> Self {
        let parts = parts(text);
        let mut code = vec![String::new()];
        let mut comments = vec![String::new()];
        for (c, part) in text.chars().zip(&parts) {
            if c == '\n' {
                code.push(String::new());
                comments.push(String::new());
                continue;
            }
            let (Some(code), Some(comment)) = (code.last_mut(), comments.last_mut()) else { continue };
            match part {
                Part::Code => code.push(c),
                Part::Comment => comment.push(c),
                Part::String => {}
            }
        }
        if text.ends_with('\n') {
            code.pop();
            comments.pop();
        }
        let tokens = tokens(text, &parts);
        let whole = ["tests", "benches", "examples"].iter().any(|d| path.contains(&format!("/{d}/")));
        let mut source =
            Self { path, test: vec![whole; code.len()], code, comments, tokens, test_modules: Vec::new() };
        source.find_tests();
        source
    }

    /// The crate's folder: `crates/name`, `bench/name`, `conformance/name` or `xtask`.
    pub(crate) fn package(&self) -> &str {
        let end =
            self.path.find("/src/").or_else(|| self.path.find("/tests/")).or(self.path.find("/benches/"));
        &self.path[..end.unwrap_or(0)]
    }

    /// The name of the crate's folder.
    pub(crate) fn crate_name(&self) -> &str {
        self.package().rsplit('/').next().unwrap_or_default()
    }

    pub(crate) fn is_test(&self, line: usize) -> bool {
        self.test.get(line).copied().unwrap_or(false)
    }

    /// `path:line` for a finding.
    pub(crate) fn at(&self, line: usize) -> String {
        format!("{}:{}", self.path, line + 1)
    }

    /// Returns the lines where these tokens occur in sequence.
    pub(crate) fn find<'a>(&'a self, wanted: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.tokens.windows(wanted.len());
        windows
            .filter(move |w| w.iter().zip(wanted).all(|(t, w)| t.text == *w))
            .filter_map(|w| Some(w.first()?.line))
    }

    /// Returns the names that `use` declarations bring in.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            // `use<…>` is part of a type, not a declaration.
            if self.tokens[at].text == "use" && text(&self.tokens, at + 1) != "<" {
                let (first, public) = (found.len(), at > 0 && text(&self.tokens, at - 1) == "pub");
                at = use_tree(&self.tokens, at + 1, "", &mut found);
                found.iter_mut().skip(first).for_each(|used| used.public = public);
            }
            at += 1;
        }
        found
    }

    /// Returns the paths outside of `use` declarations that have two or more names, with their lines.
    pub(crate) fn paths(&self) -> Vec<(usize, Vec<&str>)> {
        let is_name = |at: usize| text(&self.tokens, at).starts_with(|c: char| c.is_alphabetic() || c == '_');
        let goes_on = |at: usize| [at, at + 1].iter().all(|&at| text(&self.tokens, at) == ":");
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if text(&self.tokens, at) == "use" && text(&self.tokens, at + 1) != "<" {
                at = use_tree(&self.tokens, at + 1, "", &mut Vec::new());
                continue;
            }
            let begin = at;
            at += 1;
            // `::` before a name is a path of another crate, or the end of `<T as Trait>::Name`.
            if !is_name(begin) || (begin >= 2 && goes_on(begin - 2)) {
                continue;
            }
            let mut path = vec![text(&self.tokens, begin)];
            while goes_on(at) && is_name(at + 2) {
                path.push(text(&self.tokens, at + 2));
                at += 3;
            }
            if path.len() > 1 {
                found.push((self.tokens[begin].line, path));
            }
        }
        found
    }

    /// Marks the items after `#[cfg(test)]`.
    fn find_tests(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let attribute = self.tokens[at].text == "#" && text(&self.tokens, at + 1) == "[";
            if !attribute {
                at += 1;
                continue;
            }
            let end = closing(&self.tokens, at + 1);
            let inside: Vec<&str> = self.tokens[at + 2..end].iter().map(|t| t.text.as_str()).collect();
            let is_test = inside == ["test"]
                || (inside.first() == Some(&"cfg") && inside.contains(&"test") && !inside.contains(&"not"));
            if !is_test {
                at = end + 1;
                continue;
            }
            // The item ends with its braces or its semicolon.
            let mut item = end + 1;
            while item < self.tokens.len() && !["{", ";"].contains(&text(&self.tokens, item)) {
                // Brackets may contain text that looks like the end.
                item = if ["(", "["].contains(&text(&self.tokens, item)) {
                    closing(&self.tokens, item) + 1
                } else {
                    item + 1
                };
            }
            if text(&self.tokens, item) == ";"
                && item >= 2
                && text(&self.tokens, item.saturating_sub(2)) == "mod"
            {
                let name = text(&self.tokens, item - 1).to_owned();
                self.test_modules.extend(module_files(&self.path, &name));
            }
            let last = if text(&self.tokens, item) == "{" { closing(&self.tokens, item) } else { item };
            let from = self.tokens[at].line;
            let to = self.tokens.get(last).or(self.tokens.last()).map_or(from, |t| t.line);
            for line in &mut self.test[from..=to] {
                *line = true;
            }
            at = last + 1;
        }
    }
}

/// Marks the files that another file declares as `#[cfg(test)] mod name;`, and the modules below them.
pub(crate) fn mark_test_files(sources: &mut [Source]) {
    let tests: BTreeSet<String> = sources.iter().flat_map(|s| s.test_modules.iter().cloned()).collect();
    let folders: Vec<String> = tests
        .iter()
        .map(|f| f.strip_suffix("/mod.rs").or(f.strip_suffix(".rs")).unwrap_or(f).to_owned() + "/")
        .collect();
    for source in sources {
        if tests.contains(&source.path) || folders.iter().any(|f| source.path.starts_with(f.as_str())) {
            source.test.fill(true);
        }
    }
}

/// Returns the possible files of the module `name` of the file `path`.
fn module_files(path: &str, name: &str) -> [String; 2] {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = match file {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", file.trim_end_matches(".rs")),
    };
    [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]
}

/// Returns the text of a token, or nothing behind the last one.
pub(super) fn text(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |t| t.text.as_str())
}

/// Returns the index of the bracket that closes the bracket at `open`, or of the last token.
pub(super) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

/// Reads a use tree from `at` and adds its names to `found`. Returns the index of the token after it.
fn use_tree(tokens: &[Token], mut at: usize, prefix: &str, found: &mut Vec<Use>) -> usize {
    let (mut path, mut renamed) = (prefix.to_owned(), None);
    let line = tokens.get(at).map_or(0, |t| t.line);
    loop {
        match text(tokens, at) {
            "" | ";" | "," | "}" => {
                found.push(Use { line, path, renamed, public: false });
                return at;
            }
            "{" => {
                at += 1;
                while at < tokens.len() && text(tokens, at) != "}" {
                    at = use_tree(tokens, at, &path, found);
                    if text(tokens, at) == "," {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "as" => {
                renamed = Some(text(tokens, at + 1).to_owned());
                at += 2;
            }
            word => {
                path.push_str(word);
                at += 1;
            }
        }
    }
}

/// Returns for each character whether it is code, string or comment. Quotes are code.
fn parts(text: &str) -> Vec<Part> {
    let chars: Vec<char> = text.chars().collect();
    let peek = |at: usize| chars.get(at).copied().unwrap_or('\0');
    let mut parts = vec![Part::Code; chars.len()];
    let mut mark = |from: usize, to: usize, part: Part| {
        let to = to.min(chars.len());
        parts[from.min(to)..to].fill(part);
    };
    let mut at = 0;
    while at < chars.len() {
        let before = at.checked_sub(1).map_or('\0', peek);
        let begins_word = !(before.is_alphanumeric() || before == '_');
        match chars[at] {
            '/' if peek(at + 1) == '/' => {
                let end = (at..chars.len()).find(|&i| chars[i] == '\n').unwrap_or(chars.len());
                mark(at, end, Part::Comment);
                at = end;
            }
            '/' if peek(at + 1) == '*' => {
                let (mut depth, mut end) = (1, at + 2);
                while end < chars.len() && depth > 0 {
                    match (chars[end], peek(end + 1)) {
                        ('/', '*') => (depth, end) = (depth + 1, end + 2),
                        ('*', '/') => (depth, end) = (depth - 1, end + 2),
                        _ => end += 1,
                    }
                }
                mark(at, end, Part::Comment);
                at = end;
            }
            '"' => {
                let mut end = at + 1;
                while end < chars.len() && chars[end] != '"' {
                    end += if chars[end] == '\\' { 2 } else { 1 };
                }
                mark(at + 1, end, Part::String);
                at = end + 1;
            }
            'r' | 'b' | 'c' if begins_word && raw_string(&chars, at).is_some() => {
                let (open, hashes) = raw_string(&chars, at).unwrap_or((at, 0));
                let closes = |i: usize| chars[i] == '"' && (1..=hashes).all(|h| peek(i + h) == '#');
                let end = (open + 1..chars.len()).find(|&i| closes(i)).unwrap_or(chars.len());
                mark(open + 1, end, Part::String);
                at = end + 1 + hashes;
            }
            '\'' if peek(at + 1) == '\\' => {
                let end = (at + 3..chars.len()).find(|&i| chars[i] == '\'').unwrap_or(chars.len());
                mark(at + 1, end, Part::String);
                at = end + 1;
            }
            '\'' if peek(at + 2) == '\'' => {
                mark(at + 1, at + 2, Part::String);
                at += 3;
            }
            _ => at += 1,
        }
    }
    parts
}

/// Returns the position of the quote and the number of hashes, if a raw string begins here.
fn raw_string(chars: &[char], mut at: usize) -> Option<(usize, usize)> {
    if ['b', 'c'].contains(chars.get(at)?) {
        at += 1;
    }
    if *chars.get(at)? != 'r' {
        return None;
    }
    let hashes = chars.iter().skip(at + 1).take_while(|&&c| c == '#').count();
    let quote = at + 1 + hashes;
    (*chars.get(quote)? == '"').then_some((quote, hashes))
}

fn tokens(text: &str, parts: &[Part]) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 0);
    while at < chars.len() {
        let c = chars[at];
        let begin = at;
        at += 1;
        if c == '\n' {
            line += 1;
            continue;
        }
        if parts[begin] != Part::Code || c.is_whitespace() {
            continue;
        }
        let start_line = line;
        if c == '"' {
            // Up to the closing quote, which is code.
            while at < chars.len() && !(chars[at] == '"' && parts[at] == Part::Code) {
                line += usize::from(chars[at] == '\n');
                at += 1;
            }
            at += 1;
        } else if word(c) || (c == '\'' && chars.get(at).is_some_and(|&c| word(c)) && parts[at] == Part::Code)
        {
            while at < chars.len() && word(chars[at]) && parts[at] == Part::Code {
                at += 1;
            }
        }
        let text = chars[begin..at.min(chars.len())].iter().collect();
        tokens.push(Token { line: start_line, text });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new("crates/x/src/a.rs".to_owned(), text)
    }

    #[test]
    fn code_is_kept_without_comments_and_strings() {
        let s = source("let a = \"unsafe // no\"; // unsafe\n/* static /* mut */ */ let b = 'x';\n");
        assert_eq!(s.code, ["let a = \"\"; ", " let b = '';"]);
        assert_eq!(s.comments, ["// unsafe", "/* static /* mut */ */"]);
        assert_eq!(s.find(&["unsafe"]).count(), 0);
    }

    #[test]
    fn raw_strings_escapes_characters_and_lifetimes_are_known() {
        let text = r##"let a = r#"todo!() " "#; let b = "\"dbg!()"; fn f<'a>(x: &'static str) -> char { '"' } br"x"; '\''; r#type"##;
        let s = source(text);
        assert!(s.find(&["todo", "!"]).next().is_none());
        assert!(s.find(&["dbg", "!"]).next().is_none());
        assert_eq!(s.find(&["static"]).count(), 0);
        assert_eq!(s.find(&["'static"]).count(), 1);
        assert_eq!(s.find(&["char", "{"]).count(), 1);
        assert_eq!(s.find(&["type"]).count(), 1);
        assert!(s.tokens.iter().any(|t| t.text == "\"todo!() \" \""));
    }

    #[test]
    fn lines_in_long_strings_are_counted() {
        let s = source("let a = \"one\ntwo\nthree\";\nunsafe {}\n");
        assert_eq!(s.find(&["unsafe"]).collect::<Vec<_>>(), [3]);
        assert_eq!(s.code.len(), 4);
    }

    #[test]
    fn test_items_are_marked() {
        let s = source("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n");
        assert_eq!(s.test, [false, true, true, true, true, false]);
        let s = source("#[test]\nfn a() { let x = [1; 2]; }\nfn b() {}\n#[cfg(not(test))]\nfn c() {}\n");
        assert_eq!(s.test, [true, true, false, false, false]);
    }

    #[test]
    fn test_files_that_another_file_declares_are_marked() {
        let mut sources = vec![
            Source::new("crates/x/src/a.rs".to_owned(), "#[cfg(test)]\nmod tests;\nfn a() {}\n"),
            Source::new("crates/x/src/a/tests.rs".to_owned(), "fn b() {}\n"),
            Source::new("crates/x/src/a/tests/more.rs".to_owned(), "fn b() {}\n"),
            Source::new("crates/x/src/tests.rs".to_owned(), "fn c() {}\n"),
        ];
        mark_test_files(&mut sources);
        assert_eq!(sources[0].test, [true, true, false]);
        assert_eq!(sources[1].test, [true]);
        assert_eq!(sources[2].test, [true]);
        assert_eq!(sources[3].test, [false]);
    }

    #[test]
    fn use_trees_are_expanded() {
        let s = source("use std::{fs::{self, File}, env as e};\nuse a::b;\n");
        let uses = s.uses();
        let paths: Vec<_> = uses.iter().map(|u| (&*u.path, u.name())).collect();
        let expected = [("std::fs::self", "fs"), ("std::fs::File", "File"), ("std::env", "e"), ("a::b", "b")];
        assert_eq!(paths, expected);
    }

    #[test]
    fn paths_are_found_outside_of_use_declarations() {
        let s = source("use a::b;\nfn f(x: c::D) -> ::e::F { g::<u8>(crate::h::i); <T as U>::V }\n");
        assert_eq!(s.paths(), [(1, vec!["c", "D"]), (1, vec!["crate", "h", "i"])]);
    }
}
