//! Servers of others, as their users run them: one process on the core for what is measured, every write durable.

mod etcd;
mod postgresql;
mod umadb;

pub(crate) use etcd::Etcd;
pub(crate) use postgresql::Postgresql;
pub(crate) use umadb::Umadb;

/// A server that appends one small event at a time and answers when it is on the disk.
pub(crate) trait Peer {
    /// Returns appends a second of so many clients.
    fn rate(&self, clients: usize) -> anyhow::Result<f64>;
}
