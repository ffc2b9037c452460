//! Checks the dependencies between crates.

use anyhow::Result;

use super::Finding;
use crate::command::{cargo, output};
use crate::workspace::{Kind, Package, Workspace};

/// Runtimes for futures or threads. The user of an array may choose one.
const RUNTIMES: [&str; 8] =
    ["tokio", "async-std", "smol", "async-executor", "futures-executor", "pollster", "rayon", "rayon-core"];

/// Compressors, by the beginning of the name.
const COMPRESSORS: [&str; 17] = [
    "zstd",
    "flate2",
    "zlib-rs",
    "libz",
    "miniz_oxide",
    "libdeflate",
    "blosc",
    "lz4",
    "snap",
    "bzip2",
    "liblzma",
    "xz2",
    "zfp",
    "zrip",
    "lzma",
    "brotli",
    "pco",
];

/// The packages that zarr-store needs for ZIP archives, with a feature that is off by default.
const DEFLATE: [&str; 2] = ["flate2", "zlib-rs"];

/// The crates without runtimes and compressors, for any features.
const BARE: [&str; 8] = [
    "zarr-json",
    "zarr-strided",
    "zarr-number",
    "zarr-traits",
    "zarr-engine",
    "zarr-meta",
    "zarr-store",
    "zarr-store-fs",
];

/// Features of `serde_json` that change what it does, so for every crate of a program if one of them enables it.
const CHANGING: [&str; 4] = ["arbitrary_precision", "float_roundtrip", "preserve_order", "unbounded_depth"];

/// A program, as the packages and features that it names, and the most packages that it may compile.
struct Program {
    name: &'static str,
    packages: &'static [&'static str],
    features: &'static str,
    most: usize,
    compressors: bool,
}

/// Programs whose dependencies stay few. A program is not counted itself. Six packages of each are `thiserror` and what it
/// needs to derive (decision 0033).
const PROGRAMS: [Program; 3] = [
    Program {
        name: "zarr-array without default features",
        packages: &["zarr-array"],
        features: "",
        most: 21,
        compressors: false,
    },
    Program {
        name: "a program that reads arrays without compression from a directory",
        packages: &["zarr-array", "zarr-codecs-core", "zarr-store-fs"],
        features: "zarr-codecs-core/bytes",
        most: 27,
        compressors: false,
    },
    Program {
        name: "a program with the standard codecs and directories",
        packages: &["zarr-array", "zarr-store-fs"],
        features: "zarr-array/default,zarr-store-fs/default",
        most: 46,
        compressors: true,
    },
];

/// All rules over the graph.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = edges(workspace);
    findings.extend(foundations(workspace));
    findings.extend(forced(workspace));
    if workspace.packages.iter().any(|p| p.name == "zarr-array") {
        for program in &PROGRAMS {
            let mut tree =
                cargo(["tree", "--locked", "--no-default-features", "--edges=normal", "--prefix=none"]);
            tree.args(["--format={p}", "--target=x86_64-unknown-linux-gnu", "--features", program.features]);
            tree.args(program.packages.iter().flat_map(|package| ["-p", package]));
            findings.extend(small(program, &output(&mut tree)?));
        }
    }
    Ok(findings)
}

/// A forbidden dependency, and the reason.
struct Ban {
    from: fn(&Package) -> bool,
    to: fn(&str) -> bool,
    reason: &'static str,
}

const BANS: [Ban; 13] = [
    Ban {
        from: |p| p.name == "zarr-strided",
        to: |to| to.starts_with("zarr-"),
        reason: "zarr-strided has no Zarr in it",
    },
    Ban {
        from: |p| p.name == "zarr-json",
        to: |to| to.starts_with("zarr-"),
        reason: "zarr-json has no Zarr in it",
    },
    Ban {
        from: |p| {
            BARE.contains(&p.name.as_str()) || ["zarr-array", "zarr-hierarchy"].contains(&p.name.as_str())
        },
        to: |to| to == "serde_json",
        reason: "documents and configurations are values of zarr-json, and users have any serde (decision 0032)",
    },
    Ban {
        from: |p| p.name == "zarr-number",
        to: |to| to.starts_with("zarr-"),
        reason: "zarr-number has no Zarr in it",
    },
    Ban {
        from: |p| p.name == "zarr-traits",
        to: |to| to.starts_with("zarr-") && !["zarr-json", "zarr-strided", "zarr-number"].contains(&to),
        reason: "all crates depend on zarr-traits, so it depends only on zarr-json, zarr-strided and zarr-number (invariant 1)",
    },
    Ban {
        from: |p| p.name.starts_with("zarr-store"),
        to: |to| to == "zarr-engine",
        reason: "stores move bytes: chains, locks and gates belong to the engine (decision 0012)",
    },
    Ban {
        from: |p| p.name.starts_with("zarr-codec"),
        to: |to| to.starts_with("zarr-store"),
        reason: "codecs and stores do not know each other: the engine stands between them (design 3)",
    },
    Ban {
        from: |p| p.name.starts_with("zarr-store"),
        to: |to| to.starts_with("zarr-codec"),
        reason: "codecs and stores do not know each other: the engine stands between them (design 3)",
    },
    Ban {
        from: |p| p.name == "zarr-meta",
        to: |to| ["zarr-array", "zarr-hierarchy"].contains(&to) || to.starts_with("zarr-store"),
        reason: "documents are data: a linter needs only zarr-meta (design D4)",
    },
    Ban {
        from: |p| p.name == "zarr-codec-sharding",
        to: |to| to == "zarr-codecs-core",
        reason: "sharding knows no other codec: inner chains come from the registry (design 3)",
    },
    Ban {
        from: |p| BARE.contains(&p.name.as_str()),
        to: |to| RUNTIMES.contains(&to),
        reason: "futures complete on any executor, so this crate must not depend on one (design D2, invariant 3)",
    },
    Ban {
        from: |p| BARE.contains(&p.name.as_str()) && !p.name.starts_with("zarr-store"),
        to: is_compressor,
        reason: "no program compiles an unused compressor: compressors are in the codec crates (invariant 1)",
    },
    Ban {
        from: |p| ["zarr-store", "zarr-store-fs"].contains(&p.name.as_str()),
        to: |to| is_compressor(to) && !DEFLATE.contains(&to),
        reason: "a store may inflate members of ZIP archives, but needs no other compressor (invariant 1)",
    },
];

