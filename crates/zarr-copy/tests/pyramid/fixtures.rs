//! The cases of conformance/pyramids.

use std::path::Path;

use zarr_array::blocking::Array;
use zarr_array::traits::json::{DEPTH, Document, Member, Value};
use zarr_array::traits::number::{Numeric, Real};
use zarr_array::traits::{Key, Prefix};
use zarr_array::{Storage, block_on};
use zarr_copy::pyramid::{Downsample, Factors, LevelCount, Pyramid};
use zarr_copy::zarr_hierarchy::{standard, zarr_array};
use zarr_store::MemoryStore;
use zarr_store::zip::ZipStore;
use zarr_store_fs::FsStore;

/// A case: its name, its expected values, and the stores of all cases.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) expected: Value,
    archive: Storage,
}

pub(super) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/pyramids");
    let folder = Storage::from(FsStore::open(folder).unwrap());
    let key = |name: &str| Key::new(name.to_owned()).unwrap();
    let archive = block_on(ZipStore::open(&folder, key("pyramids.zip"), Prefix::root())).unwrap();
    let text = block_on(folder.get(&key("expected.json"), 1 << 30)).unwrap().unwrap();
    let all = Document::parse(&text, DEPTH, &mut Vec::new()).unwrap().root;
    let case = |member: &Member| Case {
        name: member.name().unwrap().into_owned(),
        expected: member.value(),
        archive: archive.clone(),
    };
    all.as_object().unwrap().members().map(case).collect()
}

impl Case {
    /// Returns a new storage with the group.
    pub(super) fn storage(&self) -> Storage {
        let (from, to) =
            (Prefix::new(format!("{}.zarr/", self.name)).unwrap(), Storage::from(MemoryStore::new()));
        for listed in block_on(self.archive.list_all(&from)).unwrap() {
            let bytes = block_on(self.archive.get(&listed.key, 1 << 20)).unwrap().unwrap();
            let key = Key::new(from.strip(&listed.key).unwrap().to_owned()).unwrap();
            block_on(to.put(&key, bytes)).unwrap();
        }
        to
    }

    pub(super) fn numbers(&self, name: &str) -> Vec<u64> {
        numbers(&self.expected.get(name).unwrap())
    }

    /// Returns the methods with the elements of each level.
    pub(super) fn methods(&self) -> Vec<(Downsample, Vec<Vec<Value>>)> {
        let of = |member: &Member| {
            let levels = member.value().elements().unwrap().map(|level| level.elements().unwrap().collect());
            (member.name().unwrap().parse().unwrap(), levels.collect())
        };
        self.expected.get("methods").unwrap().as_object().unwrap().members().map(of).collect()
    }

    /// Returns the pyramid in a storage.
    pub(super) fn pyramid(&self, storage: &Storage) -> Pyramid {
        let levels = u32::try_from(self.expected.get("levels").unwrap().as_u64().unwrap()).unwrap();
        Pyramid::new(storage.clone(), "/", &standard())
            .factors(Factors::Each(self.numbers("factors")))
            .levels(LevelCount::Further(levels))
            .threads(0)
    }
}

pub(super) fn numbers(list: &Value) -> Vec<u64> {
    list.elements().unwrap().map(|n| n.as_u64().unwrap()).collect()
}

/// Returns the elements of an array as text that is equal for equal numbers.
pub(super) fn elements(array: &Array) -> Vec<String> {
    let numeric = array.data_type().numeric().unwrap();
    let bytes = match numeric {
        Numeric::Bool => array.read::<bool>(..).unwrap().into_vec().into_iter().map(u8::from).collect(),
        _ => array.read_bytes(..).unwrap().1,
    };
    let component = |raw: &[u8]| match (numeric, numeric.load(raw)) {
        (Numeric::Float(format) | Numeric::Complex(format), bits) => match format.real(bits) {
            Real::Finite { mantissa: 0, .. } => "0".to_owned(),
            _ => format!("{:?}", format.to_f64(bits)),
        },
        (integer, bits) => integer.integer(bits).unwrap().to_string(),
    };
    let parts: Vec<String> = bytes.chunks_exact(numeric.size()).map(component).collect();
    parts.chunks_exact(numeric.components()).map(|parts| parts.join(" ")).collect()
}

/// Returns an expected element in the same form.
pub(super) fn element(value: &Value, is_float: bool) -> String {
    let number = |value: &Value| match value.as_text().as_deref() {
        Some("NaN") => "NaN".to_owned(),
        Some("Infinity") => "inf".to_owned(),
        Some(_) => "-inf".to_owned(),
        None if !is_float => value.as_integer().unwrap().to_string(),
        None => match value.as_f64().unwrap() {
            0.0 => "0".to_owned(),
            number => format!("{number:?}"),
        },
    };
    match value.elements() {
        Some(parts) => parts.map(|part| number(&part)).collect::<Vec<_>>().join(" "),
        None => number(value),
    }
}
