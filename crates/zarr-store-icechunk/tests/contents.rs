//! What a repository holds: branches, tags, history and containers of virtual chunks.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use zarr_conformance::instruments::Counting;
use zarr_store::{Access, MemoryStore, Schemes, Targets};
use zarr_store_fs::FsStore;
use zarr_store_icechunk::{IcechunkLimits, Ref, Repository, SnapshotId};
use zarr_traits::store::{Answer, Capabilities, Op, Store};
use zarr_traits::{BoxFuture, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, block_on};

use crate::build::{Flat, Parts, SNAPSHOT, SNAPSHOT_ID, bytes, number, stored, table};
use crate::cases::{archive, copied};
use crate::hostile::{Change, inflated, key, shown};

/// Everything that a repository holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Held {
    branches: BTreeMap<String, SnapshotId>,
    tags: BTreeMap<String, SnapshotId>,
    /// The messages of the branch `main`, the newest first.
    messages: Vec<String>,
    containers: Vec<(Option<String>, String)>,
}

fn held_with(storage: &Storage, root: &str, limits: IcechunkLimits) -> StoreResult<Held> {
    let repository = Repository::new(storage, Prefix::new(root)?).limits(limits);
    block_on(async {
        let contents = repository.contents().await?;
        let main = contents.snapshot(&Ref::default()).await?;
        let history = contents.ancestry(main, 100).await?;
        for (newer, older) in history.iter().zip(&history[1..]) {
            assert_eq!(newer.parent, Some(older.id));
        }
        let containers = contents.virtual_chunk_containers().await?.into_iter();
        Ok(Held {
            branches: contents.branches().await?,
            tags: contents.tags().await?,
            messages: history.into_iter().map(|snapshot| snapshot.message).collect(),
            containers: containers.map(|container| (container.name, container.url_prefix)).collect(),
        })
    })
}

pub(crate) fn held(storage: &Storage, root: &str) -> StoreResult<Held> {
    held_with(storage, root, IcechunkLimits::default())
}

#[test]
fn repositories_hold_what_icechunk_put_into_them() {
    let archive = archive();
    let names = |map: &BTreeMap<String, SnapshotId>| map.keys().cloned().collect::<Vec<_>>().join(",");
    let data = "file:///zarr-references/data/";
    let history = "c5 c4 c3 c2 a Repository initialized";
    for (repository, version, branches, tags, messages, container) in [
        ("v2-basic", 2, "dev,main", "second tag,v1.0", "second first Repository initialized", None),
        ("v1-basic", 1, "dev,main", "second tag,v1.0", "second first Repository initialized", None),
        ("upgraded", 2, "dev,main", "second tag,v1.0", "second first Repository initialized", None),
        (
            "both",
            2,
            "dev,main,new",
            "second tag,v1.0",
            "after the upgrade second first Repository initialized",
            None,
        ),
        ("v1-deleted", 1, "main", "kept", "a Repository initialized", None),
        ("v1-history", 1, "main,reset,side", "keep", history, None),
        ("v2-history", 2, "main,reset,side", "keep", &format!("tip moved a group g moved {history}"), None),
        ("v1-expired", 1, "main", "", "last Repository initialized", None),
        ("v2-expired", 2, "main", "", "last Repository initialized", None),
        ("v2-empty", 2, "main", "", "Repository initialized", None),
        ("v1-empty", 1, "main", "", "Repository initialized", None),
        ("v2-readonly", 2, "main", "", "x Repository initialized", None),
        ("v1-virtual", 1, "main", "", "virtual Repository initialized", Some((None, data))),
        ("v2-virtual", 2, "main", "", "virtual Repository initialized", Some((None, data))),
        ("v2-virtual-named", 2, "main", "", "virtual Repository initialized", Some((Some("files"), data))),
        ("by-1.1", 1, "main", "t1", "", Some((None, "s3://some-bucket/prefix/"))),
        ("by-0.2", 1, "main", "t1", "", None),
    ] {
        let root = format!("icechunk/{repository}/");
        let contents = block_on(Repository::new(&archive, Prefix::new(&root).unwrap()).contents()).unwrap();
        assert_eq!(contents.spec_version(), version, "{repository}");
        let held = held(&archive, &root).unwrap_or_else(|e| panic!("{repository}: {e:#}"));
        assert_eq!((names(&held.branches), names(&held.tags)), (branches.to_owned(), tags.to_owned()));
        if !messages.is_empty() {
            assert_eq!(held.messages.join(" "), messages, "{repository}");
        }
        let container = container.map(|(name, prefix)| (name.map(str::to_owned), prefix.to_owned()));
        assert_eq!(held.containers, Vec::from_iter(container), "{repository}");
        // Each snapshot is one that can be opened.
        for id in held.branches.values().chain(held.tags.values()) {
            let repository = Repository::new(&archive, Prefix::new(&root).unwrap());
            block_on(repository.open(&Ref::Snapshot(*id), Targets::none())).unwrap();
        }
    }
}

