//! Selects the nodes to copy.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{CopyError, CopyResult};

/// Patterns of paths below the source. A pattern that matches a group matches everything in it.
#[derive(Debug)]
pub(crate) struct Filter {
    /// `None` takes everything.
    include: Option<GlobSet>,
    exclude: GlobSet,
    /// Whether a pattern of `include` has a comma, which many users take for a separator.
    has_comma: bool,
}

impl Filter {
    pub(crate) fn new(include: &[String], exclude: &[String]) -> CopyResult<Self> {
        let has_comma = include.iter().any(|pattern| pattern.contains(','));
        let include = if include.is_empty() { None } else { Some(set(include)?) };
        Ok(Self { include, exclude: set(exclude)?, has_comma })
    }

    pub(crate) fn has_comma(&self) -> bool {
        self.has_comma
    }

    /// Whether only some nodes are included.
    pub(crate) fn is_choice(&self) -> bool {
        self.include.is_some()
    }

    /// Whether the node at a path below the source is copied. The source itself always is.
    pub(crate) fn takes(&self, below: &str) -> bool {
        let path = below.trim_end_matches('/');
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let groups: Vec<&str> = ends.map(|end| &path[..end]).collect();
        let fits = |set: &GlobSet| groups.iter().any(|group| set.is_match(group));
        path.is_empty() || self.include.as_ref().is_none_or(fits) && !fits(&self.exclude)
    }
}

fn set(patterns: &[String]) -> CopyResult<GlobSet> {
    let wrong = |e: globset::Error| CopyError::settings(format!("`include`, `exclude`: {e}"));
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let pattern = pattern.trim_matches('/');
        set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(wrong)?);
    }
    set.build().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_nodes_and_everything_below_them() {
        let taken = |include: &[&str], exclude: &[&str]| {
            let strings = |list: &[&str]| list.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
            let filter = Filter::new(&strings(include), &strings(exclude)).unwrap();
            let all = ["", "a/", "a/t2m/", "a/b/", "a/b/t2m/", "c/"];
            all.into_iter().filter(|path| filter.takes(path)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(taken(&[], &[]), " a/ a/t2m/ a/b/ a/b/t2m/ c/");
        assert_eq!(taken(&["a/b"], &[]), " a/b/ a/b/t2m/");
        assert_eq!(taken(&["*/t2m"], &[]), " a/t2m/", "a star stays within a name");
        assert_eq!(taken(&["**/t2m"], &[]), " a/t2m/ a/b/t2m/");
        assert_eq!(taken(&["/a/"], &["a/b/*"]), " a/ a/t2m/ a/b/");
        assert_eq!(taken(&[], &["{a,c}"]), "");
        assert!(Filter::new(&["a[".to_owned()], &[]).is_err());
    }
}
