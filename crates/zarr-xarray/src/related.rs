//! Attributes that relate a variable to others: `bounds`, `grid_mapping`, `cell_measures` and more.
//!
//! Specification: CF 1.12, sections 5.6, 7 and 4.3.3, appendix A.

use std::collections::BTreeSet;

/// The attributes whose variables become coordinates with [`CoordinateNames::All`](crate::CoordinateNames::All). As in
/// xarray, `ancillary_variables` and `cell_methods` are not among them.
pub(crate) const RELATED: [&str; 10] = [
    "bounds",
    "grid_mapping",
    "climatology",
    "geometry",
    "node_coordinates",
    "node_count",
    "part_node_count",
    "interior_ring",
    "cell_measures",
    "formula_terms",
];

/// The names in an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RelatedNames {
    /// The names, each once.
    pub(crate) names: Vec<String>,
    /// Whether the number of names does not fit the form of the attribute.
    pub(crate) is_malformed: bool,
}

/// Returns the variables that an attribute of [`RELATED`] names. Returns `None` for an attribute with keys that begins
/// with another word.
///
/// `grid_mapping` is one name, or `name: coordinate …` repeated, where the keys are the names. `cell_measures` and
/// `formula_terms` are `key: name` repeated. All other attributes are lists of names.
pub(crate) fn related_names(attribute: &str, text: &str) -> Option<RelatedNames> {
    let text = text.replace(" :", ":");
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_key = |word: &&str| word.contains(':');
    let has_keys = ["grid_mapping", "cell_measures", "formula_terms"].contains(&attribute) && words.len() > 1;
    if has_keys && !is_key(&words[0]) {
        return None;
    }
    let keys = words.iter().filter(|word| is_key(word)).count();
    let (names, is_malformed): (Vec<&str>, bool) = match attribute {
        "grid_mapping" if has_keys => {
            (words.iter().filter(|word| is_key(word)).map(|word| word.trim_end_matches(':')).collect(), false)
        }
        _ if has_keys => {
            let names: Vec<&str> = words.iter().copied().filter(|word| !is_key(word)).collect();
            let is_malformed = names.len() != keys;
            (names, is_malformed)
        }
        _ => (words, false),
    };
    let mut seen = BTreeSet::new();
    let names = names.into_iter().filter(|name| seen.insert(*name)).map(str::to_owned).collect();
    Some(RelatedNames { names, is_malformed })
}
