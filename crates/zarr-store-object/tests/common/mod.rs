//! Shared by the tests of stores: scripted servers, and stores over them.
#![allow(dead_code, unreachable_pub, reason = "each test uses what it needs")]
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

pub mod double;
pub mod server;

pub use server::{Answer, Asked, Server};
use zarr_store::{Access, Schemes};
use zarr_traits::{Key, Prefix, Storage, StoreResult, block_on};

pub fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

pub fn prefix(name: &str) -> Prefix {
    Prefix::new(name).unwrap()
}

pub fn open(url: &str, access: &Access) -> StoreResult<Storage> {
    block_on(Schemes::new(&[zarr_store_object::SCHEMES]).open(url, access)).map(|located| located.storage)
}

/// Few and short attempts, so that tests end soon for any server.
pub fn brief() -> Access {
    Access::new().retries(2).timeout(std::time::Duration::from_secs(6))
}

/// Runs `work` for each item on a thread of its own: most of the time they wait.
pub fn at_once<T: Send>(items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let work = &work;
    std::thread::scope(|scope| items.into_iter().for_each(|item| drop(scope.spawn(move || work(item)))));
}

/// Opens all kinds of stores over `server`: S3, Google, Azure, a web server.
pub fn all(server: &Server, access: &Access) -> [(&'static str, Storage); 4] {
    let [s3, google, azure] = buckets(server, access);
    [s3, google, azure, ("http", open(&server.url("/bucket"), access).unwrap())]
}

pub fn buckets(server: &Server, access: &Access) -> [(&'static str, Storage); 3] {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("GOOGLE_BEARER_TOKEN", "token"),
        ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "a2V5"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let access = access.clone().environment(variables).endpoint(server.url(""));
    [("s3", "s3://bucket"), ("gs", "gs://bucket"), ("az", "az://bucket")]
        .map(|(name, url)| (name, open(url, &access).unwrap()))
}

pub fn s3(server: &Server) -> Storage {
    open("s3://bucket", &brief().anonymous(true).endpoint(server.url(""))).unwrap()
}

pub fn web(server: &Server) -> Storage {
    open(&server.url("/bucket"), &brief()).unwrap()
}

/// Returns an error as S3, Google and Azure write it.
pub fn refused(status: u16, code: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>");
    Answer::new(status).header("Content-Type", "application/xml").header("x-ms-error-code", code).body(body)
}

/// Returns the answer to a `GET` or `HEAD` of an object with this value.
pub fn object(asked: &Asked, value: &[u8]) -> Answer {
    let size = value.len();
    let answer =
        Answer::new(200).header("ETag", "\"tag\"").header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT");
    if asked.method == "HEAD" {
        return answer.declared(size);
    }
    match asked.range(size) {
        None => answer.body(value.to_vec()),
        Some(range) if range.is_empty() => {
            refused(416, "InvalidRange").header("Content-Range", &format!("bytes */{size}"))
        }
        Some(range) => {
            let told = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            answer.status(206).header("Content-Range", &told).body(value[range].to_vec())
        }
    }
}

/// Returns the answer of S3 to a delete request: all objects are deleted.
pub fn deleted(asked: &Asked) -> Answer {
    let body = String::from_utf8(asked.body.clone()).unwrap();
    let keys = body.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
    let deleted: String = keys.map(|(key, _)| format!("<Deleted><Key>{key}</Key></Deleted>")).collect();
    Answer::new(200)
        .header("Content-Type", "application/xml")
        .body(format!("<DeleteResult>{deleted}</DeleteResult>"))
}
