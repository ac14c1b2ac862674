//! The request shape of an operation.

use std::collections::BTreeMap;

use reqwest::Method;

/// Default page size for agents, which is small because a model reads the result.
pub(super) const PAGE_ITEMS_DEFAULT: u64 = 20;
/// The name of the timeline parameter.
pub(super) const TIMELINE: &str = "timeline_id";
/// The parameter that extends an operation to forks, which are separate timelines.
pub(super) const REACHES_FORKS: &str = "include_forks";

pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: String,
    /// Where each argument is sent.
    pub(super) goes: BTreeMap<String, Goes>,
    pub(super) required: Vec<String>,
    pub(super) has_body: bool,
    /// Request headers that it supports.
    pub(super) heeds: Vec<Head>,
}

/// A request header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// `Idempotency-Key`, so that a retry does not repeat the request.
    Once,
    /// `If-Match: *`: the timeline must exist.
    There,
    /// `Timenav-Firing`: the request comes from a firing handler.
    Inside,
}

/// Where an argument is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    Path,
    Query,
    Body,
    /// It is the whole body.
    WholeBody,
}

/// Returns whether an argument is hidden from an agent that is pinned to a timeline.
pub(super) fn hides(name: &str) -> bool {
    name == TIMELINE || name == REACHES_FORKS
}
