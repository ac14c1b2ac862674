//! How an operation is asked for.

use std::collections::BTreeMap;

use reqwest::Method;

/// Items of a list that are answered where the agent does not say how many. Answers are read by a model.
pub(super) const PAGE_ITEMS_DEFAULT: u64 = 20;
/// What an operation calls the timeline that it is about.
pub(super) const TIMELINE: &str = "timeline_id";
/// Reaches forks of a timeline, which are timelines of their own.
pub(super) const REACHES_FORKS: &str = "include_forks";

/// How an operation is asked for.
pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: String,
    /// Where each argument goes.
    pub(super) goes: BTreeMap<String, Goes>,
    pub(super) required: Vec<String>,
    pub(super) has_body: bool,
    /// What it heeds in the head of a request.
    pub(super) heeds: Vec<Head>,
}

/// What is said in the head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// A key that makes it happen once, even if it is sent twice.
    Once,
    /// That the timeline has to be there.
    There,
    /// That the handler of a firing asks.
    Inside,
}

/// Where an argument goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    Path,
    Query,
    Body,
    /// It is the body.
    WholeBody,
}

/// Returns whether an argument is not for an agent that is kept to a timeline.
pub(super) fn hides(name: &str) -> bool {
    name == TIMELINE || name == REACHES_FORKS
}
