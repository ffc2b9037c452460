//! `cargo xtask full --only versions`: extensions of third parties keep working when the crates above the traits have a new
//! version, and are refused with a clear message when the traits do.
//!
//! The codec, the data type and the store of `examples/` are copied to where they know only the traits and what these need.
//! The other crates are copied with the next version that may break. One program uses all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, output, root, run as start, shown, target_dir};
use crate::workspace::{Kind, Package, Workspace};

/// The examples, by their folders.
const EXAMPLES: [&str; 3] = ["codec-snappy", "decimal", "store-tar"];

/// The program that uses them.
const PROGRAM: &str = "xtask/testdata/versions/main.rs";

/// What rustc says of a codec that was built against other traits.
const CLEAR: [&str; 2] = ["error[E0308]", "multiple different versions of crate `zarr_traits`"];

/// Builds and runs the extensions with newer crates, then builds one with newer traits.
pub(crate) fn check() -> Result<()> {
    let workspace = Workspace::load()?;
    let world = World::lay(&workspace)?;
    let versions = world.run_with_newer_crates()?;
    println!("{versions}");
    world.refuses_other_traits()
}

/// A workspace of copies beside this one.
struct World {
    folder: PathBuf,
    /// The version of the traits, as they are.
    traits: String,
    /// The next version of the crates above them, which these copies have.
    newer: String,
}

impl World {
    fn lay(workspace: &Workspace) -> Result<Self> {
        let version = |name: &str| {
            let package = workspace.find(name).with_context(|| format!("there is no crate {name}"))?;
            Ok::<_, anyhow::Error>(package.version.clone())
        };
        let (traits, array) = (version("zarr-traits")?, version("zarr-array")?);
        let folder = target_dir().join("versions");
        let _ = fs::remove_dir_all(&folder);
        let world = Self { folder, traits, newer: next(&array)? };
        let put = |file: &str, text: &str| {
            let path = world.folder.join(file);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(&path, text).with_context(|| path.display().to_string())
        };

        let of_traits: Vec<&str> = workspace.traits().iter().map(|p| p.name.as_str()).collect();
        put("Cargo.toml", &world.manifest(&read("Cargo.toml")?, &of_traits))?;
        put("Cargo.lock", &read("Cargo.lock")?)?;
        for package in workspace.published().filter(|p| !of_traits.contains(&p.name.as_str())) {
            copy(&package.dir, &world.folder.join("crates").join(&package.name))?;
        }
        for example in EXAMPLES {
            let name = knows_only(workspace, example, &of_traits)?;
            let from = root().join("examples").join(example);
            copy(&from.join("src"), &world.folder.join(example).join("src"))?;
            let manifest = read(&format!("examples/{example}/Cargo.toml"))?;
            put(&format!("{example}/Cargo.toml"), &outside(&manifest, &root().join("crates")))?;
            println!("{name}: built against {} alone", of_traits.join(", "));
        }
        put("program/src/main.rs", &read(PROGRAM)?)?;
        put("program/Cargo.toml", &program())?;

        // The other way: newer traits, and a codec that was built against them.
        let other = next(&world.traits)?;
        let manifest = read("crates/zarr-traits/Cargo.toml")?;
        copy(&root().join("crates/zarr-traits"), &world.folder.join("other/zarr-traits"))?;
        put("other/zarr-traits/Cargo.toml", &manifest.replacen(&line(&world.traits), &line(&other), 1))?;
        let codec = EXAMPLES[0];
        copy(&root().join("examples").join(codec).join("src"), &world.folder.join("other/codec/src"))?;
        let manifest = outside(&read(&format!("examples/{codec}/Cargo.toml"))?, &world.folder.join("other"));
        let manifest = manifest.replacen("name = \"example-codec-snappy\"", "name = \"codec-of-others\"", 1);
        put("other/codec/Cargo.toml", &manifest.replacen(&required(&world.traits), &required(&other), 1))?;
        put("refused/Cargo.toml", &refused())?;
        put(
            "refused/src/main.rs",
            "fn main() {\n    let _ = zarr_traits::Registry::core().with(codec_of_others::CODECS);\n}\n",
        )?;
        Ok(world)
    }

