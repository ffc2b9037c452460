//! Three writers of one array: they append, write parts of the same chunks, and change the shape.

use std::sync::Arc;

use shuttle::future::{block_on, spawn};
use zarr_array::{
    Array, ArrayErrorKind, ArrayMeta, ArrayResult, DataType, NdVec, Registry, Storage, standard,
};
use zarr_traits::Prefix;

use crate::explore::{Exploration, any};
use crate::world::{Fate, World};

pub(crate) const APPENDS: Exploration = Exploration {
    name: "appends",
    about: "each append has its own range, whole and once",
    prepare: || {
        let registry = standard();
        Box::new(move || appends(&registry))
    },
};

pub(crate) const WRITES: Exploration = Exploration {
    name: "writes",
    about: "writers of parts of the same chunks and shards lose nothing, also beside one that dies",
    prepare: || {
        let registry = standard();
        Box::new(move || writes(&registry))
    },
};

pub(crate) const RESIZES: Exploration = Exploration {
    name: "resizes",
    about: "appends beside smaller and larger shapes are whole, an error, or cut; nothing comes back",
    prepare: || {
        let registry = standard();
        Box::new(move || resizes(&registry))
    },
};

/// The number of columns, in chunks of two.
const COLUMNS: u64 = 3;

/// The number of rows of a chunk.
const CHUNK: u64 = 4;

/// The value of all elements that are there at the beginning.
const FIRST: u16 = 1;

/// Makes an array with so many rows. Returns its world.
fn world(registry: &Registry, rows: u64) -> World {
    let world = World::new();
    let builder = ArrayMeta::builder([rows, COLUMNS], DataType::UInt16);
    let builder = match any(3) {
        0 => builder.chunks([CHUNK, 2]),
        // Uncompressed: a store may replace ranges.
        1 => builder.chunks([CHUNK, 2]).codecs([]),
        _ => builder.shards([CHUNK, 4]).chunks([2, 2]),
    };
    let meta = builder.build().unwrap();
    let array = zarr_array::blocking::Array::create(world.below.clone(), "/a", meta, registry).unwrap();
    array.write(.., &values(rows, |_| FIRST)).unwrap();
    world
}

/// Returns the storages of three writers: processes, threads of one, or both.
fn writers(world: &World, fates: &[Fate; 3]) -> [Storage; 3] {
    let alone = world.process(0, &fates[0]);
    let threads = any(3);
    [0, 1, 2].map(|writer| match writer {
        0 => alone.clone(),
        writer if writer <= threads => world.thread(&alone, writer as usize, &fates[writer as usize]),
        writer => world.process(writer as usize, &fates[writer as usize]),
    })
}

/// Returns rows, each with one value in all columns.
fn values(rows: u64, value: impl Fn(u64) -> u16) -> NdVec<u16> {
    let values = (0..rows * COLUMNS).map(|at| value(at / COLUMNS)).collect();
    NdVec::new([rows, COLUMNS], values).unwrap()
}

/// The value of a row that an append writes.
fn value(writer: usize, append: usize, row: u64) -> u16 {
    u16::try_from(1000 * (writer + 1) + 100 * append).unwrap() + u16::try_from(row).unwrap()
}

/// A row of elements.
type Row = [u16; COLUMNS as usize];

/// Returns the rows that are stored in the end.
fn stored(world: &World, registry: &Registry) -> Vec<Row> {
    let array = zarr_array::blocking::Array::open(world.below.clone(), "/a", registry).unwrap();
    let all = array.read::<u16>(..).unwrap().into_vec();
    all.chunks(COLUMNS as usize).map(|row| row.try_into().unwrap()).collect()
}