#[test]
fn a_snapshot_has_the_time_when_it_was_written() {
    for repository in ["v1-history", "v2-history"] {
        let root = Prefix::new(format!("icechunk/{repository}/")).unwrap();
        let contents = block_on(Repository::new(&archive(), root).contents()).unwrap();
        let main = block_on(contents.snapshot(&Ref::default())).unwrap();
        let history = block_on(contents.ancestry(main, 3)).unwrap();
        assert_eq!((history.len(), history[0].id), (3, main));
        assert!(history.is_sorted_by(|newer, older| newer.time >= older.time));
        // The year in which the fixtures were written.
        let year = Duration::from_secs(365 * 24 * 3600);
        let since = history[0].time.duration_since(UNIX_EPOCH).unwrap();
        assert!(since > 56 * year && since < 57 * year + year / 10, "{since:?}");
    }
}

#[test]
fn a_listing_of_specification_2_is_one_request_and_of_1_one_for_each_file() {
    for (repository, requests) in [("v2-history", 1), ("v1-history", 1 + 1 + 6 + 1 + 1 + 3 + 1 + 2)] {
        let (storage, counting) = Counting::over(&archive());
        held(&storage, &format!("icechunk/{repository}/")).unwrap();
        assert_eq!(counting.counts().requests(), requests, "{repository}");
    }
}

/// A repository with three snapshots, of which the first in the list is the newest.
fn parts() -> Parts {
    let mut parts = Parts::new();
    parts.repo.insert(4, Flat::Vector(vec![snapshot(1, 1), snapshot(2, 2), snapshot(3, -1)]));
    parts
}

fn snapshot(id: u8, parent: i32) -> Flat {
    let parent = Flat::Plain(parent.to_le_bytes().to_vec());
    let id = if id == 1 { SNAPSHOT_ID.to_vec() } else { vec![id; 12] };
    table([(0, Flat::Plain(id)), (1, parent), (2, number(1_000_000, 8)), (3, bytes("a"))])
}

const HOSTILE: &[(&str, Change)] = &[
    ("Corrupt: key \"repo\": the parents of the snapshot are a circle", |p| {
        p.repo.insert(4, Flat::Vector(vec![snapshot(1, 1), snapshot(2, 0), snapshot(3, -1)]));
    }),
    ("\"parent_offset\" is 3, but there are 3 snapshots", |p| {
        p.repo.insert(4, Flat::Vector(vec![snapshot(1, 2), snapshot(2, 2), snapshot(3, 3)]));
    }),
    ("\"parent_offset\" is -2", |p| {
        p.repo.insert(4, Flat::Vector(vec![snapshot(1, -2)]));
    }),
    ("field \"message\" at byte", |p| {
        let id = Flat::Plain(SNAPSHOT_ID.to_vec());
        p.repo.insert(4, Flat::Vector(vec![table([(0, id), (1, number(u64::MAX, 4))])]));
    }),
    ("the text is longer than 64 KiB", |p| {
        let id = Flat::Plain(SNAPSHOT_ID.to_vec());
        let message = bytes(vec![b'a'; 70_000]);
        p.repo.insert(4, Flat::Vector(vec![table([(0, id), (1, number(u64::MAX, 4)), (3, message)])]));
    }),
    ("\"snapshot_index\" is 7, but there are 3 snapshots", |p| {
        p.repo.insert(1, Flat::Vector(vec![table([(0, bytes("t")), (1, number(7, 4))])]));
    }),
    ("tags are not in the order", |p| {
        p.repo.insert(1, Flat::Vector(vec![table([(0, bytes("t"))]), table([(0, bytes("a"))])]));
    }),
    ("field \"config\" at byte", |p| drop(p.repo.insert(9, bytes([1, 2, 3])))),
];

