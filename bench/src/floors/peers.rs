//! Other servers in their usual configuration: one process on the measured core, with durable writes.

mod etcd;
mod postgresql;
mod umadb;

pub(crate) use etcd::Etcd;
pub(crate) use postgresql::Postgresql;
pub(crate) use umadb::Umadb;

/// A server that appends one small event at a time and responds once it is durable.
pub(crate) trait Peer {
    /// Returns appends per second of this many clients.
    fn rate(&self, clients: usize) -> anyhow::Result<f64>;
}
