//! The stores of zarr-store-object keep the contract of stores, over services that others wrote and over our own server.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{azure, opened, s3};
use zarr_conformance::store::{check, check_reading};
use zarr_services::{Azurite, Moto, Nginx, Server};
use zarr_store_fs::FsStore;
use zarr_traits::{Access, Storage, block_on};

/// A prefix that nobody else has.
fn fresh() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("run{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn s3_of_our_server() {
    let server = Server::s3();
    check(|| opened(&format!("s3://bucket/{}", fresh()), &s3(&server.url("")))).unwrap();
}

#[test]
fn s3_of_moto() {
    let Some(moto) = Moto::shared() else { return };
    moto.make_bucket("suite").unwrap();
    check(|| opened(&format!("s3://suite/{}", fresh()), &s3(&moto.url()))).unwrap();
}

#[test]
fn azure_of_azurite() {
    let Some(azurite) = Azurite::shared() else { return };
    azurite.make_container("suite").unwrap();
    check(|| opened(&format!("az://suite/{}", fresh()), &azure(azurite))).unwrap();
}

/// What was written to a folder is read over HTTP.
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
