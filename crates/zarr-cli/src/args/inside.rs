//! Paths behind the adapters of references: `a.json|kerchunk:t2m` names the node `t2m` of the hierarchy in `a.json`.

use zarr_store::split_adapters;

/// Returns the URL with the path behind its last adapter as that of a node: `STORE|kerchunk:|zarr:PATH`. Returns `None` for
/// another adapter, whose path need not be in a hierarchy, and without a path.
pub(crate) fn url(url: &str) -> Option<String> {
    let (_, adapters) = split_adapters(url);
    let (name, path) = adapters.rsplit_once('|')?.1.split_once(':')?;
    let start = match &*name.to_ascii_lowercase() {
        "kerchunk" => 0,
        // The name of a branch, a tag or a snapshot is before the path.
        "icechunk" if path.starts_with('@') => path.find('/')?,
        "icechunk" => 0,
        _ => return None,
    };
    let path = &path[start..];
    let (store, path) = (&url[..url.len() - path.len()], path.trim_matches('/'));
    (!path.is_empty()).then(|| format!("{store}|zarr:{path}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_path_behind_an_adapter_of_references_names_a_node() {
        for (given, named) in [
            ("a.json|kerchunk:t2m", Some("a.json|kerchunk:|zarr:t2m")),
            ("s3://b/a.json|Kerchunk:/a/t2m/", Some("s3://b/a.json|Kerchunk:|zarr:a/t2m")),
            ("r.zip|zip:a.json|kerchunk:t2m", Some("r.zip|zip:a.json|kerchunk:|zarr:t2m")),
            ("repo|icechunk:t2m", Some("repo|icechunk:|zarr:t2m")),
            ("repo|icechunk:@tag.v1.0/a/t2m", Some("repo|icechunk:@tag.v1.0|zarr:a/t2m")),
            ("repo|icechunk:@branch.main", None),
            ("repo|icechunk:@branch.main/", None),
            ("repo|icechunk:", None),
            ("a.json|kerchunk:/", None),
            // What is behind the format is the node, and what is before it the store.
            ("a.json|kerchunk:a|zarr3:t2m", None),
            ("a.zip|zip:t2m", None),
            ("a.zarr", None),
        ] {
            assert_eq!(super::url(given).as_deref(), named, "{given}");
        }
    }
}
