//! A web server of tiles: each request reads a small box of an array. A request that its client drops is cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zarr_array::{Array, ArrayErrorKind, ArrayMeta, DataType, NdVec, standard};
use zarr_store::MemoryStore;

const TILE: u64 = 64;

#[derive(Clone)]
struct App {
    image: Array,
    /// The number of requests at work.
    at_work: Arc<AtomicUsize>,
}

async fn tile(
    State(app): State<App>,
    Path((y, x)): Path<(u64, u64)>,
) -> Result<Vec<u8>, (StatusCode, String)> {
    let _guard = Guard::new(&app.at_work);
    let range = |n: u64| n.saturating_mul(TILE)..n.saturating_add(1).saturating_mul(TILE);
    match app.image.read_bytes([range(y), range(x)]).await {
        Ok((_, pixels)) => Ok(pixels),
        Err(error) if error.kind() == ArrayErrorKind::InvalidArgument => {
            Err((StatusCode::NOT_FOUND, format!("{error:#}")))
        }
        Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}"))),
    }
}

/// Counts a request until it is answered or dropped.
struct Guard(Arc<AtomicUsize>);

impl Guard {
    fn new(at_work: &Arc<AtomicUsize>) -> Self {
        at_work.fetch_add(1, Ordering::SeqCst);
        Self(at_work.clone())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let meta = ArrayMeta::builder([1024, 1024], DataType::UInt8).chunks([256, 256]).build()?;
    let image = Array::create(MemoryStore::new(), "/", meta, &standard()).await?;
    image.write(.., NdVec::new([1024, 1024], vec![9_u8; 1 << 20])?).await?;
    let app = App { image, at_work: Arc::default() };
    let at_work = app.at_work.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = Router::new().route("/{y}/{x}", get(tile)).with_state(app);
    tokio::spawn(async move { axum::serve(listener, server).await });

    let mut answers = Vec::new();
    for path in ["/3/7", "/15/15", "/16/0"] {
        let mut client = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: tiles\r\nConnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await?;
        let status = String::from_utf8_lossy(&answer).lines().next().context("no answer")?.to_owned();
        let body = answer.windows(4).position(|four| four == b"\r\n\r\n").context("no body")? + 4;
        answers.push(format!("{path}: {status}, {} bytes", answer.len() - body));
    }
    // Clients that hang up.
    for _ in 0..50 {
        let mut client = TcpStream::connect(address).await?;
        client.write_all(b"GET /1/1 HTTP/1.1\r\nHost: tiles\r\n\r\n").await?;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    answers.iter().for_each(|answer| println!("{answer}"));
    println!("{} requests left at work", at_work.load(Ordering::SeqCst));
    Ok(())
}