#[test]
fn a_hostile_repository_is_an_error() {
    let whole = held(&stored(&parts().built()), "").unwrap();
    assert_eq!(whole.messages, ["a"; 3]);
    assert_eq!(whole.branches.keys().collect::<Vec<_>>(), ["dev", "main"]);
    for (said, change) in HOSTILE {
        let mut parts = parts();
        change(&mut parts);
        let e = held(&stored(&parts.built()), "").expect_err(said);
        assert!(shown(&e).contains(said), "{said:?} is not in {:?}", shown(&e));
    }
    let limits = |names| {
        let mut limits = IcechunkLimits::default();
        limits.names = names;
        held_with(&stored(&parts().built()), "", limits)
    };
    assert_eq!(limits(2).unwrap(), whole);
    let e = limits(1).unwrap_err();
    assert!(shown(&e).contains("LimitExceeded: key \"repo\": there are more branches than 1"), "{e:#}");
    // A container without a URL.
    let mut files = inflated("v2-virtual-named");
    let repo = files.get_mut("repo").unwrap();
    let at = repo.windows(10).position(|window| window == b"url_prefix").unwrap();
    repo[at + 9] = b'y';
    let e = held(&stored(&files), "").unwrap_err();
    assert!(shown(&e).contains("Corrupt: key \"repo\": a virtual chunk container has no \"url_prefix\""));
}

/// A repository of specification 1: the branch `main`, a tag, and one snapshot.
fn first_version(change: Change) -> BTreeMap<String, Vec<u8>> {
    let mut parts = Parts::new();
    parts.snapshot.insert(4, bytes("only"));
    parts.files.insert("repo".to_owned(), Vec::new());
    let file = format!("{{\"snapshot\":\"{SNAPSHOT}\"}}").into_bytes();
    parts.files.insert("refs/branch.main/ref.json".to_owned(), file.clone());
    parts.files.insert("refs/branch.p%C3%A4th/ref.json".to_owned(), file.clone());
    parts.files.insert("refs/tag.t/ref.json".to_owned(), file);
    change(&mut parts);
    parts.built()
}

#[test]
fn a_hostile_repository_of_specification_1_is_an_error() {
    let whole = held(&stored(&first_version(|_| ())), "").unwrap();
    assert_eq!((&whole.messages[..], whole.tags.len()), (&["only".to_owned()][..], 1));
    assert_eq!(whole.branches.keys().collect::<Vec<_>>(), ["main", "päth"]);
    let changes: [(&str, Change); 6] = [
        ("Corrupt: key \"snapshots/1CECHNKREP0F1RSTCMT0\": the parents of the snapshot are a circle", |p| {
            p.snapshot.insert(1, Flat::Plain(SNAPSHOT_ID.to_vec()));
        }),
        ("Io: key \"snapshots/000G40R40M30E209185G\": there is no such snapshot", |p| {
            p.snapshot.insert(1, Flat::Plain((0..12).collect()));
        }),
        ("field \"message\" at byte", |p| drop(p.snapshot.remove(&4))),
        ("Corrupt: key \"refs/tag.t/ref.json\"", |p| {
            p.files.insert("refs/tag.t/ref.json".to_owned(), b"{}".to_vec());
        }),
        ("Unsupported: key \"config.yaml\": line 1: \"[a]\"", |p| {
            p.files.insert("config.yaml".to_owned(), b"virtual_chunk_containers: [a]".to_vec());
        }),
        ("Corrupt: key \"config.yaml\": the file is not text", |p| {
            p.files.insert("config.yaml".to_owned(), vec![0xff]);
        }),
    ];
    for (said, change) in changes {
        let e = held(&stored(&first_version(change)), "").expect_err(said);
        assert!(shown(&e).contains(said), "{said:?} is not in {:?}", shown(&e));
    }
    let limits = |names| {
        let mut limits = IcechunkLimits::default();
        limits.names = names;
        held_with(&stored(&first_version(|_| ())), "", limits)
    };
    assert_eq!(limits(2).unwrap(), whole);
    assert_eq!(limits(1).unwrap_err().kind(), StoreErrorKind::LimitExceeded);
    let nowhere = Repository::new(&Storage::from(MemoryStore::new()), Prefix::root());
    let contents = block_on(nowhere.contents()).unwrap();
    let e = block_on(contents.branches()).unwrap_err();
    assert!(e.to_string().contains("no Icechunk repository is here"), "{e:#}");
}

