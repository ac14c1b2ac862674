use std::collections::BTreeMap;

use reqwest::Method;

/// Default page size for agents, which is small because a model reads the result.
pub(super) const PAGE_ITEMS_DEFAULT: u64 = 20;
pub(super) const TIMELINE: &str = "timeline_id";
/// The parameter that extends an operation to forks, which are separate timelines.
pub(super) const REACHES_FORKS: &str = "include_forks";

pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) goes: BTreeMap<String, CallRoute>,
    pub(super) required: Vec<String>,
    pub(super) has_body: bool,
    pub(super) heeds: Vec<Head>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// `Idempotency-Key`, so that a retry does not repeat the request.
    Once,
    /// `If-Match: *`: the timeline must exist.
    There,
    /// `Timenav-Firing`: the request comes from a firing handler.
    Inside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallRoute {
    Path,
    Query,
    Body,
    WholeBody,
}

/// Returns whether an argument is hidden from an agent that is pinned to a timeline.
pub(super) fn hides(name: &str) -> bool {
    name == TIMELINE || name == REACHES_FORKS
}
