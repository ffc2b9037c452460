//! The `rectilinear` chunk grid, one row for each case of docs/specification/grids-and-keys.md.

use std::sync::Arc;

use crate::common::registry;
use proptest::prelude::*;
use zarr_meta::json::{Value, json};
use zarr_meta::{ArrayMeta, GRIDS, Ignore, MetaErrorKind, RectilinearGrid};
use zarr_traits::extension::{Context, Entry, Note, Spec};
use zarr_traits::{ChunkGrid, ChunkRun, CodecErrorKind, CodecResult, Limits, Registry};

type Built = CodecResult<(Arc<dyn ChunkGrid>, Vec<Note>)>;

fn build_with(limits: &Limits, name: &str, configuration: Value, shape: &[u64]) -> Built {
    let registry = Registry::core().with(GRIDS).unwrap();
    let registry = registry.with(&[Entry::ChunkGrid(RectilinearGrid::RECTANGULAR)]).unwrap();
    let context = Context::new(&registry, limits);
    registry.chunk_grid(&Spec::new(name, configuration)?, shape, &context)
}

fn build(chunk_shapes: Value, shape: &[u64]) -> Built {
    let configuration = json!({ "kind": "inline", "chunk_shapes": chunk_shapes });
    build_with(&Limits::default(), "rectilinear", configuration, shape)
}

fn grid(chunk_shapes: Value, shape: &[u64]) -> Arc<dyn ChunkGrid> {
    build(chunk_shapes, shape).unwrap().0
}

fn runs(runs: &[(u64, Option<u64>)]) -> Vec<ChunkRun> {
    runs.iter().map(|(length, count)| ChunkRun::new(*length, *count)).collect()
}

/// Returns the lengths of the chunks that cover an array.
fn lengths(grid: &dyn ChunkGrid, dim: usize, length: u64) -> Vec<u64> {
    let spans = (0..grid.count(dim, length)).map(|i| grid.span(dim, i).unwrap());
    spans.map(|span| span.end - span.start).collect()
}

#[test]
fn every_form_of_a_dimension_is_read() {
    for (id, length, entry, chunks, in_all) in [
        ("C.t10", 6, json!(4), &[4, 4][..], None),
        ("C.t11", 6, json!([1, 2, 3]), &[1, 2, 3], Some(3)),
        ("C.t12", 6, json!([[4, 2]]), &[4, 4], Some(2)),
        ("C.t13", 6, json!([[1, 3], 3]), &[1, 1, 1, 3], Some(4)),
        ("C.t14", 6, json!([4, 4, 4]), &[4, 4], Some(3)),
        ("C.t19", 10, json!(3), &[3, 3, 3, 3], None),
        ("C12", 1, json!([7]), &[7], Some(1)),
        ("C16", 0, json!([]), &[], Some(0)),
        ("C12", 0, json!([2]), &[], Some(1)),
    ] {
        let (grid, notes) = build(json!([5, entry]), &[0, length]).unwrap();
        assert_eq!((grid.rank(), notes.len()), (2, 0), "rule {id}");
        assert_eq!(lengths(&*grid, 1, length), chunks, "rule {id}");
        let mut position = 0; // rule C13
        for (index, chunk) in (0..).zip(chunks) {
            for inside in [0, chunk - 1] {
                assert_eq!(grid.find(1, position + inside), Some(index), "rule {id}");
            }
            position += chunk;
        }
        // Chunks after the end of the array belong to the grid, and the grid may have an end (rules C12 and C15).
        assert_eq!(grid.span(1, 1000).is_none(), in_all.is_some(), "rule {id}");
        if let Some(all) = in_all {
            assert!(
                all == 0 || grid.span(1, all - 1).is_some_and(|span| grid.find(1, span.end).is_none()),
                "rule {id}"
            );
            assert_eq!(grid.span(1, all), None, "rule {id}");
        }
    }
    let scalar = grid(json!([]), &[]);
    assert_eq!(scalar.rank(), 0);
    // The example of the specification.
    let example = grid(json!([4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [4, 4, 4]]), &[6; 5]);
    assert_eq!((0..5).map(|dim| example.count(dim, 6)).collect::<Vec<_>>(), [2, 3, 2, 4, 2]);
}

