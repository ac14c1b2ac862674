//! The payloads of `read`: what was read, and with which parameters.

use std::collections::BTreeMap;

use serde::Serialize;
use timenav_core::access::Demand;

use crate::event_filter::FilterTexts;

/// What is read. The word is the subject of the entry, the parameters are its payload, in the order of their names.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Reading {
    AccessControl {},
    AccessLogs {
        time_range: String,
    },
    AggregateEvents(EventsCounted),
    Anchors {},
    ApiKeys {},
    Bundle {},
    /// What came of a clock change that passed timers.
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
        /// Under which name it is followed.
        #[serde(skip_serializing_if = "Option::is_none")]
        follow: Option<String>,
    },
    ConsistencyProof {
        from: u64,
    },
    Entries {
        from: u64,
    },
    /// Which events would be erased.
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
    /// Firings that fit a filter.
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
    /// Who follows a clock under a name.
    Followers {},
    /// What would fire if a clock were moved.
    Foresee {},
    /// That a timeline was forked.
    Fork {
        timeline_id: String,
    },
    HeadStatement {},
    /// What holds advances without a firing.
    Leases {},
    InclusionProof {
        position: u64,
    },
    /// What an intervention would do.
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
    /// That there was nothing to let go, or that it has to wait.
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
    /// When a timer would fire by a rule.
    TimerMoments {},
    Timers {},
    Users {},
}

/// The word for the last ones first.
pub(crate) const NEWEST: &str = "newest";

/// Keys of attributes, with values that they were to have.
type Attributes = BTreeMap<String, Vec<String>>;

/// Which events were looked for.
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

/// Which events were written as a file.
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

/// What was watched, and of which events.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EventsWatched {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) actor: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) attribute: Attributes,
    /// Of which firings, if these were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) topics: Vec<String>,
}

/// Which events were counted, and by what.
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
}

macro_rules! filtered {
    ($($name:ident),*) => {$(
        impl $name {
            /// Adds by what the events were filtered.
            pub(crate) fn filtered_by(&mut self, texts: &FilterTexts) {
                let FilterTexts { text, actor, source, attributes } = texts.clone();
                (self.text, self.actor, self.source, self.attribute) = (text, actor, source, attributes);
            }
        }
    )*};
}
filtered!(EventsFound, EventsExported, EventsWatched, EventsCounted);

impl Reading {
    /// Returns the word for what is read.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::AccessControl {} => "access_control",
            Self::AccessLogs { .. } => "access_logs",
            Self::Advance { .. } => "advance",
            Self::AggregateEvents(_) => "aggregate_events",
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
}

/// Returns what whoever reads must be allowed to, by the word for it: one of these lists, whole. `None` for a word that
/// this version does not write. The writer asks core for it, and so does a scan.
pub(crate) fn demanded(operation: &str) -> Option<&'static [&'static [Demand]]> {
    Some(match operation {
        "advance" | "aggregate_events" | "anchors" | "check_timeline" | "clock" | "clock_stream" | "entries"
        | "event" | "export_events" | "firings" | "followers" | "fork" | "leases" | "monitor_events"
        | "monitor_paradox" | "scan_events" | "stream" | "timelines_diff" | "timer" | "timer_moments" | "timers" => {
            &[&[Demand::Look]]
        }
        "checkpoint" | "head_statement" | "timeline" => &[&[Demand::Inspect]],
        // Hashes are not entries, which tell of clocks and events.
        // What a key had seen, which earlier versions certified: of one's own key, or of another's.
        "certificate" => &[&[Demand::Look], &[Demand::Administer]],
        "proof" | "tile" => &[&[Demand::Inspect], &[Demand::Look]],
        "foresee" => &[&[Demand::Steer]],
        "manipulate_event" => &[&[Demand::Intervene]],
        "erase_events" => &[&[Demand::Erase]],
        "access_control" | "access_logs" | "prune" => &[&[Demand::Administer]],
        "bundle" => &[&[Demand::Look, Demand::Administer]],
        "restrictions" | "users" => &[&[Demand::Operate]],
        // One's own, or those of others.
        "api_keys" | "sessions" => &[&[Demand::Own], &[Demand::Operate]],
        "timelines" => &[&[]],
        _ => return None,
    })
}
