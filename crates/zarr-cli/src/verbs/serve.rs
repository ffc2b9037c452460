//! `zarr serve`: a store over HTTP, for reading.
//!
//! [`server`] accepts connections and bounds them, [`answer`] says what a request gets.

mod answer;
mod conditions;
mod listing;
mod object;
mod page;
mod path;
mod patient;
mod pool;
mod server;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal;

use crate::args::stores::{Stores, shown};
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome, say};
use crate::out::stdout::print;
use answer::Served;
use page::Page;
use server::Bounds;

/// Serve a store over HTTP, for reading.
///
/// Prints the URL on stdout and answers GET and HEAD until Ctrl-C: objects with ranges and ETags, and listings of
/// folders. The URL of a folder ends in `/`; `?format=json` returns its listing as JSON. Files whose names begin with a
/// dot are not served, except the metadata documents of format 2. Nothing outside of the given node is served: a link in a
/// directory that leads out of the node is "not found", unless --follow-links is given.
///
/// A browser that opens the URL gets the page at `/.page/`, which is that of `zarr view` with all positions and levels; other
/// programs get the listing, which a browser finds at `/?format=html`.
///
/// Only programs of this machine can connect, unless --listen names another address. Pages of other origins cannot read
/// the store in a browser, nor ask the page for work, unless --allow-origin names them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node that becomes the root of the URL.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// The port of this machine, or the address and port, to listen at. Port 0 is a free port.
    #[arg(
        long,
        alias = "port",
        value_name = "PORT|ADDRESS:PORT",
        default_value = "127.0.0.1:8080",
        value_parser = address
    )]
    listen: SocketAddr,
    /// An origin whose pages may read the store in a browser, such as `https://example.org`, or `*` for all. Pages of this
    /// machine (`http://localhost:3000`) always may. May be given several times.
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Also serve what links in a directory lead to outside of the node.
    #[arg(long)]
    follow_links: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr serve weather.zarr
  zarr serve --listen 127.0.0.1:0 s3://bucket/weather.zarr
  zarr serve --allow-origin https://example.org weather.zip
  curl -r 0-99 http://127.0.0.1:8080/t2m/c/0/0/0";

/// Parses a port, or an address and a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let of_this_machine = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    text.parse().or_else(|_| text.parse().map(of_this_machine)).map_err(|_| {
        format!("{text:?} is neither a port nor an address and a port, such as 9000 or 127.0.0.1:9000")
    })
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?.quiet();
    let target = if args.follow_links { target } else { target.confined(stores).map_err(unconfined)? };
    let served = Served {
        root: target.prefix()?,
        storage: target.storage.read_only(),
        origins: args.allow_origin.clone(),
        only_this_machine: args.listen.ip().is_loopback(),
        page: Arc::new(Page::new(target)),
    };
    let unable = |e| Failure::io(&e, format_args!("cannot listen at {}", args.listen));
    let bounds = Bounds::default();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(bounds.reads + page::THREADS)
        .build()
        .map_err(unable)?;
    let done = runtime.block_on(async {
        let listener = TcpListener::bind(args.listen).await.map_err(unable)?;
        let address = listener.local_addr().map_err(unable)?;
        if !address.ip().is_loopback() {
            say("note: other machines can read this store; there is no password and no encryption");
        }
        let mut stopped = Box::pin(signal::ctrl_c());
        print(&format!("http://{address}/\n"))?;
        say(&format!(
            "note: serving {:?}; a browser shows it at http://{address}/; Ctrl-C ends",
            shown(&args.store)
        ));
        let serving = std::pin::pin!(server::serve(listener, Arc::new(served), bounds));
        futures_util::future::select(&mut stopped, serving).await;
        Ok(Exit::Ok)
    });
    // A read that is still waiting for the store does not keep the command.
    runtime.shutdown_background();
    done
}

/// Names the option for systems that cannot confine links.
fn unconfined(e: Failure) -> Failure {
    match e.exit() {
        Exit::Unsupported => {
            Failure::unsupported(format!("{}; --follow-links serves all links", e.message()))
        }
        _ => e,
    }
}
