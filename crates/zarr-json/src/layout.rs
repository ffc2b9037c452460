//! White space: the same tokens on one line, or with one member on each line.

use crate::split::{space, string};

/// The indentation of a value in several lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Indent<'a> {
    /// The text in front of every line but the first.
    pub(crate) base: &'a str,
    /// The additional text for each level.
    pub(crate) unit: &'a str,
}

/// Appends the tokens of `text` without white space.
pub(crate) fn compact(text: &str, out: &mut String) {
    lay(text, None, out);
}

/// Appends the tokens of `text`, each member and each element on its own line.
pub(crate) fn pretty(text: &str, indent: Indent<'_>, out: &mut String) {
    lay(text, Some(indent), out);
}

fn lay(text: &str, indent: Option<Indent<'_>>, out: &mut String) {
    let bytes = text.as_bytes();
    let mut level = 0usize;
    let mut at = space(bytes, 0);
    let line = |level: usize, out: &mut String| {
        if let Some(Indent { base, unit }) = indent {
            out.push('\n');
            out.push_str(base);
            (0..level).for_each(|_| out.push_str(unit));
        }
    };
    while let Some(b) = bytes.get(at) {
        let start = at;
        at = if *b == b'"' { string(bytes, at) } else { at + 1 };
        match b {
            b'{' | b'[' => {
                out.push_str(&text[start..at]);
                at = space(bytes, at);
                if let Some(b'}' | b']') = bytes.get(at) {
                    out.push_str(&text[at..=at]);
                    at += 1;
                } else {
                    level += 1;
                    line(level, out);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                line(level, out);
                out.push_str(&text[start..at]);
            }
            b',' => {
                out.push(',');
                line(level, out);
            }
            b':' => out.push_str(if indent.is_some() { ": " } else { ":" }),
            b'"' => out.push_str(&text[start..at]),
            // A number or a word, up to the next delimiter.
            _ => {
                while !matches!(bytes.get(at), None | Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t'))
                {
                    at += 1;
                }
                out.push_str(&text[start..at]);
            }
        }
        at = space(bytes, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_keep_the_tokens() {
        let text = " { \"a\" : [ 1.50 , { } , [ ] , \"x , y\" ] ,\"b\":{\"c\":NaN}} ";
        let mut one = String::new();
        compact(text, &mut one);
        assert_eq!(one, r#"{"a":[1.50,{},[],"x , y"],"b":{"c":NaN}}"#);
        let mut many = String::new();
        pretty(text, Indent { base: "", unit: "  " }, &mut many);
        assert_eq!(
            many,
            "{\n  \"a\": [\n    1.50,\n    {},\n    [],\n    \"x , y\"\n  ],\n  \"b\": {\n    \"c\": NaN\n  }\n}"
        );
        let mut again = String::new();
        compact(&many, &mut again);
        assert_eq!(again, one);
    }
}
