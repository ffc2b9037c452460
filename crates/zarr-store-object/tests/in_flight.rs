//! `in_flight` limits the requests at once of one handle, over all operations.

use std::time::Duration;

use crate::common::{Answer, Asked, Server, brief, deleted, key, object, open, prefix};
use futures_util::future::join_all;
use zarr_traits::{ByteRange, Bytes, Storage, block_on, store::ReadVersion};

const IN_FLIGHT: usize = 8;

/// Answers like S3. Each answer takes a while, so that requests overlap.
fn answer(asked: &Asked) -> Answer {
    let xml = |text: &str| Answer::new(200).header("Content-Type", "application/xml").body(text);
    let answer = match asked.method.as_str() {
        "POST" if asked.parameter("uploads").is_some() => {
            xml("<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>k</Key><UploadId>u</UploadId>\
             </InitiateMultipartUploadResult>")
        }
        "POST" if asked.parameter("uploadId").is_some() => {
            xml("<CompleteMultipartUploadResult><ETag>\"whole\"</ETag></CompleteMultipartUploadResult>")
        }
        "POST" => deleted(asked),
        "PUT" => Answer::new(200).header("ETag", "\"part\""),
        "GET" if asked.is_list() => {
            let item = |n: usize| {
                let key = format!("<Key>c/{n:03}</Key><Size>1</Size>");
                format!("<Contents>{key}<LastModified>2026-11-20T10:00:00Z</LastModified></Contents>")
            };
            xml(&format!("<ListBucketResult>{}</ListBucketResult>", (0..100).map(item).collect::<String>()))
        }
        "DELETE" => Answer::new(204),
        _ => object(asked, &[7; 64 << 10]),
    };
    answer.after(Duration::from_millis(10))
}

fn opened(server: &Server) -> Storage {
    open("s3://bucket", &brief().anonymous(true).endpoint(server.url("")).in_flight(IN_FLIGHT)).unwrap()
}

#[test]
fn ranges_of_many_calls_share_the_limit() {
    let server = Server::new(answer);
    let storage = opened(&server);
    let ranges: Vec<_> = (0..32).map(|n| ByteRange::Span { offset: n * 1000, len: 10 }).collect();
    let keys: Vec<_> = (0..16).map(|n| key(&format!("c/{n}"))).collect();
    let reads = keys.iter().map(|key| storage.get_ranges(key, &ranges, ReadVersion::Any, u64::MAX));
    for reply in block_on(join_all(reads)) {
        assert!(reply.unwrap().unwrap().bytes.iter().all(|bytes| bytes == &[7; 10][..]));
    }
    assert_eq!(server.asked().len(), 16 * 32);
    assert!((2..=IN_FLIGHT).contains(&server.most_at_once()), "{} at once", server.most_at_once());
}

#[test]
fn all_operations_of_a_handle_share_the_limit() {
    let server = Server::new(answer);
    let storage = opened(&server);
    let large = Bytes::from(vec![0; 100 << 20]); // 7 parts
    let keys: Vec<_> = (0..16).map(|n| key(&format!("c/{n}"))).collect();
    let below = prefix("c/");
    let large = [large];
    block_on(async {
        let all = (
            join_all(keys.iter().map(|key| storage.put_if(key, &[], zarr_traits::store::PutMode::Replace))),
            join_all(
                keys[..2].iter().map(|key| storage.put_if(key, &large, zarr_traits::store::PutMode::Replace)),
            ),
            join_all(keys.iter().map(|_| storage.list(&below, None))),
            join_all(keys.iter().map(|_| storage.list_dir(&below))),
            join_all(keys.iter().map(|_| storage.delete_prefix(&below))),
            join_all(keys.iter().map(|key| storage.delete_if(key, None))),
            join_all(keys.iter().map(|key| storage.head(key))),
        );
        let (puts, uploads, lists, dirs, erased, deleted, sizes) =
            futures_util::join!(all.0, all.1, all.2, all.3, all.4, all.5, all.6);
        assert!(puts.iter().chain(&uploads).chain(&deleted).all(Result::is_ok));
        assert!(lists.iter().all(|page| page.as_ref().unwrap().entries.len() == 100));
        assert!(dirs.iter().all(Result::is_ok) && erased.iter().all(Result::is_ok));
        assert!(sizes.iter().all(Result::is_ok));
    });
    assert!((2..=IN_FLIGHT).contains(&server.most_at_once()), "{} at once", server.most_at_once());
}

/// A large value is one part of a put, like a chunk, and is sent in parts of 16 MiB.
#[test]
fn the_parts_of_a_large_value_are_sent_a_few_at_a_time() {
    let server = Server::new(answer);
    let storage = open("s3://bucket", &brief().anonymous(true).endpoint(server.url(""))).unwrap();
    let large = Bytes::from(vec![0; 256 << 20]);
    block_on(storage.put(&key("c/0"), large)).unwrap();
    let asked = server.asked();
    let parts: Vec<_> = asked.iter().filter(|asked| asked.method == "PUT").collect();
    let mut numbers: Vec<usize> =
        parts.iter().map(|part| part.parameter("partNumber").unwrap().parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, Vec::from_iter(1..=16));
    assert!(parts.iter().all(|part| part.length == 16 << 20));
    assert!(server.most_at_once() <= 8, "{} at once", server.most_at_once());
}

#[test]
fn more_requests_are_sent_at_once_as_long_as_answers_come_in_time() {
    let server = Server::new(|asked| object(asked, b"value").after(Duration::from_millis(50)));
    let storage = open("s3://bucket", &brief().anonymous(true).endpoint(server.url(""))).unwrap();
    let keys: Vec<_> = (0..600).map(|n| key(&format!("c/{n}"))).collect();
    let sizes = block_on(join_all(keys.iter().map(|key| storage.size(key))));
    assert!(sizes.into_iter().all(|size| size.unwrap() == Some(5)));
    assert_eq!(server.asked().len(), 600);
    assert!((65..=192).contains(&server.most_at_once()), "{} at once", server.most_at_once());
}