#[test]
fn an_invalid_grid_is_refused_with_its_place() {
    let inline = |chunk_shapes: Value| json!({ "kind": "inline", "chunk_shapes": chunk_shapes });
    let place = |rest: &str| format!("/configuration/chunk_shapes{rest}");
    for (id, configuration, pointer) in [
        ("C10", inline(json!([[6], [6]])), place("")),
        ("C10", inline(json!(6)), place("")),
        ("C10", json!({ "kind": "inline" }), place("")),
        ("C.t15", inline(json!([[4, 1]])), place("/0")),
        ("C16", inline(json!([[]])), place("/0")),
        ("C.t16", inline(json!([[0, 6]])), place("/0/0")),
        ("C.t16", inline(json!([[[3, 0], 6]])), place("/0/0/1")),
        ("C.t16", inline(json!([[[0, 3], 6]])), place("/0/0/0")),
        ("C.t16", inline(json!([[7, -1]])), place("/0/1")),
        ("C.t16", inline(json!([0])), place("/0")),
        ("C.t17", inline(json!([[[4, 2, 1]]])), place("/0/0")),
        ("C.t17", inline(json!([[[4]]])), place("/0/0")),
        ("C.t17", inline(json!([[[[4, 1], 2]]])), place("/0/0/0")),
        ("C11", inline(json!([["6"]])), place("/0/0")),
        ("C11", inline(json!(["6"])), place("/0")),
        ("C11", inline(json!([[6.5]])), place("/0/0")),
        ("C.t18", json!({ "chunk_shapes": [6] }), "".to_owned()),
        ("C.t18", json!({ "kind": "foo", "chunk_shapes": [6] }), "/configuration/kind".to_owned()),
        ("C.t18", json!({ "kind": 1, "chunk_shapes": [6] }), "/configuration/kind".to_owned()),
        ("2^64", inline(json!([[[u64::MAX, 2]]])), place("/0/0")),
        ("2^64", inline(json!([[u64::MAX, 1]])), place("/0/1")),
    ] {
        let e = build_with(&Limits::default(), "rectilinear", configuration.clone(), &[6]).unwrap_err();
        assert_eq!(
            (e.kind(), e.pointer()),
            (CodecErrorKind::Configuration, &*pointer),
            "{id}: {configuration}: {e:#}"
        );
    }
    let e = build(json!([[4, 1]]), &[6]).unwrap_err();
    assert_eq!(format!("{e:#}"), "chunk_shapes[0] ends 1 elements before the array, which has 6"); // rule C.t15
    let (_, notes) = build(json!([[2.0, 4.0]]), &[6]).unwrap();
    assert_eq!(notes.len(), 1, "one note for all deviations");
}

#[test]
fn a_huge_run_costs_nothing() {
    // rule C.t20
    let all = grid(json!([[[1, 4_000_000_000_u64]]]), &[4_000_000_000]);
    assert_eq!(all.runs(0), runs(&[(1, Some(4_000_000_000))]));
    assert_eq!(all.find(0, 3_999_999_999), Some(3_999_999_999));
    assert_eq!((all.find(0, 4_000_000_000), all.lengths(0)), (None, vec![1]));
    let far = grid(json!([[[2, u64::MAX / 2], 1]]), &[9]);
    assert_eq!(
        (far.find(0, u64::MAX - 1), far.span(0, u64::MAX / 2)),
        (Some(u64::MAX / 2), Some(u64::MAX - 1..u64::MAX))
    );
    let endless = grid(json!([u64::MAX - 1]), &[u64::MAX]);
    assert_eq!((endless.count(0, u64::MAX), endless.span(0, 1)), (2, None));
    // More runs than the limit are refused.
    let mut limits = Limits::default();
    limits.grid_runs = 2;
    let limited =
        |list| build_with(&limits, "rectilinear", json!({ "kind": "inline", "chunk_shapes": [list] }), &[4]);
    assert!(limited(json!([1, 1, 1, 2, 2])).is_ok());
    assert_eq!(limited(json!([1, 2, 1])).unwrap_err().kind(), CodecErrorKind::LimitExceeded);
}

