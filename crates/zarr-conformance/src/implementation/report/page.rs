//! Results as one self-contained page.

use super::super::results::Results;
use super::About;

const TEMPLATE: &str = include_str!("page.html");
const DATA: &str = "{{data}}";

impl Results {
    /// Returns all results as an HTML page: implementations × features, down to each case.
    pub fn to_html(&self, about: &About) -> String {
        // Without "<" the data cannot end the HTML element that contains it.
        let data = self.to_json(about).to_string().replace('<', "\\u003c");
        TEMPLATE.replacen(DATA, &data, 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::implementation::Peer;

    #[test]
    fn texts_of_a_peer_cannot_become_markup() {
        let mut peer = Peer::new("p", ["p"]);
        peer.name = "</script><script>alert(1)</script>{{data}}".to_owned();
        let results =
            Results { peers: vec![peer], asked: Vec::new(), complete: true, entries: BTreeMap::new() };
        let page = results.to_html(&About::default());
        assert_eq!(page.matches("</script>").count(), TEMPLATE.matches("</script>").count());
        assert!(page.contains("\\u003c/script>"));
    }
}
