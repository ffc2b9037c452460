//! Files of a repository, made by hand.

use std::collections::BTreeMap;

use zarr_store::MemoryStore;
use zarr_traits::{Key, Storage, block_on};

/// The value of a field of a flatbuffer.
#[derive(Debug, Clone)]
pub(crate) enum Flat {
    /// Bytes in the table: a number or a struct.
    Plain(Vec<u8>),
    /// A vector of a number of elements.
    Elements(u32, Vec<u8>),
    /// A vector of tables or texts.
    Vector(Vec<Flat>),
    /// The fields of a table, by their slots.
    Table(BTreeMap<usize, Flat>),
}

pub(crate) fn number(number: u64, bytes: usize) -> Flat {
    Flat::Plain(number.to_le_bytes()[..bytes].to_vec())
}

pub(crate) fn bytes(bytes: impl AsRef<[u8]>) -> Flat {
    Flat::Elements(u32::try_from(bytes.as_ref().len()).unwrap(), bytes.as_ref().to_vec())
}

pub(crate) fn numbers(numbers: &[u32]) -> Flat {
    Flat::Elements(
        u32::try_from(numbers.len()).unwrap(),
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
    )
}

pub(crate) fn table<const N: usize>(fields: [(usize, Flat); N]) -> Flat {
    Flat::Table(fields.into())
}

fn le16(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap().to_le_bytes()
}

fn le32(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_le_bytes()
}

impl Flat {
    /// Appends the value, and returns its place.
    fn write(&self, out: &mut Vec<u8>) -> usize {
        let at = out.len();
        match self {
            Self::Plain(bytes) => out.extend(bytes),
            Self::Elements(len, bytes) => {
                out.extend(len.to_le_bytes());
                out.extend(bytes);
            }
            Self::Vector(elements) => {
                out.extend(le32(elements.len()));
                out.extend(vec![0; 4 * elements.len()]);
                for (index, element) in elements.iter().enumerate() {
                    let place = at + 4 + 4 * index;
                    let to = element.write(out);
                    out[place..place + 4].copy_from_slice(&le32(to - place));
                }
            }
            Self::Table(fields) => {
                let slots = fields.keys().last().map_or(0, |last| last + 1);
                let vtable_size = 4 + 2 * slots;
                let mut vtable = vec![0; vtable_size];
                vtable[..2].copy_from_slice(&le16(vtable_size));
                let start = at + vtable_size;
                let (mut body, mut children) = (le32(vtable_size).to_vec(), Vec::new());
                for (slot, field) in fields {
                    vtable[4 + 2 * slot..][..2].copy_from_slice(&le16(body.len()));
                    match field {
                        Self::Plain(bytes) => body.extend(bytes),
                        child => {
                            children.push((start + body.len(), child));
                            body.extend([0; 4]);
                        }
                    }
                }
                out.extend(vtable);
                out.extend(body);
                for (place, child) in children {
                    let to = child.write(out);
                    out[place..place + 4].copy_from_slice(&le32(to - place));
                }
                return start;
            }
        }
        at
    }
}

/// The bytes before a payload.
pub(crate) fn header(version: u8, kind: u8, compression: u8) -> Vec<u8> {
    let mut file = b"ICE\xf0\x9f\xa7\x8aCHUNKtests                   ".to_vec();
    file.extend([version, kind, compression]);
    assert_eq!(file.len(), 39);
    file
}

/// A file of a kind, without compression.
pub(crate) fn file(kind: u8, root: &Flat) -> Vec<u8> {
    let mut payload = b"\0\0\0\0Ichk".to_vec();
    let at = root.write(&mut payload);
    payload[..4].copy_from_slice(&le32(at));
    [header(2, kind, 0), payload].concat()
}

pub(crate) const SNAPSHOT: &str = "1CECHNKREP0F1RSTCMT0";
pub(crate) const SNAPSHOT_ID: [u8; 12] =
    [0x0b, 0x1c, 0xc8, 0xd6, 0x78, 0x75, 0x80, 0xf0, 0xe3, 0x3a, 0x65, 0x34];
pub(crate) const MANIFEST: &str = "00000000000000000000";
pub(crate) const CHUNK: &str = "ZZZZZZZZZZZZZZZZZZZG";

/// Returns the document of an array of bytes with chunks of one element.
pub(crate) fn document(shape: &[u64]) -> String {
    let ones = vec![1; shape.len()];
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},"data_type":"uint8","fill_value":0,
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{ones:?}}}}},
        "chunk_key_encoding":{{"name":"default"}},"codecs":[{{"name":"bytes"}}]}}"#
    )
}

