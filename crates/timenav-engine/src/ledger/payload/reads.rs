//! The payloads of `read`: the operation and its parameters.

use std::collections::BTreeMap;

use serde::Serialize;
use timenav_core::access::Demand;

use crate::events::event_filter::FilterTexts;
use crate::requests::options::ReadOf;

/// A read operation. Its name is the subject of the entry, and its parameters are the payload, ordered by name.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Reading {
    AccessControl {},
    AccessLogs {
        time_range: String,
    },
    AggregateEvents(EventsCounted),
    Anchor {
        anchor_id: String,
    },
    Anchors {},
    ApiKeys {},
    Bundle {},
    /// The result of an advance.
    Advance {
        advance_id: String,
    },
    CheckTimeline {
        as_of: Option<String>,
        significant_event: String,
    },
    Checkpoint {},
    Clock {},
    ClockStream {
        /// The name of the follower.
        #[serde(skip_serializing_if = "Option::is_none")]
        follow: Option<String>,
    },
    ConsistencyProof {
        from: u64,
    },
    Entries {
        from: u64,
    },
    /// A dry run of an erasure, or an erasure without matches.
    EraseEvents {
        by: &'static str,
        dry_run: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        location: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        older_than: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        time_range: Option<String>,
    },
    Event {
        event_id: String,
    },
    ExportEvents(EventsExported),
    Firings {
        #[serde(skip_serializing_if = "Option::is_none")]
        advance_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        queue: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        timer_id: Option<String>,
    },
    Followers {},
    /// A dry run of a clock change.
    Foresee {},
    Fork {
        timeline_id: String,
    },
    HeadStatement {},
    /// The holds on advances.
    Leases {},
    InclusionProof {
        position: u64,
    },
    /// A dry run of an intervention.
    ManipulateEvent {
        dry_run: bool,
        event_id: String,
    },
    MonitorEvents(EventsFound),
    MonitorParadox {
        kinds: Option<Vec<String>>,
        observations: bool,
        time_range: String,
    },
    /// A prune request that pruned nothing, or has to wait.
    Prune {},
    Restrictions {},
    ScanEvents(EventsFound),
    Sessions {},
    Stream(EventsWatched),
    Tile {},
    Timeline {},
    Timelines {},
    TimelinesDiff {
        a: String,
        b: String,
    },
    Timer {
        timer_id: String,
    },
    /// Due times of a schedule.
    TimerMoments {},
    Timers {},
    Users {},
}

/// The name of the order with the last ones first.
pub(crate) const NEWEST: &str = "newest";

type Attributes = BTreeMap<String, Vec<String>>;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EventsFound {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) as_of: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) attribute: Attributes,
    pub(crate) location: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) overlapping: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) time_range: String,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EventsExported {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) actor: Option<String>,
    pub(crate) as_of: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) attribute: Attributes,
    pub(crate) format: String,
    pub(crate) location: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) time_range: String,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EventsWatched {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) actor: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) attribute: Attributes,
    /// The queue, if firings were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) topics: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EventsCounted {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) as_of: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) attribute: Attributes,
    pub(crate) by: String,
    pub(crate) location: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) time_range: String,
    /// The values that form groups, if not all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Vec<String>>,
}

macro_rules! filtered {
    ($($name:ident),*) => {$(
        impl $name {
            pub(crate) fn filtered_by(&mut self, texts: &FilterTexts) {
                let FilterTexts { text, actor, source, attributes } = texts.clone();
                (self.text, self.actor, self.source, self.attribute) = (text, actor, source, attributes);
            }
        }
    )*};
}
filtered!(EventsFound, EventsExported, EventsWatched, EventsCounted);

impl Reading {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::AccessControl {} => "access_control",
            Self::AccessLogs { .. } => "access_logs",
            Self::Advance { .. } => "advance",
            Self::AggregateEvents(_) => "aggregate_events",
            Self::Anchor { .. } => "anchor",
            Self::Anchors {} => "anchors",
            Self::ApiKeys {} => "api_keys",
            Self::Bundle {} => "bundle",
            Self::CheckTimeline { .. } => "check_timeline",
            Self::Checkpoint {} => "checkpoint",
            Self::Clock {} => "clock",
            Self::ClockStream { .. } => "clock_stream",
            Self::ConsistencyProof { .. } | Self::InclusionProof { .. } => "proof",
            Self::Entries { .. } => "entries",
            Self::EraseEvents { .. } => "erase_events",
            Self::Event { .. } => "event",
            Self::ExportEvents(_) => "export_events",
            Self::Firings { .. } => "firings",
            Self::Followers {} => "followers",
            Self::Foresee {} => "foresee",
            Self::Fork { .. } => "fork",
            Self::HeadStatement {} => "head_statement",
            Self::Leases {} => "leases",
            Self::ManipulateEvent { .. } => "manipulate_event",
            Self::MonitorEvents(_) => "monitor_events",
            Self::MonitorParadox { .. } => "monitor_paradox",
            Self::Prune {} => "prune",
            Self::Restrictions {} => "restrictions",
            Self::ScanEvents(_) => "scan_events",
            Self::Sessions {} => "sessions",
            Self::Stream(_) => "stream",
            Self::Tile {} => "tile",
            Self::Timeline {} => "timeline",
            Self::Timelines {} => "timelines",
            Self::TimelinesDiff { .. } => "timelines_diff",
            Self::Timer { .. } => "timer",
            Self::TimerMoments {} => "timer_moments",
            Self::Timers {} => "timers",
            Self::Users {} => "users",
        }
    }

    pub(crate) const fn object(&self) -> ReadOf {
        match self {
            Self::Clock {} => ReadOf::Clock,
            Self::AccessLogs { .. }
            | Self::Bundle {}
            | Self::Checkpoint {}
            | Self::Entries { .. }
            | Self::HeadStatement {} => ReadOf::Ledger,
            _ => ReadOf::Content,
        }
    }
}

/// Returns the permissions required for an operation by its name: all of one of these lists. `None` for a name that
/// this version does not write. Both the writer and a scan check them.
pub(crate) fn demanded(operation: &str) -> Option<&'static [&'static [Demand]]> {
    Some(match operation {
        "advance" | "aggregate_events" | "anchor" | "anchors" | "check_timeline" | "clock" | "clock_stream"
        | "entries" | "event" | "export_events" | "firings" | "followers" | "fork" | "leases" | "monitor_events"
        | "monitor_paradox" | "scan_events" | "stream" | "timelines_diff" | "timer" | "timer_moments" | "timers" => {
            &[&[Demand::Look]]
        }
        "checkpoint" | "head_statement" | "timeline" => &[&[Demand::Inspect]],
        // Hashes do not reveal clocks and events, unlike entries. `certificate` was written by earlier versions: a
        // certified record of what a key had seen, of one's own key or of another's.
        "certificate" => &[&[Demand::Look], &[Demand::Administer]],
        "proof" | "tile" => &[&[Demand::Inspect], &[Demand::Look]],
        "foresee" => &[&[Demand::Steer]],
        "manipulate_event" => &[&[Demand::Intervene]],
        "erase_events" => &[&[Demand::Erase]],
        "access_control" | "access_logs" | "prune" => &[&[Demand::Administer]],
        "bundle" => &[&[Demand::Look, Demand::Administer]],
        "restrictions" | "users" => &[&[Demand::Operate]],
        // For one's own, or for those of others.
        "api_keys" | "sessions" => &[&[Demand::Own], &[Demand::Operate]],
        "timelines" => &[&[]],
        _ => return None,
    })
}
