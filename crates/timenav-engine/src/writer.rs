//! The path of a change: decide, project, commit, seal.

pub(crate) mod batch_delay;
pub(crate) mod commit_times;
pub(crate) mod heads;
pub(crate) mod project;
pub(crate) mod draft;
pub(crate) mod deciding;
pub(crate) mod submission;
pub(crate) mod group;
pub(crate) mod gathering;
pub(crate) mod locking;
pub(crate) mod shared;
pub(crate) mod committer;
pub(crate) mod sealing;
pub(crate) mod keeping;
pub(crate) mod queue_state;
pub(crate) mod vouching;
