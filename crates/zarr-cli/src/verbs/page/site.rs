//! The files of the page. They hold no text of a store: the script puts that into text nodes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use zarr_array::meta::json::Object;

use super::script::script;

pub(crate) const CSS: &str = include_str!("page.css");
const HTML: &str = include_str!("page.html");

/// The place in the page for the style and the script.
const HEAD: &str = "<!--head-->";

/// Returns the page of a server, which loads style, script and answers beside it.
#[cfg(feature = "serve")]
pub(crate) fn html() -> String {
    HTML.replace(HEAD, "<link rel=\"stylesheet\" href=\"page.css\"><script src=\"page.js\" defer></script>")
}

/// Returns the page as one file with all answers in it. It loads nothing, and runs no script but its own.
pub(crate) fn alone(answers: &Object) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let script = format!("\n{}", script());
    let style = format!("\n{CSS}");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    // In a script element `<` could begin its end.
    let answers = answers.to_value().to_compact().replace('<', "\\u003c");
    let head = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><style>{style}</style>\
         <script type=\"application/json\" id=\"answers\">{answers}</script>"
    );
    // The script comes last: it has no `defer` of its own.
    HTML.replace(HEAD, &head).replace("</body>", &format!("<script>{script}</script></body>"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::json;

    #[test]
    fn stored_text_cannot_end_the_script() {
        let page = alone(&json::object([("name", "</script><script>alert(1)</script><!--".into())]));
        assert!(!page.contains("<script>alert") && page.contains("\\u003c/script>"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn the_page_names_nothing_outside() {
        for text in [HTML, CSS, script()] {
            assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("innerHTML"));
        }
    }
}
