use timenav_core::scan::{FindingKind, Findings, Fingerprint};

use super::replay::RecordedEvent;

/// Maximum number of events without a row that are reported individually.
pub(super) const MISSING_MAX: usize = 1_000;
/// Maximum number of events without coordinates of their place that are reported individually.
const UNPLACED_MAX: usize = 1_000;

#[derive(Default)]
pub(super) struct Compared {
    pub(super) findings: Findings,
    pub(super) missing: Vec<RecordedEvent>,
    pub(super) unplaced: Unplaced,
    /// The ends of preceding versions that exist, as facts.
    pub(super) ends: Fingerprint,
}

impl Compared {
    pub(super) fn append(&mut self, other: Self) {
        let Self { findings, missing, unplaced, ends } = other;
        self.findings.append(findings);
        let room = MISSING_MAX.saturating_sub(self.missing.len());
        self.missing.extend(missing.into_iter().take(room));
        self.unplaced.append(unplaced);
        self.ends.add(ends);
    }
}

/// Events without coordinates although the gazetteer knows their place. This is normal for events recorded before there
/// was a gazetteer, but not after the first event with such coordinates.
#[derive(Default)]
pub(super) struct Unplaced {
    /// The first event with coordinates from the gazetteer.
    first_placed: Option<u64>,
    /// Positions and ids.
    events: Vec<(u64, String)>,
}

impl Unplaced {
    pub(super) fn is_placed(&mut self, position: u64) {
        self.first_placed = Some(self.first_placed.map_or(position, |first| first.min(position)));
    }

    pub(super) fn is_not(&mut self, position: u64, event_id: &str) {
        if self.events.len() < UNPLACED_MAX {
            self.events.push((position, event_id.to_owned()));
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        if let Some(first) = other.first_placed {
            self.is_placed(first);
        }
        let room = UNPLACED_MAX.saturating_sub(self.events.len());
        self.events.extend(other.events.into_iter().take(room));
    }

    pub(super) fn report(self, findings: &mut Findings) {
        let Some(first) = self.first_placed else { return };
        for (position, event_id) in self.events.into_iter().filter(|(position, _)| *position > first) {
            let evidence = format!("table events, {event_id}: the coordinates of its place are missing");
            findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
    }
}
