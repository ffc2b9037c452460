//! What `zarr info` says of the Icechunk repository in which a node is.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use zarr_array::meta::json::{Object, Value};
use zarr_array::traits::{Prefix, StoreError, StoreResult};
use zarr_array::{Storage, block_on};
use zarr_store::{PathEncoding, Target, Targets};
use zarr_store_icechunk::{Contents, Ref, SnapshotId, SnapshotInfo, VirtualChunkContainer};
use zarr_xarray::{Calendar, DateTime};

use crate::args::stores::Stores;
use crate::exit::{Failure, say};
use crate::out::json;
use crate::out::table::Table;

/// The largest number of branches, tags or containers in the text.
const MOST: usize = 20;

/// A repository, and the state of it that is read. What cannot be read has the reason in its place.
pub(super) struct RepositoryInfo {
    spec_version: u8,
    at: Ref,
    snapshot: Known<SnapshotInfo>,
    branches: Known<BTreeMap<String, SnapshotId>>,
    tags: Known<BTreeMap<String, SnapshotId>>,
    containers: Known<Vec<Container>>,
}

type Known<T> = Result<T, String>;

struct Container {
    container: VirtualChunkContainer,
    allowed: Allowed,
}

/// How much of a container references may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Allowed {
    All,
    Part,
    Nothing,
}

/// A state of a repository that a URL names.
pub(super) struct Opened {
    pub(super) repository: RepositoryInfo,
    /// What is below the path behind the adapter.
    pub(super) storage: Storage,
    below: Prefix,
}

impl Opened {
    /// Opens the repository of a URL with the adapter `icechunk`. Returns `None` for another path or URL, and if the
    /// repository cannot be described.
    pub(super) fn of(given: &Path, stores: &Stores) -> Result<Option<Self>, Failure> {
        let Some(url) = stores.url(given) else { return Ok(None) };
        let Some((repository, at, below)) = stores.repository(&url)? else { return Ok(None) };
        let contents = match block_on(repository.contents()) {
            Ok(contents) => contents,
            Err(e) => {
                // A snapshot that is named by its id is read without this file. Others have this error when they are opened.
                if let Ref::Snapshot(_) = at {
                    let why = Failure::from(e);
                    say(&format!("note: the repository is not described: {}", why.message()));
                }
                return Ok(None);
            }
        };
        let storage = stores.open_state(&url, &contents, &at, &below)?;
        let repository = block_on(RepositoryInfo::read(&contents, at, stores.targets()));
        Ok(Some(Self { repository, storage, below }))
    }

    /// Whether the snapshot has no nodes.
    pub(super) fn is_empty(&self) -> Result<bool, Failure> {
        if !self.below.is_root() {
            return Ok(false);
        }
        let dir = block_on(self.storage.list_dir(&Prefix::root()))?;
        Ok(dir.objects.is_empty() && dir.prefixes.is_empty())
    }
}

impl RepositoryInfo {
    async fn read(contents: &Contents, at: Ref, targets: &Targets) -> Self {
        let snapshot = async {
            let id = contents.snapshot(&at).await?;
            contents.ancestry(id, 1).await
        };
        let containers = contents.virtual_chunk_containers().await.map(|containers| {
            let allowed = |container| Container { allowed: Allowed::of(&container, targets), container };
            containers.into_iter().map(allowed).collect()
        });
        let none = || "it is not known".to_owned();
        Self {
            spec_version: contents.spec_version(),
            snapshot: known(snapshot.await).and_then(|mut found| found.pop().ok_or_else(none)),
            branches: known(contents.branches().await),
            tags: known(contents.tags().await),
            containers: known(containers),
            at,
        }
    }

    /// Returns the lines of the text.
    pub(super) fn page(&self) -> String {
        let mut table = Table::default();
        match &self.snapshot {
            Ok(snapshot) => {
                table.row(["snapshot", &snapshot.id.to_string(), &time(snapshot), &snapshot.message]);
            }
            Err(why) => table.row(["snapshot", &unknown(why)]),
        }
        let mut text =
            format!("repository, Icechunk specification {}\n{}", self.spec_version, table.to_text("  "));
        let mut table = Table::default();
        // As wide as "snapshot" above.
        for (what, cell, names) in [("branch", "branch  ", &self.branches), ("tag", "tag     ", &self.tags)] {
            match names {
                Ok(names) => {
                    for (name, id) in names.iter().take(MOST) {
                        let is_read = self.at.to_string() == format!("{what}.{name}");
                        table.row([cell, &id.to_string(), name, if is_read { "(read)" } else { "" }]);
                    }
                    more(names.len(), cell, &mut table);
                }
                Err(why) => table.row([cell, &unknown(why)]),
            }
        }
        text += &table.to_text("  ");
        let mut table = Table::default();
        match &self.containers {
            Ok(containers) => {
                for Container { container, allowed } in containers.iter().take(MOST) {
                    let name = container.name.as_deref().unwrap_or_default();
                    table.row([&zarr_store::redacted(&container.url_prefix), name, allowed.to_text()]);
                }
                more(containers.len(), "container", &mut table);
            }
            Err(why) => table.row([&unknown(why)]),
        }
        let places = table.to_text("  ");
        if !places.is_empty() {
            text += &format!("virtual chunks\n{places}");
        }
        text
    }

