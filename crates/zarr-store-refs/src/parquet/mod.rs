//! Files of references in Parquet: the part of the format that writers of references use.
//!
//! A file is columns in row groups, and a column of a row group is pages. The footer says where they are
//! ([`footer`]). A page is inflated only after its size is checked ([`page`]), and its values are decoded one by one
//! ([`bits`], [`values`]) into compact records ([`rows`]).

mod bits;
mod footer;
mod page;
mod problem;
mod rows;
mod thrift;
mod values;

pub(crate) use footer::Layout;
pub(crate) use problem::Problem;
pub(crate) use rows::Rows;
