//! Files that hold records in another way than as JSON: databases, archives, recordings of a proxy.

mod msgpack;
pub(super) mod sqlite;
pub(super) mod tnetstring;
pub(super) mod zip;
