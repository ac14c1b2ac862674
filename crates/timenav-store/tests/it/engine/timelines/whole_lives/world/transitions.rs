//! The expected effect of a request on the model.

use super::request::{Answer, Request, What, id_of, seconds_of};
use super::{Import, Imported, World};
use crate::engine::timelines::life::{Known, Mark, is_free};
use crate::engine::timelines::whole_lives::Passing;
use crate::engine::timelines::whole_lives::accounts::Made;
use crate::engine::timelines::whole_lives::timing::{Fired, Timing, firing_id};
use crate::engine::*;

impl World<'_> {
    /// Returns whether the request succeeds according to the model.
    pub(super) fn may(&mut self, request: &Request) -> bool {
        if self.ended.contains(&request.on) {
            return false;
        }
        let now = self.house.clock.now();
        let reading = self.clocks.read(request.on.as_str(), now).expect("it stands");
        let timing = self.timings.of(&request.on).clone();
        let steered = match &request.what {
            What::Steer(command, _) => self.decided(&request.on, command).is_ok(),
            _ => true,
        };
        let state = &self.life(&request.on).now;
        let known = |event: &str| state.get(event);
        match &request.what {
            What::Record(drafts) => {
                let ids: BTreeSet<&str> = drafts.iter().map(id_of).collect();
                ids.len() == drafts.len() && ids.iter().all(|id| is_free(state, id))
            }
            What::Correct(draft) => known(id_of(draft)).is_some_and(|known| known.active_at.is_some()),
            What::Intervene(event, effect) => known(&format!("e{event}"))
                .is_some_and(|known| known.active_at.is_some() || matches!(effect, Effect::Restore | Effect::Note)),
            What::Steer(..) => steered,
            What::Timer(errand) => errand.may(&timing, reading),
            What::Account(errand) => self.accounts.may(errand),
            What::Import(_)
            | What::UndoImport(..)
            | What::Anchor
            | What::Return(..)
            | What::Fork { .. }
            | What::Retain(_)
            | What::Erase(_)
            | What::Clear(_)
            | What::End => true,
        }
    }

    /// Applies a successful request to the model.
    pub(super) async fn apply(&mut self, request: &Request, answer: &Answer, was_written: bool) {
        let now = self.house.clock.now();
        let name = &request.on;
        match &request.what {
            What::Record(drafts) => {
                for draft in drafts {
                    self.record_as(name, id_of(draft), seconds_of(draft));
                }
            }
            What::Import(drafts) => self.import(name, drafts, answer, was_written),
            What::UndoImport(number, _) => self.undo_import(*number, answer),
            What::Correct(draft) => {
                let time = seconds_of(draft);
                let known = self.life(name).now.get_mut(id_of(draft)).unwrap();
                // Recording the same again is not a correction.
                known.recorded = if known.active_at == Some(time) { known.recorded } else { time };
                known.stand(Some(time));
            }
            What::Intervene(event, effect) => {
                self.life(name).now.get_mut(&format!("e{event}")).unwrap().change(effect);
            }
            What::Steer(command, passing) => {
                let expected = self.steer(name, command, *passing);
                assert_eq!(answer.step, Some(expected), "{request:?}");
            }
            What::Anchor => {
                let anchor_id = answer.anchor_id.clone().unwrap();
                self.anchored.insert(anchor_id.clone(), self.clocks.read(name.as_str(), now).unwrap());
                self.timings.anchor(name, &anchor_id);
                let life = self.life(name);
                life.anchors.push(Mark { anchor_id, own: Some(answer.position), state: life.now.clone() });
            }
            What::Return(anchor_id, scope) => self.return_to(name, (anchor_id, *scope), answer).await,
            What::Fork { name: fork, at, sends } => self.fork(name, fork, (*at, *sends)).await,
            What::Retain(_) => {}
            What::Erase(event) => {
                let born = self.born(name, *event).expect("it was drawn");
                self.forget(name, born);
            }
            What::Clear(clearance) => {
                for born in clearance.erased() {
                    self.forget(name, born);
                }
            }
            What::End => drop(self.ended.insert(name.clone())),
            What::Timer(errand) => {
                let reading = self.clocks.read(name.as_str(), now).expect("it stands");
                errand.apply(self.timings.of_mut(name), reading, &answer.made);
            }
            What::Account(errand) => self.accounts.apply(name, errand, answer.made.clone()),
        }
        self.note_changes(name);
        self.remember().await;
    }

    async fn return_to(&mut self, name: &TimelineId, (to, scope): (&AnchorId, ReturnScope), answer: &Answer) {
        let (clock, reading, _) = answer.step.clone().expect("a clock was moved");
        assert_eq!(reading, self.anchored[to], "{name} {to}");
        self.clocks.insert(name.as_str(), clock, self.house.clock.now());
        if scope == ReturnScope::Clock {
            return;
        }
        let life = self.life(name);
        let mark = life.anchors.iter().find(|mark| mark.anchor_id == *to).expect("it was drawn");
        let state = mark.state.clone();
        // An event recorded later is known, and its id is available.
        for (id, known) in &mut life.now {
            known.take_back(state.get(id));
        }
        let (_, home) = self.open.as_ref().expect("the service runs");
        self.timings.take_back(home, name, to).await;
    }

    async fn fork(&mut self, name: &TimelineId, fork: &TimelineId, (at, sends): (Option<u64>, bool)) {
        let parent = self.life(name);
        let now = at.map_or(&parent.now, |position| parent.at(position)).clone();
        // A fork does not inherit anchors set later.
        let is_later = |mark: &Mark| at.is_some_and(|at| mark.own.is_some_and(|own| own > at));
        let inherited = parent.anchors.iter().filter(|mark| !is_later(mark));
        let anchors = inherited.map(|mark| Mark { own: None, ..mark.clone() }).collect();
        // The number of events at that time is from the ledger, and so it is for forks of a timeline that lost some.
        if self.bereft.contains(name) || (at.is_some() && !self.erased.is_empty()) {
            self.bereft.insert(fork.clone());
        }
        self.parents.push(name.clone());
        let timing = self.timings.forked(name, at);
        let sends_from = if sends { timing.sends_from } else { u64::MAX };
        let timing = Timing { sends_from, ..timing };
        self.begin(fork.clone(), now, anchors, timing).await;
    }

    /// Removes an event from every past state, on every timeline that has it.
    fn forget(&mut self, on: &TimelineId, born: usize) {
        self.recorded.remove(&born);
        self.erased.insert(born);
        for life in &mut self.lives {
            let marked = life.anchors.iter_mut().map(|mark| &mut mark.state);
            for state in life.past.values_mut().chain(marked).chain([&mut life.now]) {
                let before = state.len();
                state.retain(|_, known| known.born != born);
                if state.len() < before && life.name != *on {
                    self.bereft.insert(life.name.clone());
                }
            }
        }
    }

    /// Returns the effect of a command on a clock, as decided by core.
    fn decided(&self, name: &TimelineId, command: &ClockCommand) -> Result<Option<ClockMoved>, ClockRefusal> {
        let next = self.timings.of(name).next();
        self.clocks.decide(name.as_str(), (command, next), self.house.clock.now())
    }

    /// Moves a clock, which stops at timers on the way that it does not jump over. Returns the clock, its reading, and
    /// whether it changed.
    fn steer(
        &mut self,
        name: &TimelineId,
        command: &ClockCommand,
        Passing { settle, refire }: Passing,
    ) -> (Clock, Instant<Virtual>, bool) {
        let now = self.house.clock.now();
        let here = self.clocks.read(name.as_str(), now).expect("it stands");
        let moved = self.decided(name, command).expect("it may");
        let to = moved.as_ref().map_or(here, |moved| moved.moment.at);
        let is_advance = settle && to > here && is_forward(command) && self.timings.of(name).is_due(to);
        if refire && to < here {
            self.timings.of_mut(name).refire(to);
        }
        let Some(moved) = moved.clone().filter(|_| is_advance) else {
            return self.clocks.apply(name.as_str(), moved.as_ref(), now);
        };
        let active_at = Moment { running: false, ..self.clocks.clock(name.as_str()).moment(moved.host) };
        self.advance = Some((name.clone(), moved.moment));
        self.clocks.apply(name.as_str(), Some(&ClockMoved { host: moved.host, moment: active_at }), now)
    }

    /// Adds an event to the model. Erasing it also erases earlier events with its id.
    fn record_as(&mut self, name: &TimelineId, event_id: &str, time: i64) {
        let before = self.life(name).now.get(event_id).copied();
        let born = before.map_or_else(|| self.bear(name, event_id), |before| before.born);
        let version = before.map_or(0, |before| before.version + 1);
        let known = Known { version, ..Known::recorded(time, born) };
        self.life(name).now.insert(event_id.to_owned(), known);
    }

    fn bear(&mut self, name: &TimelineId, event_id: &str) -> usize {
        self.born_count += 1;
        self.recorded.insert(self.born_count, (name.clone(), event_id.to_owned()));
        self.born_count
    }

    /// Adds the events of an import whose ids are available to the model. If the first response was lost, all of them
    /// exist already.
    fn import(&mut self, name: &TimelineId, drafts: &[EventDraft], answer: &Answer, was_written: bool) {
        let mut events = Vec::new();
        for draft in drafts {
            let (event_id, time) = (id_of(draft).to_owned(), seconds_of(draft));
            if is_free(&self.life(name).now, &event_id) {
                self.record_as(name, &event_id, time);
                let Known { born, version, .. } = self.life(name).now[&event_id];
                events.push(Imported { event_id, born, version });
            }
        }
        let Made::Import { taken, refused } = &answer.made else { panic!("an import made {:?}", answer.made) };
        let expected = if was_written { 0 } else { events.len() as u64 };
        assert_eq!(*taken, expected, "{drafts:?}");
        for index in refused {
            let (event_id, time) = (id_of(&drafts[*index]), seconds_of(&drafts[*index]));
            let known = self.life(name).now[event_id];
            assert!(known.recorded != time && known.active_at != Some(time), "{event_id} at {time} is {known:?}");
        }
        if let Some(import) = ImportId::new(answer.position + 1 - taken, answer.position + 1, *taken) {
            self.imports.push(Import { on: name.clone(), name: import, events });
        }
    }

    /// Cancels the events that are still as an import recorded them. Their ids are then available.
    fn undo_import(&mut self, number: usize, answer: &Answer) {
        let Import { on, events, .. } = self.imports[number].clone();
        let (mut undone, mut stored) = (0, 0);
        for Imported { event_id, born, version } in events {
            let Some(known) = self.life(&on).now.get_mut(&event_id).filter(|known| known.active_at.is_some()) else {
                continue;
            };
            if (known.born, known.version) == (born, version) {
                known.take_back(None);
                undone += 1;
            } else {
                stored += 1;
            }
        }
        let Made::Undone(counts) = &answer.made else { panic!("an undoing made {:?}", answer.made) };
        assert_eq!(*counts, (undone, stored), "{number}");
    }

    /// Adds events recorded by timers to the model.
    pub(super) fn record(&mut self, name: &TimelineId, fired: Vec<Fired>) {
        for one in fired {
            let event_id = firing_id(one, name).to_string();
            let born = self.bear(name, &event_id);
            let before = self.life(name).now.insert(event_id, Known::recorded(one.0, born));
            assert_eq!(before, None, "{one:?} is recorded twice");
        }
    }
}

/// Returns whether a command takes a clock past timers one by one.
const fn is_forward(command: &ClockCommand) -> bool {
    match command {
        ClockCommand::Travel { .. }
        | ClockCommand::FastForward(_)
        | ClockCommand::Elapse { .. }
        | ClockCommand::ToNext { .. } => true,
        ClockCommand::Pause
        | ClockCommand::Resume
        | ClockCommand::SetRate(_)
        | ClockCommand::Rewind(_)
        | ClockCommand::Restore(_) => false,
    }
}
