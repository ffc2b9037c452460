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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::implementation::Peer;

    #[test]
    fn what_a_peer_says_cannot_leave_its_place() {
        let mut peer = Peer::new("p", ["p"]);
        peer.name = "</script><script>alert(1)</script>{{data}}".to_owned();
        let results =
            Results { peers: vec![peer], asked: Vec::new(), complete: true, entries: BTreeMap::new() };
        let page = results.to_html(&About::default());
        assert_eq!(page.matches("</script>").count(), TEMPLATE.matches("</script>").count());
        assert!(page.contains("\\u003c/script>"));
    }
}