fn appends(registry: &Registry) {
    let first = any(6);
    let world = world(registry, first);
    let fates = [(); 3].map(|()| Fate::lives());
    let storages = writers(&world, &fates);
    let ranges = block_on(async {
        let tasks = storages.into_iter().enumerate().map(|(writer, storage)| {
            let registry = registry.clone();
            spawn(async move {
                let mut array = Array::open(storage, "/a", &registry).await.unwrap();
                let mut ranges = Vec::new();
                for append in 0..2 {
                    let rows = 1 + any(5);
                    array.append(0, values(rows, |row| value(writer, append, row))).await.unwrap();
                    let end = array.shape()[0];
                    ranges.push((end - rows..end, writer, append));
                }
                ranges
            })
        });
        let mut ranges = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            ranges.extend(task.await.unwrap());
        }
        ranges
    });
    let rows = stored(&world, registry);
    let mut wanted = vec![[FIRST; COLUMNS as usize]; first as usize];
    let mut sorted = ranges.clone();
    sorted.sort_by_key(|(range, ..)| range.start);
    for (range, writer, append) in sorted {
        assert_eq!(range.start, wanted.len() as u64, "{ranges:?}");
        wanted.extend((0..range.end - range.start).map(|row| [value(writer, append, row); COLUMNS as usize]));
    }
    assert_eq!(rows, wanted);
}

fn writes(registry: &Registry) {
    const ROWS: u64 = 6;
    let world = world(registry, ROWS);
    // The last writer may die.
    let fates = [Fate::lives(), Fate::lives(), Fate::may_die_within(40)];
    let storages = writers(&world, &fates);
    let written = block_on(async {
        let tasks = storages.into_iter().zip(fates).enumerate().map(|(writer, (storage, fate))| {
            let registry = registry.clone();
            let written = Arc::new(std::sync::Mutex::new([vec![FIRST], vec![FIRST]]));
            let noted = written.clone();
            let work = async move {
                let array = Array::open(storage, "/a", &registry).await.unwrap();
                for round in 0..3 {
                    // Each writer has two rows.
                    let own = any(2);
                    let row = own * 3 + writer as u64;
                    let value = if any(4) == 0 { 0 } else { value(writer, round, own) };
                    noted.lock().unwrap()[own as usize].push(value);
                    array.write(row..row + 1, values(1, |_| value)).await.unwrap();
                    let back = array.read::<u16>(row..row + 1).await.unwrap();
                    assert_eq!(back.into_vec(), [value; COLUMNS as usize], "of writer {writer}");
                    // Acknowledged: what was before must not come back.
                    let mut noted = noted.lock().unwrap();
                    noted[own as usize] = vec![value];
                }
            };
            spawn(async move {
                let lived = fate.befall(work).await.is_some();
                assert!(lived || writer == 2);
                written.lock().unwrap().clone()
            })
        });
        let mut written = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            written.push(task.await.unwrap());
        }
        written
    });
    for (row, found) in stored(&world, registry).into_iter().enumerate() {
        let possible = &written[row % 3][row / 3];
        assert!(found.iter().all(|value| possible.contains(value)), "row {row}: {found:?} of {possible:?}");
    }
}

/// What an append of a writer did.
#[derive(Debug, Clone, Copy)]
struct Appended {
    is_acknowledged: bool,
    /// The number of documents that were stored when it ended.
    end: usize,
}

fn resizes(registry: &Registry) {
    let first = 2 * CHUNK;
    // Without them, the chunk of an append that a resize has just seen outside of the shape may be deleted.
    let world = Arc::new(world(registry, first).with_conditional_deletes());
    let fates = [(); 3].map(|()| Fate::lives());
    let storages = writers(&world, &fates);
    let appended: Vec<Vec<Appended>> = block_on(async {
        let tasks = storages.into_iter().enumerate().map(|(writer, storage)| {
            let (world, registry) = (world.clone(), registry.clone());
            spawn(async move {
                match writer {
                    2 => change_shapes(&storage, &registry).await.map(|()| Vec::new()),
                    writer => append_some(&world, &storage, &registry, writer).await,
                }
            })
        });
        let mut appended = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            appended.push(task.await.unwrap().unwrap());
        }
        appended
    });
    let (rows, possible) = (stored(&world, registry), possible(&world, first, &appended));
    assert_eq!(rows.len(), possible.len());
    for (number, (row, possible)) in rows.into_iter().zip(possible).enumerate() {
        let is_possible = row.iter().all(|value| possible.contains(value));
        assert!(is_possible, "row {number} is {row:?}, not of {possible:?}; {appended:?}");
    }
    nothing_outside(&world, registry);
}

