//! Documents of the specifications and their judgement, and those of this project.

use super::*;

/// Returns the rows of a fixture.
pub(super) fn rows(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Returns the findings of a profile that are errors, and those that are warnings.
fn judged(nodes: &Value, profile: Profile) -> [Vec<String>; 2] {
    let found = hierarchy(nodes).check(&[profile]);
    [Severity::Error, Severity::Warning].map(|severity| {
        let of = found.iter().filter(|found| found.severity == severity);
        of.map(|found| format!("{} {}", found.path, found.finding)).collect()
    })
}

#[test]
fn registered_conventions_are_judged_as_their_specifications_say() {
    for row in rows("conventions.json") {
        let document = &row["document"];
        let mut nodes = json!({ "/": { "attributes": document["attributes"] } });
        let array = json!({ "shape": [1, 1], "dimension_names": ["y", "x"] });
        if document["node_type"] == "array" {
            nodes = json!({ "/": root(), "/a": array });
            nodes["/a"]["attributes"] = document["attributes"].clone();
        }
        let layout = document["attributes"]["multiscales"]["layout"].as_array().cloned().unwrap_or_default();
        for asset in layout.iter().filter_map(|level| level["asset"].as_str()) {
            let path = format!("/{}", asset.trim_matches('/'));
            if path != "/" && !asset.contains("..") {
                let group = &path[..path.rfind('/').unwrap()];
                if !group.is_empty() {
                    nodes[group] = json!({});
                }
                nodes[path] = array.clone();
            }
        }
        let [errors, warnings] = judged(&nodes, Geozarr);
        let of_form = |found: &&String| !found.contains("XV013");
        let warnings: Vec<&String> = warnings.iter().filter(of_form).collect();
        assert_eq!(errors.is_empty(), row["valid"], "{}: {errors:?}", row["name"]);
        assert_eq!(warnings.is_empty(), row["name"] != "identity-twice", "{}: {warnings:?}", row["name"]);
    }
}
