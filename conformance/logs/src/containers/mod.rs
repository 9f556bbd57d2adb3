//! Files that hold records in another way than as JSON: databases, archives, recordings of a proxy, YAML.

pub(super) mod base64;
mod msgpack;
pub(super) mod sqlite;
pub(super) mod tnetstring;
pub(super) mod yaml;
pub(super) mod zip;
