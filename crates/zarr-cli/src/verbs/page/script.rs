//! The script of the page: its files, joined into one.
//!
//! Each file is a module of JavaScript with one idea. It imports names from files above it in [`FILES`] and from no others, so
//! that each can be read with those above it alone. `import` and `export` stand at the beginning of a line, and an `export` is
//! a function or one constant: a module hands out neither variables nor classes.

use std::sync::LazyLock;

/// The files by their names, each behind those that it imports.
const FILES: [(&str, &str); 30] = [
    ("dom", include_str!("script/dom.js")),
    ("words", include_str!("script/words.js")),
    ("ask", include_str!("script/ask.js")),
    ("values", include_str!("script/values.js")),
    ("nodes", include_str!("script/nodes.js")),
    ("colours", include_str!("script/colours.js")),
    ("axes", include_str!("script/axes.js")),
    ("view", include_str!("script/view.js")),
    ("ink", include_str!("script/ink.js")),
    ("pixels", include_str!("script/pixels.js")),
    ("bar", include_str!("script/bar.js")),
    ("plane", include_str!("script/plane.js")),
    ("curve", include_str!("script/curve.js")),
    ("texts", include_str!("script/texts.js")),
    ("slider", include_str!("script/slider.js")),
    ("metadata", include_str!("script/metadata.js")),
    ("controls", include_str!("script/controls.js")),
    ("point", include_str!("script/point.js")),
    ("gestures", include_str!("script/gestures.js")),
    ("maps", include_str!("script/maps.js")),
    ("scatter", include_str!("script/scatter.js")),
    ("points", include_str!("script/points.js")),
    ("picture", include_str!("script/picture.js")),
    ("cards", include_str!("script/cards.js")),
    ("plates", include_str!("script/plates.js")),
    ("groups", include_str!("script/groups.js")),
    ("chunks", include_str!("script/chunks.js")),
    ("tree", include_str!("script/tree.js")),
    ("node", include_str!("script/node.js")),
    ("start", include_str!("script/start.js")),
];

/// Returns the script.
pub(crate) fn script() -> &'static str {
    static SCRIPT: LazyLock<String> = LazyLock::new(|| {
        let modules: String = FILES.iter().map(|(name, text)| Module::read(text).closed(name)).collect();
        format!("\"use strict\";\n{modules}")
    });
    &SCRIPT
}

/// A file in parts.
struct Module<'a> {
    /// The imported names, and the name of the file that exports them.
    imports: Vec<(Vec<&'a str>, &'a str)>,
    exports: Vec<&'a str>,
    /// The other lines, without the word `export`.
    body: Vec<&'a str>,
}

impl<'a> Module<'a> {
    fn read(text: &'a str) -> Self {
        let mut module = Self { imports: Vec::new(), exports: Vec::new(), body: Vec::new() };
        for line in text.lines() {
            let import = line.strip_prefix("import { ").and_then(|rest| rest.split_once(" } from \"./"));
            if let Some((names, file)) = import {
                module.imports.push((names.split(", ").collect(), file.trim_end_matches(".js\";")));
                continue;
            }
            let exported = line.strip_prefix("export ");
            module.exports.extend(exported.and_then(name_of));
            module.body.push(exported.unwrap_or(line));
        }
        module
    }

    /// Returns the module as a function that is called once. So a name is known where it is declared or imported.
    fn closed(&self, name: &str) -> String {
        let imports = self.imports.iter();
        let imports: String =
            imports.map(|(names, file)| format!("const {{ {} }} = ${file};\n", names.join(", "))).collect();
        let (body, exports) = (self.body.join("\n"), self.exports.join(", "));
        format!("const ${name} = (() => {{\n{imports}{body}\nreturn {{ {exports} }};\n}})();\n")
    }
}

/// Returns the name that a line declares.
fn name_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = line.strip_prefix("function ").or_else(|| line.strip_prefix("const "))?;
    rest.split([' ', '(']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a text has a word that is no part of a longer one.
    fn has(text: &str, word: &str) -> bool {
        text.split(|c: char| !c.is_alphanumeric() && !"_$".contains(c)).any(|found| found == word)
    }

    #[test]
    fn files_import_only_what_files_above_them_export() {
        let modules: Vec<(&str, Module)> =
            FILES.iter().map(|(name, text)| (*name, Module::read(text))).collect();
        for (at, (name, module)) in modules.iter().enumerate() {
            for (names, file) in &module.imports {
                let above = modules[..at].iter().find(|(above, _)| above == file);
                let (_, above) = above.unwrap_or_else(|| panic!("{name}: {file} is not above it"));
                for import in names {
                    assert!(above.exports.contains(import), "{name}: {file} does not export {import}");
                    assert!(has(&module.body.join("\n"), import), "{name}: {import} is not used");
                }
            }
            for export in &module.exports {
                let is_wanted = |(_, other): &(&str, Module)| {
                    other.imports.iter().any(|(names, file)| file == name && names.contains(export))
                };
                assert!(modules.iter().any(is_wanted), "{name}: nothing imports {export}");
            }
            let left = module.body.iter().find(|line| line.starts_with("import "));
            assert_eq!(
                left, None,
                "{name}: an import is not of the form `import {{ a, b }} from \"./file.js\";`"
            );
            let exports = FILES[at].1.lines().filter(|line| line.starts_with("export ")).count();
            assert_eq!(
                module.exports.len(),
                exports,
                "{name}: an export is neither a function nor a constant"
            );
        }
    }

    #[test]
    fn modules_become_functions_that_return_what_they_export() {
        let text = "import { a, b } from \"./dom.js\";\nconst c = a;\nexport async function d(b) {\n}\nexport const e = 1;";
        let wanted = "const $x = (() => {\nconst { a, b } = $dom;\nconst c = a;\nasync function d(b) {\n}\nconst e = 1;\nreturn { d, e };\n})();\n";
        assert_eq!(Module::read(text).closed("x"), wanted);
    }
}
