//! HTTP without a socket: paths, keys, and answers that are one text of JSON.

mod answer;
mod keys;
mod path;

pub(crate) use answer::{Head, unreadable};
pub(crate) use keys::{disguised, keys, without_keys};
pub(crate) use path::{Route, path};