#[test]
fn the_form_for_new_arrays_is_the_shortest() {
    // rule C17
    let spec = |chunk_shapes: Value, shape: &[u64]| {
        let (grid, _) = build(chunk_shapes, shape).unwrap();
        let built = RectilinearGrid::new((0..grid.rank()).map(|dim| grid.runs(dim))).unwrap();
        let Spec { name, configuration, .. } = built.to_spec();
        (name, configuration.get("chunk_shapes").or(configuration.get("chunk_shape")).unwrap())
    };
    for (given, length, written) in [
        (json!([1, 2, 3]), 6, json!([1, 2, 3])),
        (json!([[1, 3], 3]), 6, json!([1, 1, 1, 3])), // `[1,3]` is not shorter than `1,1,1`
        (json!([1, 1, 1, 1, 3]), 6, json!([[1, 4], 3])),
        (json!([[1000, 1], 1000, 7]), 6, json!([[1000, 2], 7])),
        (json!([100, 100, 7]), 6, json!([100, 100, 7])),
        (json!([4, 4, 4]), 6, json!(4)),
        (json!([[4, 2], 4]), 6, json!(4)),
        (json!(4), 6, json!(4)),
        (json!([]), 0, json!(1)), // rule C16
    ] {
        let varied = json!([1, 2]);
        let (name, shapes) = spec(json!([given, varied]), &[length, 3]);
        assert_eq!((&*name, &shapes), ("rectilinear", &json!([written, varied])), "{given}");
    }
    assert_eq!(spec(json!([[4, 4, 4], 3, [[2, 2]]]), &[6, 6, 4]), ("regular".to_owned(), json!([4, 3, 2])));
}

#[test]
fn a_grid_grows_by_one_chunk_for_all_missing_elements() {
    // rule C18
    let grown = |entry: &Value, shape: u64, inner: u64| {
        let grid = grid(json!([entry, 5]), &[0, 7]);
        grid.grown(&[shape, 100], &[inner, 5]).map(|mut members| members.remove("chunk_shapes"))
    };
    for (entry, length, inner, now) in [
        (json!([1, 2, 3]), 6, 1, None),
        (json!([1, 2, 3]), 7, 1, Some(json!([1, 2, 3, 1]))),
        (json!([1, 2, 3]), 16, 1, Some(json!([1, 2, 3, 10]))),
        (json!([4, 4, 4]), 11, 1, None), // the chunks cover the new length already
        (json!([4, 4, 4]), 16, 1, Some(json!([[4, 4]]))),
        (json!([[1, 3]]), 5, 1, Some(json!([1, 1, 1, 2]))),
        (json!([]), 3, 1, Some(json!([3]))),
        (json!(4), 1000, 1, None),
        (json!([4, 2]), 9, 2, Some(json!([4, 2, 4]))), // a whole number of inner chunks (rule C19)
    ] {
        let now = now.map(|list| json!([list, 5]));
        assert_eq!(grown(&entry, length, inner).unwrap(), now, "{entry} to {length}");
    }
    let e = grown(&json!([4, 2]), u64::MAX, 4).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::InvalidArgument);
}

#[test]
fn a_grown_grid_agrees_with_the_old_one() {
    let agree = |a: Value, b: Value| {
        let [a, b] = [a, b].map(|list| grid(json!([3, list]), &[0, 0]));
        assert_eq!(a.agrees_with(&*b), b.agrees_with(&*a));
        a.agrees_with(&*b)
    };
    for (a, b, same) in [
        (json!([4, 4]), json!([4, 4, 3]), true),
        (json!([4, 4]), json!([[4, 2]]), true),
        (json!([4, 4]), json!(4), true),
        (json!([4, 4, 3]), json!(4), false),
        (json!([[4, 3]]), json!([4, 4, 3]), false),
        (json!([]), json!([9]), true),
        (json!(4), json!(4), true),
        (json!(4), json!(5), false),
    ] {
        assert_eq!(agree(a.clone(), b.clone()), same, "{a} {b}");
    }
    assert!(!grid(json!([3]), &[0]).agrees_with(&*grid(json!([3, 3]), &[0, 0])));
}

