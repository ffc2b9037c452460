//! Arrays that several writers append to, while answers get lost.

use crate::common::{opened, s3};

use zarr_array::{Array, ArrayErrorKind, ArrayMeta, DataType, NdVec, standard};
use zarr_services::{Fault, Server, When};
use zarr_traits::{Bytes, block_on};

const DOCUMENT: &str = "/bucket/a/zarr.json";

/// An array of ten elements, opened by a writer.
fn ten(server: &Server) -> Array {
    let storage = opened("s3://bucket/a", &s3(&server.url("")));
    let meta = ArrayMeta::builder([10], DataType::Int16).chunks([100]).build().unwrap();
    block_on(Array::create(storage, "/", meta, &standard())).unwrap()
}

fn with_length(server: &Server, length: u64) -> Bytes {
    let text = String::from_utf8(server.get(DOCUMENT).unwrap().to_vec()).unwrap();
    let (before, rest) = text.split_once("\"shape\"").unwrap();
    let (_, after) = rest.split_once(']').unwrap();
    format!("{before}\"shape\": [{length}]{after}").into()
}

fn puts(server: &Server) -> usize {
    server.requests().iter().filter(|r| r.method == "PUT" && r.path == DOCUMENT).count()
}

/// The first writer extends the array by two and gets no answer. The second writer extends it by three. The first
/// writer cannot tell whether ten became thirteen, or twelve became fifteen.
#[test]
fn an_uncertain_reservation_is_not_repeated() {
    for (applied, length) in [(true, 15), (false, 13)] {
        let server = Server::s3();
        let mut array = ten(&server);
        server.forget();
        let lost = if applied { Fault::Reset.applied() } else { Fault::Reset };
        server.script(When::on("PUT", "zarr.json").first(1), lost);
        server.script(When::on("HEAD", "zarr.json").first(1), Fault::Replace(with_length(&server, length)));
        let values = NdVec::new([2], vec![7_i16; 2]).unwrap();
        let e = block_on(array.append(0, values)).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::Uncertain, "{e:#}");
        assert_eq!((puts(&server), server.get(DOCUMENT).unwrap()), (1, with_length(&server, length)));
        assert_eq!(server.paths(), [DOCUMENT], "no element is written");
        assert_eq!(array.shape(), [10]);
    }
}

#[test]
fn an_append_whose_answer_is_lost_is_done_once() {
    for applied in [true, false] {
        let server = Server::s3();
        let mut array = ten(&server);
        let lost = if applied { Fault::Reset.applied() } else { Fault::Reset };
        server.script(When::on("PUT", "zarr.json").first(1), lost);
        block_on(array.append(0, NdVec::new([2], vec![7_i16; 2]).unwrap())).unwrap();
        assert_eq!(array.shape(), [12]);
        assert_eq!(
            block_on(array.read::<i16>(..)).unwrap().into_vec(),
            [[0; 10].as_slice(), &[7; 2]].concat()
        );
    }
}
