//! Results as one page that needs nothing else.

use super::super::results::Results;
use super::About;

const TEMPLATE: &str = include_str!("page.html");
const DATA: &str = "{{data}}";

impl Results {
    /// All of it as a page of HTML: implementations × features, down to each case.
    pub fn to_html(&self, about: &About) -> String {
        // Nothing in the data can end the element of the page that holds it.
        let data = self.to_json(about).to_string().replace('<', "\\u003c");
        TEMPLATE.replacen(DATA, &data, 1)
    }
}