#[test]
fn the_draft_grid_is_read_on_request() {
    let read = |lists: Value| {
        build_with(&Limits::default(), "rectangular", json!({ "chunk_shape": lists }), &[6, 7])
    };
    let (draft, _) = read(json!([[1, 2, 3], 4])).unwrap();
    assert_eq!([lengths(&*draft, 0, 6), lengths(&*draft, 1, 7)], [vec![1, 2, 3], vec![4, 4]]);
    assert!(read(json!([[[3, 2]], 4])).is_err(), "the draft has no pairs");
    assert!(draft.grown(&[6, 9], &[1, 1]).unwrap().is_empty());
    assert_eq!(draft.grown(&[9, 9], &[1, 1]).unwrap_err().kind(), CodecErrorKind::Unsupported);
    let registry = Registry::core().with(GRIDS).unwrap();
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    // The table does not have the draft; it must be registered (rule C20).
    let legacy = Spec::new("rectangular", json!({ "chunk_shape": [6] })).unwrap();
    assert_eq!(
        registry.chunk_grid(&legacy, &[6], &context).unwrap_err().kind(),
        CodecErrorKind::UnknownExtension
    );
}

proptest! {
    /// A run gives the same chunks as its chunks one by one.
    #[test]
    fn chunks_cover_every_element_once(pairs in prop::collection::vec((1_u64..9, 1_u64..5), 0..8)) {
        let grid = RectilinearGrid::new([runs(&pairs.iter().map(|(n, m)| (*n, Some(*m))).collect::<Vec<_>>())]).unwrap();
        let mut end = 0;
        let mut index = 0;
        for length in pairs.iter().flat_map(|(length, count)| (0..*count).map(move |_| *length)) {
            prop_assert_eq!(grid.span(0, index), Some(end..end + length));
            for position in end..end + length {
                prop_assert_eq!(grid.find(0, position), Some(index));
                prop_assert_eq!(grid.count(0, position + 1), index + 1);
            }
            (end, index) = (end + length, index + 1);
        }
        prop_assert_eq!((grid.span(0, index), grid.find(0, end), grid.count(0, end + 1)), (None, None, index));
        // Written and read again, the grid is the same.
        let Spec { name, configuration, .. } = grid.to_spec();
        let again = build_with(&Limits::default(), &name, configuration.into(), &[end]).unwrap().0;
        prop_assert!(again.agrees_with(&grid));
    }
}

/// The values of long lists take many times the memory of their text, so they are counted first.
#[test]
fn a_list_with_too_many_entries_is_refused_before_it_is_converted() {
    let resolve = |entries: usize| {
        let list = vec!["1"; entries].join(",");
        let text = format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[{entries}],"data_type":"uint8","fill_value":0,
            "chunk_grid":{{"name":"rectilinear","configuration":{{"kind":"inline","chunk_shapes":[[{list}]]}}}},
            "chunk_key_encoding":{{"name":"default"}},"codecs":[{{"name":"bytes"}}]}}"#
        );
        let mut limits = Limits::default();
        limits.grid_runs = 1000;
        let meta = ArrayMeta::parse(text.as_bytes(), &limits, &mut Ignore).unwrap();
        meta.resolve(&registry(), &limits, &mut Ignore).map(|_| ())
    };
    resolve(2000).unwrap();
    let e = resolve(2001).unwrap_err();
    assert_eq!(e.kind(), MetaErrorKind::LimitExceeded, "{e:#}");
    let said = "member \"/chunk_grid/configuration/chunk_shapes\": the lists have more than 2000 entries";
    assert_eq!(format!("{e:#}"), said);
}
