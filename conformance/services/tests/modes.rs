//! Every mode of the hostile server, as a web server and as S3: an array is read with the right elements, or is an error.

use std::thread;
use std::time::{Duration, Instant};

use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, codecs, standard};
use zarr_conformance::server::{MODES, Mode, Server};
use zarr_store::{Access, MemoryStore};
use zarr_traits::{Prefix, Storage, block_on};

use crate::common::{opened, s3};

/// A server with a sharded array below the path of every mode.
fn server(is_s3: bool) -> Server {
    let memory = Storage::from(MemoryStore::new());
    let meta =
        ArrayMeta::builder([1000], DataType::UInt16).chunks([100]).shards([500]).codecs([codecs::zstd(1)]);
    let array = Array::create(memory.clone(), "/", meta.build().unwrap(), &standard()).unwrap();
    array.write(.., &(0..1000).collect::<Vec<u16>>()).unwrap();
    let server = Server::at_port(0, is_s3).unwrap();
    for object in block_on(memory.list_all(&Prefix::root())).unwrap() {
        let bytes = block_on(memory.get(&object.key, u64::MAX)).unwrap().unwrap();
        for mode in MODES {
            server.insert(&format!("/{}/{}", mode.name, object.key), bytes.clone());
        }
    }
    for mode in MODES {
        mode.script(&server.url("")).into_iter().for_each(|(when, fault)| server.script(when, fault));
    }
    server
}

fn read(server: &Server, mode: &Mode, is_s3: bool) -> Result<Vec<u16>, String> {
    let access = if is_s3 { s3(&server.url("")) } else { Access::new() };
    let access = access.retries(3).timeout(Duration::from_secs(2));
    let url = if is_s3 { format!("s3://{}", mode.name) } else { server.url(&format!("/{}", mode.name)) };
    let array = Array::open(opened(&url, &access), "/", &standard()).map_err(|e| format!("{e:#}"))?;
    // A part, so that ranges are asked for.
    array.read(250..650).map(|values| values.into_vec()).map_err(|e| format!("{e:#}"))
}

fn check(server: &Server, mode: &Mode, is_s3: bool) {
    let begun = Instant::now();
    let found = read(server, mode, is_s3);
    // Reads of a document and of two shards, of two seconds each at most; the machine may be busy.
    assert!(begun.elapsed() < Duration::from_secs(20), "{}: {:?}", mode.name, begun.elapsed());
    match found {
        Ok(values) => assert!(values.into_iter().eq(250..650), "{}: other elements", mode.name),
        Err(error) => {
            assert!(!mode.can_be_read, "{}, S3: {is_s3}: {error:#}", mode.name);
            assert!(error.contains("zarr.json") || error.contains("c/"), "{}: {error:#}", mode.name);
        }
    }
}

#[test]
fn a_hostile_server_causes_an_error_or_the_right_elements() {
    for is_s3 in [false, true] {
        let server = server(is_s3);
        thread::scope(|scope| {
            for mode in MODES {
                scope.spawn(|| check(&server, mode, is_s3));
            }
        });
    }
}
