//! Builds the guide: `zarr-guide-book GUIDE TARGET`. `cargo xtask book` runs it.

use std::path::PathBuf;

use mdbook_driver::MDBook;

fn main() -> mdbook_driver::errors::Result<()> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(guide), Some(target)) = (paths.next(), paths.next()) else {
        return Err(mdbook_driver::errors::Error::msg(
            "expected two folders: the guide, and where the book goes",
        ));
    };
    let mut book = MDBook::load(guide)?;
    book.config.build.build_dir = target;
    book.build()
}
