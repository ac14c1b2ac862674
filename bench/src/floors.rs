//! What the service is compared with.

pub(crate) mod bare_server;
pub(crate) mod inserts;
pub(crate) mod peers;
pub(crate) mod raw_sqlite;
