//! Timelines and their anchors (`/timelines`, `/timeline/{timeline_id}`, `/v1/set-anchor`, `/v1/anchors`).

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::instant::Instant;
use crate::operations::access::Permissions;
use crate::operations::clock::Clock;
use crate::operations::ledger::{LedgerHead, LedgerPosition};
use crate::options::options;
use crate::transport::arguments::{ClockDuration, Moment};
use crate::transport::call::{Call, page};
use crate::transport::request::Request;

/// A timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The timeline.
    pub timeline_id: String,
    /// The caller's role: `read`, `write`, `admin` or `operator`.
    pub role: String,
    /// Host time of its creation.
    pub created_at: Instant,
    /// Host time at which it expires; absent if it does not expire.
    pub expires_at: Option<Instant>,
    /// The number of anchors.
    pub anchors: Option<u64>,
    /// The number of events that are not canceled.
    pub events: Option<u64>,
    /// Its clock; absent if a restriction hides it.
    pub clock: Option<Clock>,
    /// The timeline that it was forked from.
    pub fork: Option<Fork>,
    /// Its latest signed hash tree.
    pub head: Option<LedgerHead>,
    /// Its permissions, for its admins.
    pub permissions: Option<Permissions>,
    /// How long contents of reads and rejected requests are kept; absent means forever.
    pub retention: Option<Retention>,
}

/// The origin of a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fork {
    /// The timeline.
    pub parent: String,
    /// The size of its ledger at the fork.
    pub size: u64,
    /// Whether timers of the fork send webhooks.
    pub deliver_webhooks: Option<bool>,
}

/// How long contents are kept; `None` means forever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Retention {
    /// Contents of reads, as a duration.
    pub reads: Option<String>,
    /// Contents of rejected requests, as a duration.
    pub rejections: Option<String>,
}

/// One page of timelines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimelinePage {
    /// A sentence about the outcome.
    pub status: String,
    /// The timelines.
    pub timelines: Vec<Timeline>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

page!(TimelinePage, timelines: Timeline);

/// The response to [`Client::create_timeline`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreateTimelineResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Its first ledger entry.
    pub ledger: LedgerPosition,
    /// Host time at which it expires; absent if it does not expire.
    pub expires_at: Option<Instant>,
}

/// The response to [`Client::end_timeline`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EndTimelineResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// Its last signed hash tree.
    pub head: LedgerHead,
    /// Host time after which its contents are deleted.
    pub contents_until: Instant,
    /// The number of its forks, which keep their inherited contents.
    pub forks: u64,
    /// The entry in the ledger of `system`.
    pub ledger: LedgerPosition,
}

/// The response to [`Client::set_anchor`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SetAnchorResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The id of the anchor.
    pub anchor_id: String,
    /// The marked instant.
    pub timestamp: Instant,
    /// Its ledger entry.
    pub ledger: LedgerPosition,
    /// Whether the request created the timeline.
    pub timeline_created: Option<bool>,
}

/// An anchor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Anchor {
    /// The id of the anchor.
    pub anchor_id: String,
    /// The marked instant.
    pub timestamp: Instant,
    /// Its purpose.
    pub description: String,
    /// Whether a change of history before it is a paradox.
    pub fixed: bool,
    /// The position of its ledger entry.
    pub position: u64,
    /// The timeline of that ledger.
    pub timeline_id: String,
    /// Host time at which it was set.
    pub set_at: Instant,
}

/// One page of anchors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnchorPage {
    /// The timeline.
    pub timeline_id: String,
    /// The anchors.
    pub anchors: Vec<Anchor>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

page!(AnchorPage, anchors: Anchor);

impl Call<'_, TimelinePage> {
    options! {
        /// Sets the number of timelines per page.
        limit: u32,
    }
}

impl Call<'_, AnchorPage> {
    options! {
        /// Sets the number of anchors per page.
        limit: u32,
    }
}

impl Call<'_, CreateTimelineResponse> {
    options! {
        /// Forks this timeline.
        fork_of: into String,
        /// Sets the point of the fork. Defaults to now.
        at: into Moment,
        /// Sets whether timers of the fork send webhooks. Defaults to `false`.
        deliver_webhooks: bool,
        /// Sets the lifetime of the timeline, in host time.
        expires_in: into ClockDuration,
    }
}

impl Call<'_, SetAnchorResponse> {
    options! {
        /// Sets the purpose.
        description: into String,
        /// Sets the instant. Defaults to the clock's reading.
        timestamp: Instant,
        /// Sets whether a change of history before it is a paradox.
        fixed: bool,
    }
}

impl Client {
    /// Lists the timelines that the caller can read (`GET /timelines`).
    pub fn timelines(&self) -> Call<'_, TimelinePage> {
        self.get(&["timelines"])
    }

    /// Reads a timeline (`GET /timeline/{timeline_id}`).
    pub fn timeline(&self, timeline_id: &str) -> Call<'_, Timeline> {
        self.get(&["timeline", timeline_id])
    }

    /// Creates a timeline, with the caller as its admin (`POST /timelines`).
    pub fn create_timeline(&self, timeline_id: &str) -> Call<'_, CreateTimelineResponse> {
        self.post(&["timelines"]).timeline_id(timeline_id)
    }

    /// Ends a timeline (`DELETE /timeline/{timeline_id}`). It cannot be read afterward, and its name cannot be reused.
    pub fn end_timeline(&self, timeline_id: &str) -> Call<'_, EndTimelineResponse> {
        Call::new(self, Request::new(reqwest::Method::DELETE, &["timeline", timeline_id]).with_idempotency_key(), true)
    }

    /// Sets an anchor, which the timeline can return to (`POST /v1/set-anchor`).
    pub fn set_anchor(&self) -> Call<'_, SetAnchorResponse> {
        self.post(&["v1", "set-anchor"]).on_default_timeline()
    }

    /// Lists anchors (`GET /v1/anchors`).
    pub fn anchors(&self) -> Call<'_, AnchorPage> {
        self.get(&["v1", "anchors"]).on_default_timeline()
    }
}
