//! How time passes for a service, how it stops, and how it starts again.

use std::path::Path;
use std::sync::Arc;

use timenav_core::clock::ClockMoved;
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Span, Wall};
use timenav_engine::WallClock as _;

use super::World;
use crate::engine::whole_lives::Cut;
use crate::engine::whole_lives::timing::{Coming, Leave};
use crate::faulty_store::{FaultyStore, OPEN_PERMITS};
use crate::house::{Home, House};

/// How much later the timekeeper tries again what could not be written, in microseconds.
const LATER: i64 = 2_000_000;
/// How often the timekeeper is called before it must have come to an end.
const JOURNEYS_MAX: usize = 100;

pub(super) const HALF_A_DAY: i64 = 43_200_000_000;

impl World<'_> {
    /// Half days pass as they do while a service runs, which looks after what is due.
    pub(in crate::engine::whole_lives) async fn pass(&mut self, half_days: u8) {
        for _ in 0..half_days {
            self.house.clock.advance(HALF_A_DAY);
            self.home().engine.tend().await.unwrap();
            while self.home().engine.sweep_in_turn().await.unwrap() {}
            self.go_on(None).await;
        }
    }

    /// Has the timekeeper do what is due, even if it is cut off on the way.
    pub(in crate::engine::whole_lives) async fn go_on(&mut self, cut: Option<Cut>) {
        let began = self.house.clock.now();
        if let Some(cut) = cut {
            self.cut_off(cut).await;
        }
        for _ in 0..JOURNEYS_MAX {
            self.home().engine.keep_time().await;
            if self.send_webhooks().await.unwrap() > 0 {
                continue;
            }
            if self.nothing_is_left().await {
                self.arrive(began).await;
                self.remember().await;
                return;
            }
            // What could not be written is tried again a little later.
            self.house.clock.advance(LATER);
        }
        panic!("the timekeeper does not come to an end");
    }

    async fn cut_off(&mut self, cut: Cut) {
        match cut {
            Cut::NotWritten { commits, is_killed } => {
                self.store().fail_after(commits);
                self.home().engine.keep_time().await;
                // What is being sent is nobody else's for a while, unless the service ends.
                let is_cut_off = self.send_webhooks().await.is_err();
                self.store().fail_after(OPEN_PERMITS);
                let later = self.house.clock.now().checked_add(Span::from_micros(LATER)).unwrap();
                // What falls due together depends on when the service looks again.
                if is_killed || is_cut_off || self.falls_due_until(later) {
                    self.kill_and_open().await;
                }
            }
            Cut::NotKept => {
                self.house.outside.set_failing(true);
                self.home().engine.keep_time().await;
                self.house.outside.set_failing(false);
                self.kill_and_open().await;
            }
        }
    }

    async fn nothing_is_left(&self) -> bool {
        let (now, heads) = (self.house.clock.now(), self.home().store.open().await.unwrap().heads);
        heads.iter().all(|head| {
            let shown = head.clock.now(now.max(head.recorded_at));
            head.timers.advance.is_none() && !head.timers.is_behind(shown)
        })
    }

    /// Whether a clock that runs comes to a timer between now and then.
    fn falls_due_until(&mut self, then: Instant<Wall>) -> bool {
        let now = self.house.clock.now();
        self.standing().into_iter().any(|name| {
            let shown = self.clocks.read(name.as_str(), now).expect("it stands");
            let later = self.clocks.clock(name.as_str()).now(then);
            self.timings.of(&name).comes_between(shown, later)
        })
    }

    /// Lets happen in the model what the timekeeper did, since that instant.
    async fn arrive(&mut self, began: Instant<Wall>) {
        let now = self.house.clock.now();
        if let Some((name, to)) = self.advance.take() {
            let heads = self.home().store.open().await.unwrap().heads;
            let head = heads.iter().find(|head| head.id == name).expect("it stands");
            let (arrived, _) = head.clock.origin();
            assert!(began <= arrived && arrived <= now, "{name}: {arrived}");
            let leave = self.leave(&name);
            let recorded = self.timings.of_mut(&name).fall_due(to.at, Coming::OneByOne, &leave);
            let moved = ClockMoved { host: arrived, moment: to };
            let (clock, ..) = self.clocks.apply(name.as_str(), Some(&moved), arrived);
            assert_eq!(head.clock, clock, "{name}");
            self.record(&name, recorded);
        }
        for name in self.standing() {
            let shown = self.clocks.read(name.as_str(), now).expect("it stands");
            let leave = self.leave(&name);
            let recorded = self.timings.of_mut(&name).fall_due(shown, Coming::Together, &leave);
            self.record(&name, recorded);
            self.note_changes(&name);
        }
    }

    /// Returns who may have the timers of a timeline do what. A fork sends what it took along only while the timeline
    /// stands that it was taken from.
    fn leave(&self, name: &TimelineId) -> Leave {
        let timing = self.timings.of(name);
        let forks = std::iter::once(name).chain(self.ancestors(name));
        let of_ended = forks.zip(self.ancestors(name)).find(|(_, forked)| self.ended.contains(*forked));
        let sends_from =
            of_ended.map_or(timing.sends_from, |(fork, _)| self.timings.of(fork).base.max(timing.sends_from));
        Leave { recorders: self.household.recorders(name), sends_from }
    }

    /// Returns the timelines that a timeline goes on from, the nearest first.
    pub(super) fn ancestors(&self, name: &TimelineId) -> impl Iterator<Item = &TimelineId> {
        let parent = |name: &TimelineId| {
            let number = self.lives.iter().position(|life| life.name == *name).expect("the model has it");
            // The first two are no forks.
            number.checked_sub(2).map(|number| &self.parents[number])
        };
        std::iter::successors(parent(name), move |name| parent(name))
    }

    fn standing(&self) -> Vec<TimelineId> {
        let standing = self.lives.iter().filter(|life| !self.ended.contains(&life.name));
        standing.map(|life| life.name.clone()).collect()
    }

    pub(in crate::engine::whole_lives) async fn close_and_open(&mut self) {
        self.close().await;
        self.open = Some(open(self.house).await);
    }

    async fn close(&mut self) {
        let (_, home) = self.open.take().expect("the service runs");
        home.engine.close().await;
    }

    /// Goes on from the files as they are now, whatever the engine would still have done.
    pub(in crate::engine::whole_lives) async fn kill_and_open(&mut self) {
        let path = self.house.path();
        let killed = path.with_extension("killed");
        let log = |path: &Path| format!("{}-wal", path.display());
        std::fs::copy(&path, &killed).unwrap();
        std::fs::copy(log(&path), log(&killed)).unwrap();
        self.close().await;
        self.house.replace_database(&killed);
        std::fs::copy(log(&killed), log(&path)).unwrap();
        self.open = Some(open(self.house).await);
    }
}

pub(super) async fn open(house: &House) -> (Arc<FaultyStore>, Home<'_>) {
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = house.try_open(Arc::clone(&store) as _).await.unwrap();
    (store, home)
}
