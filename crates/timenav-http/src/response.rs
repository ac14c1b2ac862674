//! What a response says: answers, problems and the layers around them.

pub(crate) mod answer;
pub(crate) mod compression;
pub(crate) mod finish;
pub(crate) mod problem;
pub(crate) mod refusals;
pub(crate) mod request_ids;
