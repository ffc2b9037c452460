//! The chapters of the guide, as documentation: rustdoc compiles and runs their Rust code. `console.rs` runs their command
//! lines.

macro_rules! chapters {
    ($($name:ident $file:literal),* $(,)?) => {$(
        #[doc = include_str!(concat!("../src/", $file))]
        mod $name {}
    )*};
}

chapters! {
    first "first.md",
    concepts "concepts.md",
    layout "layout.md",
    stores "stores.md",
    performance "performance.md",
    writing "writing.md",
    types "types.md",
    extending "extending.md",
    cli "cli.md",
    rechunk "rechunk.md",
    icechunk "icechunk.md",
    conformance "conformance.md",
    coming "coming.md",
}
