//! What a service does besides answering requests.

pub(crate) mod following;
pub(crate) mod replicas;
pub(crate) mod sweeping;
pub(crate) mod timekeeper;
pub(crate) mod webhooks;
pub(crate) mod witnesses;
