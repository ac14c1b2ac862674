//! Paradoxes: contradictions in the history of a timeline.
//!
//! A [`View`] processes the records of one ledger and maintains the paradoxes in the resulting state: which ones each
//! record creates and resolves. It decides nothing and changes no record.
//!
//! There are fifteen kinds ([`Kind`]), with two grades of certainty if times are uncertain. Six of them are
//! observations about the data rather than paradoxes. `docs/events.md` defines them.

pub(crate) mod rules;
mod kinds;
mod settings;
mod record;
mod report;
mod explain;

mod names;
mod site;
mod graph;
mod groups;
mod content;

mod cycles;

mod view;
mod build;
mod change;
mod list;
mod witness;
mod query;

#[cfg(test)]
mod tests;

pub use build::{Builder, SizeHint};
pub use change::Delta;
pub use kinds::{Grade, Kind, Severity};
pub use list::{Heading, List};
pub use query::{Ancestor, EventStatus};
pub use record::{AnchorSet, Cancelled, Intervention, Record, Stamp, TimerRecord, Version, VersionOrigin};
pub use report::{Key, Paradox, Step, Taken, TimerDetail, Witness};
pub use rules::stream::Jumped;
pub use rules::uncertain::{Stretch, Uncertain, is_inverted};
pub use settings::{
    CYCLE_SEARCH_EDGES_MAX, DUPLICATE_METRES_DEFAULT, DUPLICATE_MICROS_DEFAULT, IMPACT_EVENTS_MAX,
    PARTNERS_PER_EVENT_MAX, PATH_EVENTS_MAX, SPEED_KMH_DEFAULT, SPEED_OF_LIGHT_KMH, Settings,
};
pub use view::View;