fn is_compressor(name: &str) -> bool {
    COMPRESSORS.iter().any(|c| name.starts_with(c))
}

fn edges(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        for ban in BANS.iter().filter(|ban| (ban.from)(package)) {
            let banned = workspace.needs.keys().filter(|name| (ban.to)(name) && **name != package.name);
            let shortest = banned.filter_map(|to| workspace.way(&package.name, to)).min_by_key(Vec::len);
            if let Some(way) = shortest {
                findings.push(Finding::error(
                    &*package.name,
                    "edge",
                    format!("{}: {}", way.join(" -> "), ban.reason),
                ));
            }
        }
        let private = |name: &str| workspace.packages.iter().any(|p| p.name == name && !p.published);
        for dependency in package.dependencies.iter().filter(|d| package.published && private(&d.name)) {
            let message = format!(
                "-> {}: a published crate cannot depend on an unpublished crate, not even for tests",
                dependency.name
            );
            findings.push(Finding::error(&*package.name, "edge", message));
        }
    }
    findings
}

/// Checks the exact dependencies of the two crates that are to be frozen first.
fn foundations(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let find = |name: &str| workspace.packages.iter().find(|p| p.name == name);
    let names = |p: &Package| {
        let mut names: Vec<String> =
            p.dependencies.iter().filter(|d| d.kind != Kind::Dev).map(|d| d.name.clone()).collect();
        names.sort_unstable();
        names
    };
    if let Some(traits) = find("zarr-traits") {
        let has = names(traits);
        if has != ["bytes", "thiserror", "zarr-json", "zarr-number", "zarr-strided"] {
            let message = format!(
                "depends on {}; it has exactly bytes, thiserror, zarr-json, zarr-number and zarr-strided, and stays \
                 small enough to freeze (invariant 1)",
                has.join(", ")
            );
            findings.push(Finding::error("zarr-traits", "dependencies", message));
        }
    }
    if find("zarr-store").is_some_and(|store| store.default_features.iter().any(|f| f == "zip")) {
        let message = "the feature `zip`, which brings a compressor, is on by default (invariant 1)";
        findings.push(Finding::error("zarr-store", "dependencies", message));
    }
    if let Some(strided) = find("zarr-strided") {
        let fixed = strided.dependencies.iter().filter(|d| d.kind != Kind::Dev && !d.optional);
        let fixed: Vec<_> = fixed.map(|d| d.name.as_str()).collect();
        if !fixed.is_empty() || !strided.default_features.is_empty() {
            let message = format!(
                "has {} and the default features [{}]; by default it has no dependencies at all (design 3)",
                if fixed.is_empty() { "no fixed dependencies".to_owned() } else { fixed.join(", ") },
                strided.default_features.join(", ")
            );
            findings.push(Finding::error("zarr-strided", "dependencies", message));
        }
    }
    findings
}

/// Finds features that a published crate would force on the programs of its users.
fn forced(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in workspace.published() {
        let json = package.dependencies.iter().filter(|d| d.kind != Kind::Dev && d.name == "serde_json");
        let features = json.flat_map(|d| &d.features).filter(|feature| CHANGING.contains(&feature.as_str()));
        findings.extend(features.map(|feature| {
            let message =
                format!("enables serde_json/{feature}, which changes the JSON of the user's whole program");
            Finding::error(&*package.name, "features", message)
        }));
    }
    findings
}

