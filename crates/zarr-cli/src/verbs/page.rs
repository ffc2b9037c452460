//! The page that shows a store: [`model`] says what it shows, [`site`] is the page itself, with its [`script`]. `zarr serve`
//! answers its requests one by one; `zarr view` writes page and answers into one file.

mod chunks;
mod model;
mod pack;
mod plane;
mod points;
mod script;
mod site;

pub(crate) use chunks::chunks;
pub(crate) use model::{look, node, tree};
pub(crate) use plane::{Asked, plane};
pub(crate) use points::{column, points};
#[cfg(feature = "serve")]
pub(crate) use script::script;
pub(crate) use site::alone;
#[cfg(feature = "serve")]
pub(crate) use site::{CSS, html};