    /// Returns the manifest of the copies: the traits are those of this workspace, the others have the newer version.
    fn manifest(&self, manifest: &str, of_traits: &[&str]) -> String {
        let here = slashes(&root());
        let lines = manifest.lines().filter(|line| !line.starts_with("default-members"));
        let lines = lines.map(|line| {
            let name = line.split(' ').next().unwrap_or_default();
            if line.starts_with("members = ") {
                let members = EXAMPLES.map(|example| format!("\"{example}\""));
                return format!(
                    "members = [\"crates/*\", {}, \"program\", \"other/*\", \"refused\"]",
                    members.join(", ")
                );
            }
            if line.starts_with("version = ") {
                return format!("version = \"{}\"", self.newer);
            }
            if of_traits.contains(&name) {
                return line.replace("path = \"", &format!("path = \"{here}/"));
            }
            match line.split_once("{ version = \"").and_then(|(_, rest)| rest.split_once('"')) {
                Some((old, _)) if line.contains("path = \"crates/") => {
                    line.replacen(&required(old), &required(&self.newer), 1)
                }
                _ => line.to_owned(),
            }
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// Runs the program. Returns the versions that it was built with.
    fn run_with_newer_crates(&self) -> Result<String> {
        let manifest = self.folder.join("program/Cargo.toml");
        let mut run = cargo(["run", "--quiet", "--manifest-path"]);
        start(run.arg(&manifest).env("CARGO_TARGET_DIR", target()))?;
        let mut tree = cargo(["tree", "--edges=normal", "--prefix=none", "--format={p}", "--manifest-path"]);
        let tree = output(tree.arg(&manifest))?;
        let mut ours: Vec<&str> = tree.lines().filter(|line| line.starts_with("zarr-")).collect();
        let version = |line: &&str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        ours.sort_unstable();
        let mut ours: Vec<String> = ours.iter().map(version).collect();
        ours.dedup();
        let expected = [format!("zarr-traits v{}", self.traits), format!("zarr-array v{}", self.newer)];
        let traits = ours.iter().filter(|line| line.starts_with("zarr-traits ")).count();
        if traits != 1 || !expected.iter().all(|line| ours.contains(line)) {
            bail!("built with {}, expected {} and no other traits", ours.join(", "), expected.join(", "));
        }
        Ok(ours.join(", "))
    }

    /// Fails unless rustc refuses the codec of other traits, with a message that names the crate.
    fn refuses_other_traits(&self) -> Result<()> {
        let mut check = cargo(["check", "--quiet", "--manifest-path"]);
        check.arg(self.folder.join("refused/Cargo.toml")).env("CARGO_TARGET_DIR", target());
        println!("$ {}", shown(&check));
        let done = check.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        if done.status.success() || !CLEAR.iter().all(|words| said.contains(words)) {
            bail!("a codec built against other traits must be refused with {:?}, found:\n{said}", CLEAR);
        }
        println!("refused, as it must be:\n{}", said.trim_end());
        Ok(())
    }
}

/// Returns the name of the package of an example, which needs no crate of ours but the traits and what these need.
fn knows_only(workspace: &Workspace, example: &str, of_traits: &[&str]) -> Result<String> {
    let folder = root().join("examples").join(example);
    let is_it = |package: &&Package| package.dir == folder;
    let package =
        workspace.packages.iter().find(is_it).with_context(|| format!("there is no example {example}"))?;
    for needed in package.dependencies.iter().filter(|d| d.kind != Kind::Dev) {
        if workspace.find(&needed.name).is_some() && !of_traits.contains(&needed.name.as_str()) {
            bail!("{} needs {}: an extension needs the traits alone", package.name, needed.name);
        }
    }
    Ok(package.name.clone())
}

/// Returns the next version that may break users of this one.
fn next(version: &str) -> Result<String> {
    let numbers: Vec<u64> = version.split('.').map(str::parse).collect::<Result<_, _>>()?;
    match numbers[..] {
        [0, minor, _] => Ok(format!("0.{}.0", minor + 1)),
        [major, _, _] => Ok(format!("{}.0.0", major + 1)),
        _ => bail!("{version:?} is not a version of three numbers"),
    }
}

/// Returns the manifest of an example for another place: without what only its tests need.
fn outside(manifest: &str, crates: &Path) -> String {
    let manifest = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    manifest.replace("../../crates", &slashes(crates))
}

/// Returns the manifest of the program.
fn program() -> String {
    let examples = [("example-codec-snappy", 0), ("example-decimal", 1), ("example-store-tar", 2)];
    let examples = examples.map(|(name, at)| format!("{name} = {{ path = \"../{}\" }}\n", EXAMPLES[at]));
    format!(
        "[package]\nname = \"program\"\nedition = \"2024\"\n\n[dependencies]\n{}tar.workspace = true\n\
         zarr-array.workspace = true\nzarr-codecs-core = {{ workspace = true, features = [\"bytes\"] }}\n\
         zarr-store.workspace = true\n",
        examples.concat()
    )
}

/// Returns the manifest of the program that must not compile.
fn refused() -> String {
    "[package]\nname = \"refused\"\nedition = \"2024\"\n\n[dependencies]\ncodec-of-others = { path = \"../other/codec\" }\n\
     zarr-traits.workspace = true\n"
        .to_owned()
}

fn line(version: &str) -> String {
    format!("version = \"{version}\"")
}

fn required(version: &str) -> String {
    format!("{{ version = \"{version}\"")
}

/// Returns the target folder, which the step `outside` has, too.
fn target() -> PathBuf {
    target_dir().join("examples")
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(root().join(file)).with_context(|| file.to_owned())
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to).with_context(|| to.display().to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_version_may_break() {
        for (version, expected) in [("0.1.7", "0.2.0"), ("1.4.2", "2.0.0")] {
            assert_eq!(next(version).unwrap(), expected);
        }
        assert!(next("1.0").is_err());
    }

    #[test]
    fn copies_have_the_newer_version_and_the_traits_stay() {
        let world = World { folder: "/x".into(), traits: "0.1.0".to_owned(), newer: "0.2.0".to_owned() };
        let text = "members = []\ndefault-members = []\nversion = \"0.1.0\"\n\
                    zarr-traits = { version = \"0.1.0\", path = \"crates/zarr-traits\" }\n\
                    zarr-array = { version = \"0.1.0\", path = \"crates/zarr-array\", default-features = false }\n\
                    half = { version = \"0.1.0\" }\n";
        let changed = world.manifest(text, &["zarr-traits"]);
        let lines: Vec<&str> = changed.lines().skip(1).collect();
        let here = slashes(&root());
        assert_eq!(lines[0], "version = \"0.2.0\"");
        assert_eq!(
            lines[1],
            format!("zarr-traits = {{ version = \"0.1.0\", path = \"{here}/crates/zarr-traits\" }}")
        );
        assert_eq!(
            lines[2],
            "zarr-array = { version = \"0.2.0\", path = \"crates/zarr-array\", default-features = false }"
        );
        assert_eq!(lines[3], "half = { version = \"0.1.0\" }");
    }
}
