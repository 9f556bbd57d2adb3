//! Files that hold records in another way than as JSON: databases, archives, recordings of a proxy, YAML.

mod msgpack;
pub(super) mod sqlite;
pub(super) mod tnetstring;
pub(super) mod yaml;
pub(super) mod zip;