/// A store that cannot list, such as a web server.
#[derive(Debug)]
struct Unlisted(Storage);

impl Store for Unlisted {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.0.capabilities();
        capabilities.list = false;
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        self.0.call(op)
    }
}

#[test]
fn without_a_listing_the_branches_of_specification_1_are_unknown() {
    let storage = Storage::from(Unlisted(stored(&first_version(|_| ()))));
    let contents = block_on(Repository::new(&storage, Prefix::root()).contents()).unwrap();
    let kind = |e: StoreError| e.kind();
    assert_eq!(block_on(contents.branches()).map_err(kind), Err(StoreErrorKind::Unsupported));
    let main = block_on(contents.snapshot(&Ref::default())).unwrap();
    assert_eq!(block_on(contents.ancestry(main, 9)).unwrap().len(), 1);
    let storage = Storage::from(Unlisted(stored(&parts().built())));
    assert_eq!(held(&storage, "").unwrap().branches.len(), 2);
}

#[test]
fn a_container_of_specification_1_is_found_by_its_name() {
    let mut files = first_version(|p| {
        p.refs[2].insert(5, bytes("vcc://files/x%20y.bin"));
    });
    let opened = |files: &BTreeMap<String, Vec<u8>>| {
        let bucket = Storage::from(MemoryStore::new());
        block_on(bucket.put(&key("x y.bin"), vec![0, 0, 0, 12])).unwrap();
        let targets = Targets::none().serve("s3://bucket/data/", bucket).unwrap();
        let repository = Repository::new(&stored(files), Prefix::root());
        let opened = block_on(repository.open(&Ref::default(), targets)).unwrap();
        block_on(opened.get(&key("a/c/2"), 9))
    };
    assert_eq!(opened(&files).unwrap_err().kind(), StoreErrorKind::PermissionDenied);
    let config = "virtual_chunk_containers:\n  files:\n    name: files\n    url_prefix: s3://bucket/data/\n    store: !s3\n";
    files.insert("config.yaml".to_owned(), config.into());
    assert_eq!(opened(&files).unwrap().as_deref(), Some(&[12][..]));
}

#[test]
fn a_url_leads_to_the_repository_and_its_state() {
    let directory = tempfile::tempdir().unwrap();
    copied(&archive(), Storage::from(FsStore::create(directory.path()).unwrap()));
    let schemes = Schemes::new(&[zarr_store_fs::SCHEMES, zarr_store_icechunk::SCHEMES]);
    let at = |end: &str| {
        let url = format!("{}/icechunk/v2-basic{end}", directory.path().display());
        block_on(Repository::at_url(&url, &schemes, &Access::new()))
    };
    for (end, state, path) in [
        ("|icechunk:", "branch.main", ""),
        ("|Icechunk:@tag.second%20tag/deep", "tag.second tag", "deep/"),
        ("|icechunk:@branch.dev/|zarr3:deep/er", "branch.dev", ""),
    ] {
        let (repository, at, below) = at(end).unwrap().unwrap();
        assert_eq!((at, below.as_str()), (state.parse().unwrap(), path), "{end}");
        let contents = block_on(repository.contents()).unwrap();
        assert_eq!(block_on(contents.tags()).unwrap().len(), 2);
    }
    assert!(at("").unwrap().is_none() && at("|zarr3:a").unwrap().is_none());
    assert_eq!(at("|icechunk:@main").unwrap_err().kind(), StoreErrorKind::InvalidArgument);
}
