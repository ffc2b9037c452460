//! The stores of zarr-store-object keep the contract of stores, over third-party services and over our own server.

use std::sync::atomic::{AtomicUsize, Ordering};

use zarr_array::{Array, ArrayMeta, DataType, NdVec, standard};
use zarr_conformance::store::{check, check_reading};
use zarr_hierarchy::{CopyOptions, copy};
use zarr_services::client::request;
use zarr_services::{Azurite, HttpRequest, Moto, Nginx, Server};
use zarr_store::Access;
use zarr_store_fs::FsStore;
use zarr_traits::{
    Key, Prefix, Storage, block_on,
    store::{Outcome, PutMode},
};

use crate::common::{opened, s3};

/// Returns a new, unique prefix.
fn fresh() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("run{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn s3_of_our_server() {
    let server = Server::s3();
    check(|| opened(&format!("s3://bucket/{}", fresh()), &s3(&server.url("")))).unwrap();
}

/// Puts objects and checks that they are read. The whole suite takes half a minute with a real service.
fn check_read(open: impl Fn() -> Storage) {
    check_reading(|objects| {
        let storage = open();
        for (key, value) in objects {
            block_on(storage.put(key, value.clone())).unwrap();
        }
        storage.read_only()
    })
    .unwrap();
}

#[test]
fn s3_of_moto_is_read() {
    let Some(moto) = Moto::shared() else { return };
    moto.make_bucket("read").unwrap();
    check_read(|| opened(&format!("s3://read/{}", fresh()), &s3(&moto.url())));
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_s3_of_moto() {
    let Some(moto) = Moto::shared() else { return };
    moto.make_bucket("suite").unwrap();
    check(|| opened(&format!("s3://suite/{}", fresh()), &s3(&moto.url()))).unwrap();
}

#[test]
fn azure_of_azurite_is_read() {
    let Some(azurite) = Azurite::shared() else { return };
    azurite.make_container("read").unwrap();
    let access = Access::new().environment(azurite.variables());
    check_read(|| opened(&format!("az://read/{}", fresh()), &access));
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_azure_of_azurite() {
    let Some(azurite) = Azurite::shared() else { return };
    azurite.make_container("suite").unwrap();
    let access = Access::new().environment(azurite.variables());
    check(|| opened(&format!("az://suite/{}", fresh()), &access)).unwrap();
}

#[test]
fn azure_with_a_shared_access_signature() {
    let Some(azurite) = Azurite::shared() else { return };
    azurite.make_container("signed").unwrap();
    let storage = opened("az://signed/below", &Access::new().environment(azurite.signed_variables()));
    let key = Key::new("a b/c#0").unwrap();
    let put = |how| block_on(storage.put_if(&key, &["value".into()], how)).unwrap();
    assert!(matches!(put(PutMode::Create), Outcome::Done(Some(_))));
    assert_eq!(put(PutMode::Create), Outcome::Conflict);
    assert_eq!(block_on(storage.get(&key, u64::MAX)).unwrap().unwrap(), "value");
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    assert_eq!(listed.iter().map(|listed| &listed.key).collect::<Vec<_>>(), [&key]);
}

/// A copy between two handles of a bucket is one request for each object, and no value is sent. Between buckets values are
/// read and put.
#[test]
fn a_bucket_copies_its_own_objects() {
    let server = Server::s3();
    let access = s3(&server.url(""));
    let source = opened("s3://bucket/source", &access);
    let meta = ArrayMeta::builder([4], DataType::UInt8).chunks([1]).build().unwrap();
    let array = block_on(Array::create(source.clone(), "/a", meta, &standard())).unwrap();
    block_on(array.write(.., NdVec::new([4], vec![1_u8, 2, 3, 4]).unwrap())).unwrap();
    for (url, copies, reads) in [("s3://bucket/copy", 4, 0), ("s3://other/copy", 0, 4)] {
        let to = opened(url, &access);
        server.forget();
        let copied = block_on(copy(source.clone(), "/a", to.clone(), "/b", &CopyOptions::new())).unwrap();
        assert_eq!((copied.documents, copied.objects), (1, 4), "{url}");
        let asked = server.requests();
        let chunk = |asked: &HttpRequest| asked.path.contains("/c/");
        let count =
            |what: &dyn Fn(&HttpRequest) -> bool| asked.iter().filter(|a| chunk(a) && what(a)).count();
        assert_eq!(count(&|a| a.header("x-amz-copy-source").is_some()), copies, "{url}");
        assert_eq!(count(&|a| a.method == "GET"), reads, "{url}");
        assert_eq!(count(&|_| true), copies + 2 * reads, "{url}");
        let array = block_on(Array::open(to, "/b", &standard())).unwrap();
        assert_eq!(block_on(array.read::<u8>(..)).unwrap().into_vec(), [1, 2, 3, 4], "{url}");
    }
}

/// The mark that identifies a conditional put is kept with the object.
#[test]
fn marks_of_puts_are_kept() {
    let check = |storage: &Storage, address, target: &str, headers: &[(&str, &str)]| {
        let create = |key: &Key| block_on(storage.put_if(key, &["value".into()], PutMode::Create));
        assert!(matches!(create(&Key::new("k").unwrap()).unwrap(), Outcome::Done(_)));
        let answer = request(address, "HEAD", target, headers, b"").unwrap();
        let mark = answer.headers.iter().find(|(name, _)| name.ends_with("-meta-zarrput"));
        assert_eq!(mark.map(|(_, mark)| mark.len()), Some(33), "{answer:?}");
    };
    if let Some(moto) = Moto::shared() {
        moto.make_bucket("marks").unwrap();
        let storage = opened("s3://marks", &s3(&moto.url()));
        check(&storage, moto.address(), "/marks/k", &[Moto::AUTHORIZATION]);
    }
    if let Some(azurite) = Azurite::shared() {
        azurite.make_container("marks").unwrap();
        let storage = opened("az://marks", &Access::new().environment(azurite.variables()));
        let target = format!("/{}/marks/k?{}", Azurite::ACCOUNT, Azurite::SAS);
        check(&storage, azurite.address(), &target, &[]);
    }
}

/// Lists one key more than the page size of services.
fn check_pages(endpoint: &str, put: impl Fn(&Storage, &Key)) {
    let storage = opened("s3://pages/below", &s3(endpoint));
    let keys: Vec<Key> = (0..1001).map(|number| Key::new(format!("c/{number:04}")).unwrap()).collect();
    keys.iter().for_each(|key| put(&storage, key));
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    assert!(listed.iter().map(|listed| &listed.key).eq(&keys));
}

#[test]
fn lists_of_several_pages_are_whole() {
    let server = Server::s3();
    check_pages(&server.url(""), |_, key| server.insert(&format!("/pages/below/{key}"), ""));
    assert_eq!(server.requests().iter().filter(|r| r.parameter("list-type").is_some()).count(), 2);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_lists_of_several_pages_of_moto_are_whole() {
    let Some(moto) = Moto::shared() else { return };
    moto.make_bucket("pages").unwrap();
    check_pages(&moto.url(), |storage, key| block_on(storage.put(key, "")).unwrap());
}

/// Reads over HTTP what was written to a folder.
fn read_over(url: &str, root: &std::path::Path) {
    check_reading(|objects| {
        let folder = fresh();
        let files = Storage::from(FsStore::create(root.join(&folder)).unwrap());
        for (key, value) in objects {
            block_on(files.put(key, value.clone())).unwrap();
        }
        opened(&format!("{url}/{folder}"), &Access::new())
    })
    .unwrap();
}

#[test]
fn http_of_nginx() {
    let Some(nginx) = Nginx::shared() else { return };
    read_over(&nginx.url(), &nginx.root());
}

#[test]
fn http_of_our_server() {
    let server = Server::http();
    check_reading(|objects| {
        let folder = fresh();
        for (key, value) in objects {
            server.insert(&format!("/{folder}/{key}"), value.clone());
        }
        opened(&server.url(&format!("/{folder}/")), &Access::new())
    })
    .unwrap();
}
