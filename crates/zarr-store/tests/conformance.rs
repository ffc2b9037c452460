//! Every store and layer of this crate keeps the contract of stores.

use std::time::Duration;

use zarr_conformance::instruments::{Counting, Fault, Faulty, Network, Simulated};
use zarr_conformance::store::check;
use zarr_store::Trace;
use zarr_store::{CacheOptions, Cached, Consolidated, KnownDocuments, MemoryStore, Prefixed, Traced};
use zarr_traits::{Key, Prefix, Storage};

fn memory() -> Storage {
    Storage::from(MemoryStore::new())
}

#[test]
fn memory_store() {
    check(memory).unwrap();
    check(|| Storage::from(MemoryStore::new().with_page(3))).unwrap();
}

#[test]
fn prefixed() {
    for prefix in ["", "p/", "two/levels/"] {
        check(|| Prefixed::over(&memory(), Prefix::new(prefix).unwrap())).unwrap();
    }
}

#[test]
fn counting() {
    check(|| Counting::over(&memory()).0).unwrap();
}

#[test]
fn consolidated() {
    for covers in [|_: &Key| true, |key: &Key| key.name() == "zarr.json", |_: &Key| false] {
        check(|| Consolidated::over(&memory(), KnownDocuments::new(Prefix::root(), [], covers)).0).unwrap();
    }
}

#[test]
fn cached() {
    let all = CacheOptions::default();
    let small = all.clone().budget(3000).largest(1000);
    let brief = all.clone().max_age(Duration::ZERO).absent(false);
    for options in [all, small, brief] {
        check(|| Cached::over(&memory(), options.clone()).0).unwrap();
    }
}

#[test]
fn faulty() {
    check(|| Faulty::random(&memory(), 1, 0.2, &[Fault::Delay(Duration::from_micros(10))]).0).unwrap();
}

#[test]
fn traced() {
    check(|| Traced::over(&memory(), Trace::new(|_| ()))).unwrap();
}

#[test]
fn simulated() {
    let network = Network::default().round_trip(Duration::from_micros(2)).in_flight(2);
    check(|| Simulated::over(&memory(), network).0).unwrap();
}

type Layer = (&'static str, fn(&Storage) -> Storage);

const LAYERS: [Layer; 7] = [
    ("cache", |below| Cached::over(below, CacheOptions::default().budget(20_000)).0),
    ("consolidated", |below| {
        let known = KnownDocuments::new(Prefix::root(), [], |key| key.name() == "zarr.json");
        Consolidated::over(below, known).0
    }),
    ("count", |below| Counting::over(below).0),
    ("fault", |below| Faulty::over(below, |_, _| None).0),
    ("simulated", |below| {
        let network = Network::default().round_trip(Duration::ZERO);
        Simulated::over(below, network).0
    }),
    ("trace", |below| Traced::over(below, Trace::new(|_| ()))),
    ("prefix", |below| Prefixed::over(below, Prefix::new("p/").unwrap())),
];

/// Every layer is directly over every other one. The number of layers is prime, so steps of any size reach all of them
/// before they come back to the first.
#[test]
fn layers_can_be_stacked_in_any_order() {
    for step in 1..LAYERS.len() {
        let layers = (0..=LAYERS.len()).map(|number| LAYERS[number * step % LAYERS.len()]);
        check(|| layers.clone().fold(memory(), |below, layer| layer.1(&below))).unwrap_or_else(|e| {
            panic!("{:?}, each over the one before: {e:#}", layers.map(|layer| layer.0).collect::<Vec<_>>())
        });
    }
}
