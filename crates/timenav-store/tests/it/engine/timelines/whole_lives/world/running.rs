//! Passing of time, stops and restarts of the service.

use super::World;
use crate::engine::timelines::whole_lives::Cut;
use crate::engine::timelines::whole_lives::timing::{Coming, Leave};
use crate::engine::*;

/// How much later the timekeeper retries failed writes, in microseconds.
const LATER: i64 = 2_000_000;
/// How often the timekeeper is called before it must have finished.
const JOURNEYS_MAX: usize = 100;

pub(super) const HALF_A_DAY: i64 = 43_200_000_000;

impl World<'_> {
    /// Lets half days pass with the maintenance of a running service.
    pub(in crate::engine::timelines::whole_lives) async fn pass(&mut self, half_days: u8) {
        for _ in 0..half_days {
            self.house.clock.advance(HALF_A_DAY);
            self.home().engine.tend().await.unwrap();
            while self.home().engine.sweep_in_turn().await.unwrap() {}
            self.go_on(None).await;
        }
    }

    /// Has the timekeeper do everything that is due, even if it is interrupted.
    pub(in crate::engine::timelines::whole_lives) async fn go_on(&mut self, cut: Option<Cut>) {
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
            // Failed writes are retried a little later.
            self.house.clock.advance(LATER);
        }
        panic!("the timekeeper does not come to an end");
    }

    async fn cut_off(&mut self, cut: Cut) {
        match cut {
            Cut::NotWritten { commits, is_killed } => {
                self.store().fail_after(commits);
                self.home().engine.keep_time().await;
                // A webhook being sent is leased for a while, unless the service ends.
                let is_cut_off = self.send_webhooks().await.is_err();
                self.store().fail_after(OPEN_PERMITS);
                let later = self.house.clock.now().checked_add(Span::from_micros(LATER)).unwrap();
                // Which timers fire together depends on when the service checks again.
                if is_killed || is_cut_off || self.falls_due_until(later) {
                    self.kill_and_open().await;
                }
            }
            Cut::NotStored => {
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
            let current_time = head.clock.now(now.max(head.recorded_at));
            head.timers.advance.is_none() && !head.timers.is_behind(current_time)
        })
    }

    /// Returns whether a running clock reaches a timer before that time.
    fn falls_due_until(&mut self, then: Instant<Wall>) -> bool {
        let now = self.house.clock.now();
        self.open_timelines().into_iter().any(|name| {
            let current_time = self.clocks.read(name.as_str(), now).expect("it stands");
            let later = self.clocks.clock(name.as_str()).now(then);
            self.timings.of(&name).comes_between(current_time, later)
        })
    }

    /// Applies what the timekeeper has done since that instant to the model.
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
        for name in self.open_timelines() {
            let current_time = self.clocks.read(name.as_str(), now).expect("it stands");
            let leave = self.leave(&name);
            let recorded = self.timings.of_mut(&name).fall_due(current_time, Coming::Together, &leave);
            self.record(&name, recorded);
            self.note_changes(&name);
        }
    }

    /// Returns the permissions for the effects of a timeline's timers. A fork sends inherited webhooks only while its
    /// parent is live.
    fn leave(&self, name: &TimelineId) -> Leave {
        let timing = self.timings.of(name);
        let forks = std::iter::once(name).chain(self.ancestors(name));
        let of_ended = forks.zip(self.ancestors(name)).find(|(_, forked)| self.ended.contains(*forked));
        let sends_from =
            of_ended.map_or(timing.sends_from, |(fork, _)| self.timings.of(fork).base.max(timing.sends_from));
        Leave { recorders: self.accounts.recorders(name), sends_from }
    }

    pub(super) fn ancestors(&self, name: &TimelineId) -> impl Iterator<Item = &TimelineId> {
        let parent = |name: &TimelineId| {
            let number = self.lives.iter().position(|life| life.name == *name).expect("the model has it");
            // The first two are not forks.
            number.checked_sub(2).map(|number| &self.parents[number])
        };
        std::iter::successors(parent(name), move |name| parent(name))
    }

    fn open_timelines(&self) -> Vec<TimelineId> {
        let open_timelines = self.lives.iter().filter(|life| !self.ended.contains(&life.name));
        open_timelines.map(|life| life.name.clone()).collect()
    }

    pub(in crate::engine::timelines::whole_lives) async fn close_and_open(&mut self) {
        self.close().await;
        self.open = Some(open(self.house).await);
    }

    async fn close(&mut self) {
        let (_, home) = self.open.take().expect("the service runs");
        home.engine.close().await;
    }

    /// Restarts from a copy of the files, discarding whatever the engine would still have done.
    pub(in crate::engine::timelines::whole_lives) async fn kill_and_open(&mut self) {
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
    let (store, home) = house.open_faulty().await;
    (store, home)
}