    pub(super) fn to_json(&self) -> Value {
        let mut repository = json::object([
            ("format", "icechunk".into()),
            ("spec_version", u64::from(self.spec_version).into()),
            ("ref", self.at.to_string().into()),
        ]);
        let mut put = |name: &str, value: Known<Value>| match value {
            Ok(value) => repository.set(name, value),
            Err(why) => {
                repository.set(name, Value::null());
                repository.set(&format!("{name}_unknown_because"), why);
            }
        };
        put("snapshot", self.snapshot.as_ref().map(snapshot_json).map_err(Clone::clone));
        put("branches", self.branches.as_ref().map(names_json).map_err(Clone::clone));
        put("tags", self.tags.as_ref().map(names_json).map_err(Clone::clone));
        let containers = self.containers.as_ref().map(|all| all.iter().map(Container::to_json).collect());
        put("virtual_chunk_containers", containers.map_err(Clone::clone));
        repository.into()
    }
}

fn known<T>(read: StoreResult<T>) -> Known<T> {
    read.map_err(|e: StoreError| Failure::from(e).message().to_owned())
}

fn unknown(why: &str) -> String {
    format!("unknown: {why}")
}

/// Adds a row with the number of what is not shown.
fn more(count: usize, what: &str, table: &mut Table) {
    if count > MOST {
        table.row([what, &format!("and {} more, which `--json` has", count - MOST)]);
    }
}

/// Returns the time of a snapshot, in UTC.
fn time(snapshot: &SnapshotInfo) -> String {
    let nanoseconds = snapshot.time.duration_since(UNIX_EPOCH).ok();
    let nanoseconds = nanoseconds.and_then(|since| i128::try_from(since.as_nanos()).ok());
    let time = nanoseconds.and_then(|since| DateTime::from_nanoseconds(Calendar::ProlepticGregorian, since));
    let Some(DateTime { date, hour, minute, second, nanosecond }) = time else {
        return "at no time".to_owned();
    };
    let fraction = match nanosecond / 1000 {
        0 => String::new(),
        micros if micros % 1000 == 0 => format!(".{:03}", micros / 1000),
        micros => format!(".{micros:06}"),
    };
    format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

fn snapshot_json(snapshot: &SnapshotInfo) -> Value {
    let object = json::object([
        ("id", snapshot.id.to_string().into()),
        ("parent", snapshot.parent.map(|id| id.to_string()).into()),
        ("time", time(snapshot).into()),
        ("message", (&snapshot.message).into()),
    ]);
    object.into()
}

fn names_json(names: &BTreeMap<String, SnapshotId>) -> Value {
    let mut object = Object::new();
    for (name, id) in names {
        object.set(name, id.to_string());
    }
    object.into()
}

impl Container {
    fn to_json(&self) -> Value {
        let object = json::object([
            ("name", self.container.name.as_deref().into()),
            ("url_prefix", zarr_store::redacted(&self.container.url_prefix).into()),
            ("allowed", self.allowed.name().into()),
        ]);
        object.into()
    }
}

impl Allowed {
    fn of(container: &VirtualChunkContainer, targets: &Targets) -> Self {
        let named = container.name.as_ref().map(|name| format!("vcc://{name}/"));
        let places = [Some(&container.url_prefix), named.as_ref()].into_iter().flatten();
        let places = places.filter_map(|place| Target::parse(place, PathEncoding::Percent).ok());
        let found = places.map(|place| match () {
            () if targets.allows(&place) => Self::All,
            () if targets.allows_below(&place) => Self::Part,
            () => Self::Nothing,
        });
        found.min_by_key(|allowed| *allowed as u8).unwrap_or(Self::Nothing)
    }

    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Part => "part",
            Self::Nothing => "nothing",
        }
    }

    fn to_text(self) -> &'static str {
        match self {
            Self::All => "allowed",
            Self::Part => "a part is allowed",
            Self::Nothing => "not allowed: `--allow-references` allows it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_some_names_and_the_reasons_for_what_is_unknown() {
        let id: SnapshotId = "1CECHNKREP0F1RSTCMT0".parse().unwrap();
        let names = (0..MOST + 5).map(|number| (format!("n{number:02}"), id));
        let info = RepositoryInfo {
            spec_version: 1,
            at: Ref::Branch("n00".to_owned()),
            snapshot: Err("no\nsnapshot".to_owned()),
            branches: Ok(names.collect()),
            tags: Err("no listing".to_owned()),
            containers: Ok(Vec::new()),
        };
        let page = info.page();
        let lines: Vec<_> = page.lines().collect();
        assert_eq!(
            lines[..3],
            [
                "repository, Icechunk specification 1",
                "  snapshot  unknown: no\\nsnapshot",
                "  branch    1CECHNKREP0F1RSTCMT0            n00  (read)"
            ]
        );
        assert_eq!(lines.len(), 3 + MOST - 1 + 2, "{page}");
        assert!(page.contains("  branch    and 5 more, which `--json` has\n"), "{page}");
        assert!(page.ends_with("  tag       unknown: no listing\n"), "{page}");
        let json = info.to_json();
        assert!(json.get("snapshot").unwrap().is_null());
        assert_eq!(json.get("tags_unknown_because").unwrap().as_text().as_deref(), Some("no listing"));
        assert_eq!(json.get("branches").unwrap().as_object().unwrap().members().count(), MOST + 5);
    }
}