/// Checks the output of `cargo tree`, which has one package per line: `name version …`.
fn small(program: &Program, tree: &str) -> Vec<Finding> {
    let mut packages: Vec<&str> =
        tree.lines().map(|l| l.trim_end_matches(" (*)").trim()).filter(|l| !l.is_empty()).collect();
    packages.sort_unstable();
    packages.dedup();
    let Program { name, most, .. } = *program;
    let mut findings = Vec::new();
    if packages.len() > most {
        let message = format!("{name}: {} packages; at most {most} are promised", packages.len());
        findings.push(Finding::error("zarr-array", "small", message));
    }
    let names = packages.iter().map(|package| package.split(' ').next().unwrap_or_default());
    for package in names.filter(|package| !program.compressors && is_compressor(package)) {
        let message = format!("{name}: depends on {package}, but must have no compressor (design 3)");
        findings.push(Finding::error("zarr-array", "small", message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, dependencies: &[(&str, Kind)]) -> Package {
        let dependency = |&(name, kind): &(&str, Kind)| Dependency::of(name, kind);
        Package {
            name: name.to_owned(),
            dir: "/".into(),
            published: name.starts_with("zarr-"),
            library: true,
            dependencies: dependencies.iter().map(dependency).collect(),
            ..Package::default()
        }
    }

    fn workspace(packages: Vec<Package>, needs: &[(&str, &str)]) -> Workspace {
        let mut workspace = Workspace { packages, ..Workspace::default() };
        for (from, to) in needs {
            workspace.needs.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            workspace.needs.entry((*to).to_owned()).or_default();
        }
        workspace
    }

    #[test]
    fn forbidden_dependencies_are_found_also_if_indirect() {
        let w = workspace(
            vec![package("zarr-store-fs", &[]), package("zarr-codecs-core", &[])],
            &[
                ("zarr-store-fs", "middle"),
                ("middle", "zstd-sys"),
                ("middle", "rayon"),
                ("zarr-codecs-core", "zstd"),
            ],
        );
        let messages: Vec<_> = edges(&w).into_iter().map(|f| f.message).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].starts_with("zarr-store-fs -> middle -> rayon:"));
        assert!(messages[1].starts_with("zarr-store-fs -> middle -> zstd-sys:"));
    }

    #[test]
    fn private_packages_are_kept_out_of_published_packages() {
        let w = workspace(vec![package("zarr-array", &[("xtask", Kind::Dev)]), package("xtask", &[])], &[]);
        assert_eq!(edges(&w).len(), 1);
    }

    #[test]
    fn the_foundations_have_exact_dependencies() {
        let good = [
            ("zarr-strided", Kind::Normal),
            ("zarr-number", Kind::Normal),
            ("zarr-json", Kind::Normal),
            ("thiserror", Kind::Normal),
            ("bytes", Kind::Normal),
            ("proptest", Kind::Dev),
        ];
        let w = workspace(
            vec![package("zarr-traits", &good), package("zarr-strided", &[("proptest", Kind::Dev)])],
            &[],
        );
        assert_eq!(foundations(&w), []);
        let w = workspace(
            vec![package("zarr-traits", &good[1..]), package("zarr-strided", &[("bytes", Kind::Normal)])],
            &[],
        );
        assert_eq!(foundations(&w).len(), 2);
    }

    #[test]
    fn no_published_crate_changes_the_json_of_a_program() {
        let with = |name: &str, kind, feature: &str| {
            let mut package = package(name, &[("serde_json", kind)]);
            package.dependencies[0].features = vec!["std".to_owned(), feature.to_owned()];
            forced(&workspace(vec![package], &[])).len()
        };
        assert_eq!(with("zarr-array", Kind::Normal, "preserve_order"), 1);
        assert_eq!(with("zarr-array", Kind::Normal, "raw_value"), 0);
        assert_eq!(with("zarr-array", Kind::Dev, "preserve_order"), 0);
        assert_eq!(with("xtask", Kind::Normal, "preserve_order"), 0);
    }

    #[test]
    fn a_store_may_inflate_only_with_a_feature() {
        let mut store = package("zarr-store", &[]);
        let needs = [("zarr-store", "flate2"), ("flate2", "zlib-rs"), ("zarr-store", "zstd")];
        assert_eq!(edges(&workspace(vec![store.clone()], &needs[..2])), []);
        assert_eq!(edges(&workspace(vec![store.clone()], &needs)).len(), 1);
        assert_eq!(foundations(&workspace(vec![store.clone()], &[])), []);
        store.default_features.push("zip".to_owned());
        assert_eq!(foundations(&workspace(vec![store], &[])).len(), 1);
    }

    #[test]
    fn packages_are_counted_once() {
        let program = Program { most: 2, ..PROGRAMS[0] };
        let tree = "zarr-array v0.1.0 (/x)\nbytes v1\nbytes v1 (*)\n";
        assert_eq!(small(&program, tree), []);
        assert_eq!(small(&Program { most: 1, ..program }, tree).len(), 1);
        assert_eq!(small(&program, "zstd-sys v2\n").len(), 1);
        assert_eq!(small(&Program { compressors: true, ..program }, "zstd-sys v2\n"), []);
    }
}