/// Appends two times.
async fn append_some(
    world: &World,
    storage: &Storage,
    registry: &Registry,
    writer: usize,
) -> ArrayResult<Vec<Appended>> {
    let mut array = Array::open(storage.clone(), "/a", registry).await?;
    let mut appended = Vec::new();
    for append in 0..2 {
        // Whole chunks: those that a new edge cuts are another promise.
        let rows = CHUNK * (1 + any(2));
        let is_acknowledged = match array.append(0, values(rows, |row| value(writer, append, row))).await {
            Err(e) if e.kind() != ArrayErrorKind::Conflict => return Err(e),
            done => done.is_ok(),
        };
        appended.push(Appended { is_acknowledged, end: world.documents().len() });
    }
    Ok(appended)
}

/// Makes the array shorter, then longer.
async fn change_shapes(storage: &Storage, registry: &Registry) -> ArrayResult<()> {
    for is_longer in [false, true] {
        let mut array = Array::open(storage.clone(), "/a", registry).await?;
        let length = array.shape()[0];
        let length = if is_longer { length + CHUNK * any(3) } else { CHUNK * any(length / CHUNK + 1) };
        match array.resize([length, COLUMNS]).await {
            Err(e) if ![ArrayErrorKind::Conflict, ArrayErrorKind::Exists].contains(&e.kind()) => {
                return Err(e);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the values that each row may have, as the order of the stored shapes says: those of the append that has reserved
/// it, if this was acknowledged; the fill value, if a larger shape has added it.
///
/// An append whose rows another writer cut off cannot see that they were reserved again before it wrote them. Then both
/// write them.
fn possible(world: &World, first: u64, appended: &[Vec<Appended>]) -> Vec<Vec<u16>> {
    let mut possible = vec![vec![FIRST]; first as usize];
    let mut cut: Vec<(usize, usize, u16)> = Vec::new();
    let mut appends = [0; 3];
    for (number, (writer, document)) in world.documents().into_iter().enumerate() {
        let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
        let length = document["shape"][0].as_u64().unwrap() as usize;
        let before = possible.len();
        possible.truncate(length);
        for row in before..length {
            let late = cut.iter().filter(|(of, end, _)| *of == row && *end > number).map(|cut| cut.2);
            let mut values: Vec<u16> = late.collect();
            match appended[writer].get(appends[writer]) {
                None => values.push(0),
                Some(append) => {
                    let value = value(writer, appends[writer], (row - before) as u64);
                    cut.push((row, append.end, value));
                    values.push(value);
                    values.extend((!append.is_acknowledged).then_some(0));
                }
            }
            possible.push(values);
        }
        appends[writer] += 1;
    }
    possible
}

/// Asserts that no chunk is stored outside of the shape.
fn nothing_outside(world: &World, registry: &Registry) {
    let array = zarr_array::blocking::Array::open(world.below.clone(), "/a", registry).unwrap();
    let counts = array.chunk_counts();
    let listed = zarr_traits::block_on(world.below.list_all(&Prefix::new("a/c/").unwrap())).unwrap();
    for object in listed {
        let index = object.key.as_str().split('/').skip(2).map(|part| part.parse::<u64>().unwrap());
        assert!(
            index.zip(&counts).all(|(index, count)| index < *count),
            "{} is outside of {counts:?}",
            object.key
        );
    }
}