/// The parts of a repository with the array `a` of eight chunks, whose changes make hostile ones.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) repo: BTreeMap<usize, Flat>,
    pub(crate) snapshot: BTreeMap<usize, Flat>,
    pub(crate) nodes: Vec<BTreeMap<usize, Flat>>,
    pub(crate) array: BTreeMap<usize, Flat>,
    pub(crate) manifest: BTreeMap<usize, Flat>,
    pub(crate) arrays: Vec<BTreeMap<usize, Flat>>,
    pub(crate) refs: Vec<BTreeMap<usize, Flat>>,
    /// What is put into the place of a file, or nothing if it is empty.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

/// Returns a reference to a chunk.
pub(crate) fn reference<const N: usize>(index: u32, fields: [(usize, Flat); N]) -> BTreeMap<usize, Flat> {
    BTreeMap::from_iter(fields.into_iter().chain([(0, numbers(&[index]))]))
}

impl Parts {
    pub(crate) fn new() -> Self {
        let named = |name: &str, index| table([(0, bytes(name)), (1, number(index, 4))]);
        let node = |id: u8, path: &str, document: &str, kind| {
            BTreeMap::from([
                (0, Flat::Plain(vec![id; 8])),
                (1, bytes(path)),
                (2, bytes(document)),
                (3, number(kind, 1)),
            ])
        };
        let group = r#"{"zarr_format":3,"node_type":"group"}"#;
        Self {
            repo: BTreeMap::from([
                (0, number(2, 1)),
                (1, Flat::Vector(vec![named("t", 0)])),
                (2, Flat::Vector(vec![named("dev", 0), named("main", 0)])),
                (3, Flat::Vector(vec![bytes("gone")])),
                (4, Flat::Vector(vec![table([(0, Flat::Plain(SNAPSHOT_ID.to_vec()))])])),
                (5, table([])),
            ]),
            snapshot: BTreeMap::from([(0, Flat::Plain(SNAPSHOT_ID.to_vec()))]),
            nodes: vec![node(1, "/", group, 2), node(2, "/a", &document(&[8]), 1), node(3, "/g", group, 2)],
            array: BTreeMap::from([
                (0, Flat::Elements(0, Vec::new())),
                (
                    2,
                    Flat::Vector(vec![table([
                        (0, Flat::Plain(vec![0; 12])),
                        (1, Flat::Elements(1, [0_u32.to_le_bytes(), 8_u32.to_le_bytes()].concat())),
                    ])]),
                ),
                (3, Flat::Vector(vec![table([(0, number(8, 8)), (1, number(8, 4))])])),
            ]),
            manifest: BTreeMap::from([(0, Flat::Plain(vec![0; 12]))]),
            arrays: vec![
                BTreeMap::from([(0, Flat::Plain(vec![0; 8])), (1, Flat::Vector(Vec::new()))]),
                BTreeMap::from([(0, Flat::Plain(vec![2; 8]))]),
            ],
            refs: vec![
                reference(0, [(1, bytes([10]))]),
                reference(1, [(2, number(2, 8)), (3, number(1, 8)), (4, Flat::Plain(vec![255; 12]))]),
                reference(
                    2,
                    [(2, number(3, 8)), (3, number(1, 8)), (5, bytes("s3://bucket/data/x%20y.bin"))],
                ),
                reference(3, [(1, bytes([13]))]),
                reference(5, [(1, bytes([15]))]),
            ],
            files: BTreeMap::new(),
        }
    }

    /// The files, in the way that a store has them.
    pub(crate) fn built(&self) -> BTreeMap<String, Vec<u8>> {
        let mut nodes = self.nodes.clone();
        nodes[1].entry(4).or_insert(Flat::Table(self.array.clone()));
        let mut arrays = self.arrays.clone();
        let tables = |tables: &[BTreeMap<usize, Flat>]| {
            Flat::Vector(tables.iter().cloned().map(Flat::Table).collect())
        };
        if let Some(last) = arrays.last_mut() {
            last.entry(1).or_insert(tables(&self.refs));
        }
        nodes[2].entry(4).or_insert(table([]));
        nodes[0].entry(4).or_insert(table([]));
        let (mut snapshot, mut manifest) = (self.snapshot.clone(), self.manifest.clone());
        snapshot.entry(2).or_insert(tables(&nodes));
        manifest.entry(1).or_insert(tables(&arrays));
        let mut files = BTreeMap::from([
            ("repo".to_owned(), file(6, &Flat::Table(self.repo.clone()))),
            (format!("snapshots/{SNAPSHOT}"), file(1, &Flat::Table(snapshot))),
            (format!("manifests/{MANIFEST}"), file(2, &Flat::Table(manifest))),
            (format!("chunks/{CHUNK}"), vec![1, 1, 11, 1]),
        ]);
        files.extend(self.files.clone());
        files
    }
}

/// Returns a store with files. Empty ones are left out.
pub(crate) fn stored(files: &BTreeMap<String, Vec<u8>>) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    for (key, file) in files.iter().filter(|(_, file)| !file.is_empty()) {
        block_on(storage.put(&Key::new(key).unwrap(), file.clone())).unwrap();
    }
    storage
}
