//! Schedules when to check each timeline with timers, so that a wakeup costs only as much as there is due.

use std::collections::{BTreeSet, HashMap};

use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    At(Instant<Wall>),
    /// At every wakeup, because the instant of its advance may be held; if a host time is given, the hold ends by then.
    EachTime(Option<Instant<Wall>>),
    /// Only after a change.
    Unless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    Changed,
    /// It is being checked. If that is interrupted, it is checked again.
    Looking,
    Until(Next),
}

#[derive(Debug, Default)]
pub(crate) struct Agenda {
    timelines: HashMap<TimelineId, Listed>,
    /// Timelines to check at the next wakeup.
    ready: BTreeSet<TimelineId>,
    /// Timelines with a time, ordered by it.
    by_moment: BTreeSet<(Instant<Wall>, TimelineId)>,
    looks: u64,
}

impl Agenda {
    pub(crate) fn changed(&mut self, timeline: &TimelineId) {
        self.list(timeline, Some(Listed::Changed));
    }

    pub(crate) fn forget(&mut self, timeline: &TimelineId) {
        self.list(timeline, None);
    }

    pub(crate) fn timelines(&self) -> impl Iterator<Item = &TimelineId> {
        self.timelines.keys()
    }

    pub(crate) fn take(&mut self, now: Instant<Wall>) -> Vec<TimelineId> {
        let mut due: BTreeSet<TimelineId> = self.ready.clone();
        due.extend(self.by_moment.iter().take_while(|(at, _)| *at <= now).map(|(_, timeline)| timeline.clone()));
        for timeline in &due {
            self.list(timeline, Some(Listed::Looking));
        }
        self.looks += due.len() as u64;
        due.into_iter().collect()
    }

    /// A timeline that has changed in the meantime is checked again.
    pub(crate) fn checked(&mut self, timeline: &TimelineId, next: Next) {
        if self.timelines.get(timeline) == Some(&Listed::Looking) {
            self.list(timeline, Some(Listed::Until(next)));
        }
    }

    /// Returns when to wake up at the latest, if there is no change before.
    pub(crate) fn next(&self) -> Option<Instant<Wall>> {
        self.by_moment.first().map(|(at, _)| *at)
    }

    pub(crate) const fn looks(&self) -> u64 {
        self.looks
    }

    fn list(&mut self, timeline: &TimelineId, listed: Option<Listed>) {
        let before = match listed {
            Some(listed) => self.timelines.insert(timeline.clone(), listed),
            None => self.timelines.remove(timeline),
        };
        if before == listed {
            return;
        }
        if let Some(at) = before.and_then(Listed::moment) {
            self.by_moment.remove(&(at, timeline.clone()));
        }
        if let Some(at) = listed.and_then(Listed::moment) {
            self.by_moment.insert((at, timeline.clone()));
        }
        match listed {
            Some(Listed::Changed | Listed::Looking | Listed::Until(Next::EachTime(_))) => {
                self.ready.insert(timeline.clone());
            }
            Some(Listed::Until(Next::At(_) | Next::Unless)) | None => {
                self.ready.remove(timeline);
            }
        }
    }
}

impl Listed {
    const fn moment(self) -> Option<Instant<Wall>> {
        match self {
            Self::Until(Next::At(at)) => Some(at),
            Self::Until(Next::EachTime(until)) => until,
            Self::Until(Next::Unless) | Self::Changed | Self::Looking => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Instant<Wall> {
        Instant::from_micros(micros).unwrap()
    }

    fn named(number: usize) -> TimelineId {
        TimelineId::new(&format!("line-{number}")).unwrap()
    }

    #[test]
    fn wake_examines_only_due_and_changed_timelines() {
        const TIMELINES: usize = 10_000;
        let mut agenda = Agenda::default();
        for number in 0..TIMELINES {
            agenda.changed(&named(number));
        }
        // Each is checked once to learn its timer, and these are far in the future.
        for timeline in agenda.take(at(0)) {
            agenda.checked(&timeline, Next::At(at(1_000_000)));
        }
        assert_eq!((agenda.looks(), agenda.next()), (10_000, Some(at(1_000_000))));
        for wake in 1..=1_000 {
            assert_eq!(agenda.take(at(wake)), []);
        }
        assert_eq!(agenda.looks(), 10_000);
        // Only the changed timeline and those that are due are checked.
        agenda.changed(&named(7));
        assert_eq!(agenda.take(at(1_001)), [named(7)]);
        agenda.checked(&named(7), Next::At(at(2_000)));
        assert_eq!((agenda.next(), agenda.take(at(2_000))), (Some(at(2_000)), vec![named(7)]));
        assert_eq!(agenda.looks(), 10_002);
        assert_eq!(agenda.take(at(1_000_000)).len(), TIMELINES);
    }

    #[test]
    fn timeline_changed_during_its_check_is_checked_again() {
        let (mut agenda, one) = (Agenda::default(), named(1));
        agenda.changed(&one);
        assert_eq!(agenda.take(at(0)), std::slice::from_ref(&one));
        agenda.changed(&one);
        agenda.checked(&one, Next::Unless);
        assert_eq!(agenda.take(at(0)), std::slice::from_ref(&one), "readings from before the change do not count");
        // The check was interrupted.
        assert_eq!(agenda.take(at(0)), std::slice::from_ref(&one));
        agenda.checked(&one, Next::Unless);
        assert_eq!((agenda.take(at(9)), agenda.next()), (vec![], None));
    }

    #[test]
    fn held_advance_is_checked_each_time_and_forgotten_one_never() {
        let (mut agenda, held, over) = (Agenda::default(), named(1), named(2));
        agenda.changed(&held);
        agenda.changed(&over);
        assert_eq!(agenda.take(at(0)).len(), 2);
        agenda.checked(&held, Next::EachTime(Some(at(50))));
        agenda.forget(&over);
        agenda.checked(&over, Next::At(at(1)));
        assert_eq!((agenda.next(), agenda.take(at(5))), (Some(at(50)), vec![held.clone()]));
        agenda.checked(&held, Next::At(at(60)));
        assert_eq!((agenda.next(), agenda.take(at(59))), (Some(at(60)), vec![]));
        assert_eq!(agenda.timelines().collect::<Vec<_>>(), [&held]);
    }
}
