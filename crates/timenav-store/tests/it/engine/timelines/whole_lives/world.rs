//! A service with everything requested of it, and the model of its expected state.

mod transitions;
mod clearing;
mod moving;
mod request;
mod running;
mod sending;

use self::request::{Answer, Request, What, id_of, plain};
use self::running::{HALF_A_DAY, open};
use super::accounts::{Accounts, Errand, NO_KEY};
use super::timers::{TimerErrand, Timings, UNHEARD_AFTER};
use super::timing::Timing;
use super::{Deed, Fate};
use crate::engine::timelines::life::{Life, Mark, State, current_events, draft, found, listed};
use crate::engine::timelines::model::Model;
use crate::engine::*;

pub(super) use self::request::Repetition;

/// How long a request can be repeated, in microseconds.
const REPEATABLE: i64 = 2 * HALF_A_DAY;
/// Maximum number of timelines.
const LIVES_MAX: usize = 5;

struct PastRequest {
    request: Request,
    /// The event whose content is in the response, as in [`Known::born`].
    about: Option<usize>,
    summary: String,
    at: Instant<Wall>,
}

#[derive(Clone, Debug)]
struct Import {
    on: TimelineId,
    name: ImportId,
    events: Vec<Imported>,
}

/// An event as in [`Known`](crate::engine::timelines::life::Known).
#[derive(Clone, Debug)]
struct Imported {
    event_id: String,
    born: usize,
    version: usize,
}

pub(super) struct World<'a> {
    house: &'a House,
    /// `None` only while the database is closed.
    open: Option<(Arc<FaultyStore>, Home<'a>)>,
    lives: Vec<Life>,
    accounts: Accounts,
    ended: BTreeSet<TimelineId>,
    clocks: Model,
    timings: Timings,
    /// The destination of an advance, until it is reached.
    advance: Option<(TimelineId, Moment)>,
    anchored: BTreeMap<AnchorId, Instant<Virtual>>,
    /// Where each event that was not erased was recorded, and the total number of events.
    recorded: BTreeMap<usize, (TimelineId, String)>,
    born_count: usize,
    /// When the current version of each event, or its cancellation, was recorded on its own timeline.
    changed: BTreeMap<usize, (usize, Instant<Wall>)>,
    /// The parent of each fork.
    parents: Vec<TimelineId>,
    imports: Vec<Import>,
    erased: BTreeSet<usize>,
    /// Timelines that lost an inherited event, which their own entries do not show.
    bereft: BTreeSet<TimelineId>,
    requests: Vec<PastRequest>,
    requests_count: usize,
}

impl<'a> World<'a> {
    pub(super) async fn open(house: &'a House) -> Self {
        let mut world = Self {
            house,
            open: Some(open(house).await),
            lives: Vec::new(),
            accounts: Accounts::default(),
            ended: BTreeSet::new(),
            clocks: Model::default(),
            timings: Timings::default(),
            advance: None,
            anchored: BTreeMap::new(),
            recorded: BTreeMap::new(),
            born_count: 0,
            changed: BTreeMap::new(),
            parents: Vec::new(),
            imports: Vec::new(),
            erased: BTreeSet::new(),
            bereft: BTreeSet::new(),
            requests: Vec::new(),
            requests_count: 0,
        };
        let home = world.home();
        home.create_timeline(timeline_id("other")).await;
        for name in ["main", "other"] {
            world.begin(timeline_id(name), State::new(), Vec::new(), Timing::default()).await;
        }
        world
    }

    fn home(&self) -> &Home<'a> {
        &self.open.as_ref().expect("the service runs").1
    }

    fn store(&self) -> &FaultyStore {
        &self.open.as_ref().expect("the service runs").0
    }

    /// Adds a new timeline to the model, and reads its clock as of its creation.
    async fn begin(&mut self, name: TimelineId, now: State, anchors: Vec<Mark>, timing: Timing) {
        let home = self.home();
        let view = home.engine.timeline(&home.admin, &name).await.unwrap();
        let base = view.state.head.timers.base;
        let clock = view.clock.expect("the first operator sees it").clock;
        self.clocks.insert(name.as_str(), clock, self.house.clock.now());
        self.accounts.begin(&name);
        // Its own ones are sent in any case.
        let sends_from = timing.sends_from.min(base);
        self.timings.begin(&name, Timing { base, sends_from, ..timing });
        self.lives.push(Life { name, past: BTreeMap::from([(0, now.clone())]), now, anchors });
    }

    /// Turns drawn values into a request, unless that is impossible.
    async fn draw(&mut self, on: Index, deed: Deed, by: Option<Index>) -> Option<Request> {
        let by = by.and_then(|which| self.accounts.asker(which));
        let life = on.get(&self.lives);
        let mut on = life.name.clone();
        let what = match deed {
            Deed::Record(events) => What::Record(drafts(events)),
            Deed::Import(events) => What::Import(drafts(events)),
            Deed::UndoImport(_) if self.imports.is_empty() => return None,
            Deed::UndoImport(which) => {
                let number = which.index(self.imports.len());
                on = self.imports[number].on.clone();
                What::UndoImport(number, self.imports[number].name)
            }
            Deed::Correct(event, time) => What::Correct(draft(event, time)),
            Deed::Intervene(event, effect) => What::Intervene(event, effect),
            Deed::Steer(command, passing) => What::Steer(command, passing),
            Deed::Anchor => What::Anchor,
            Deed::Return { .. } if life.anchors.is_empty() => return None,
            Deed::Return { to, all } => {
                let scope = if all { ReturnScope::All } else { ReturnScope::Clock };
                What::Return(to.get(&life.anchors).anchor_id.clone(), scope)
            }
            Deed::Fork { .. } if self.lives.len() == LIVES_MAX => return None,
            Deed::Fork { at, sends } => {
                let positions: Vec<u64> = life.past.keys().copied().collect();
                let name = timeline_id(&format!("fork{}", self.lives.len()));
                What::Fork { name, at: at.map(|at| *at.get(&positions)), sends }
            }
            Deed::Retain { days } => What::Retain(days),
            Deed::Erase(event) => {
                self.born(&life.name, event)?;
                What::Erase(event)
            }
            Deed::Clear(_) | Deed::Timer(_) if self.ended.contains(&life.name) => return None,
            Deed::Clear(clearing) => What::Clear(self.clearance(&on, clearing).await?),
            Deed::End if life.name == timeline_id("main") => return None,
            Deed::End => What::End,
            Deed::Timer(deed) => {
                let now = self.clocks.read(on.as_str(), self.house.clock.now()).expect("it stands");
                let request = (self.requests_count, by.as_ref().map(|asker| asker.user.clone()));
                What::Timer(TimerErrand::draw(&deed, (self.home(), &on), (self.timings.of(&on), now), request).await?)
            }
            Deed::Account(chore) => {
                let (aim, errand) = self.accounts.draw(&on, chore, self.requests_count)?;
                // Sealed data was deleted with its timeline.
                let is_none = matches!(errand, Errand::EraseData(_));
                if is_none && self.ended.contains(&aim) {
                    return None;
                }
                on = aim;
                What::Account(errand)
            }
        };
        self.requests_count += 1;
        let by = by.filter(|_| what.demands().is_some());
        Some(Request { on, what, number: self.requests_count, by })
    }

    fn born(&self, on: &TimelineId, event: u8) -> Option<usize> {
        let of = (on.clone(), format!("e{event}"));
        self.recorded.iter().find(|(_, recorded)| **recorded == of).map(|(born, _)| *born)
    }

    fn life(&mut self, name: &TimelineId) -> &mut Life {
        self.lives.iter_mut().find(|life| life.name == *name).expect("the model has it")
    }

    /// Records the states readable at the current positions.
    async fn remember(&mut self) {
        let heads = self.home().store.open().await.unwrap().heads;
        for head in heads {
            if let Some(life) = self.lives.iter_mut().find(|life| life.name == head.id) {
                life.past.insert(head.frontier.size() - 1, life.now.clone());
                self.timings.remember(&head.id, head.frontier.size() - 1);
            }
        }
    }

    pub(super) async fn ask(&mut self, on: Index, deed: Deed, (fate, by): (Fate, Option<Index>)) {
        let Some(request) = self.draw(on, deed, by).await else { return };
        let at = self.house.clock.now();
        if self.is_denied(&request).await {
            self.remember().await;
            return;
        }
        if !self.may(&request) {
            let refused = self.send(&request).await;
            assert!(refused.is_err(), "{request:?}: {refused:?}");
            let is_ended = matches!(refused, Err(Refusal::Ended { .. }));
            assert_eq!(is_ended, self.ended.contains(&request.on), "{request:?}: {refused:?}");
            self.remember().await;
            return;
        }
        let lost = match fate {
            Fate::Answered | Fate::CutOff(_) => None,
            Fate::NotWritten => {
                self.store().fail_after(0);
                let answer = self.send(&request).await;
                self.store().fail_after(OPEN_PERMITS);
                Some(answer)
            }
            Fate::AnswerLost => {
                self.house.outside.set_failing(true);
                let answer = self.send(&request).await;
                self.house.outside.set_failing(false);
                self.kill_and_open().await;
                Some(answer)
            }
        };
        // If nothing had to be written, nothing could be lost.
        let is_lost = lost.as_ref().is_some_and(is_unavailable);
        assert!(is_lost || lost.as_ref().is_none_or(Result::is_ok), "{request:?}: {lost:?}");
        // A fork writes to the parent first, and is interrupted there.
        let was_written = is_lost && matches!(fate, Fate::AnswerLost) && !matches!(request.what, What::Fork { .. });
        let repetition = request.repetition();
        let answer = match lost {
            Some(Ok(answer)) => answer,
            // A repeated deletion without a key finds nothing.
            _ if was_written && repetition == Repetition::NotFound => {
                let again = self.send(&request).await;
                assert!(matches!(again, Err(Refusal::NotFound { .. })), "{request:?}: {again:?}");
                plain(String::new(), true, 0)
            }
            _ => self.send(&request).await.unwrap_or_else(|refusal| panic!("{request:?}: {refusal}")),
        };
        assert_eq!(answer.replayed, was_written && repetition != Repetition::Anew, "{request:?}, {fate:?}");
        let about = self.about(&request);
        self.apply(&request, &answer, was_written).await;
        self.go_on(if let Fate::CutOff(cut) = fate { Some(cut) } else { None }).await;
        if matches!(request.what, What::Timer(TimerErrand::Done(_))) {
            // There is no listener any more.
            self.house.clock.advance(UNHEARD_AFTER);
            self.go_on(None).await;
        }
        if repetition == Repetition::Answered {
            self.requests.push(PastRequest { request, about, summary: answer.summary, at });
        }
    }

    async fn send(&self, request: &Request) -> Result<Answer, Refusal> {
        let home = self.home();
        let caller = request.by.as_ref().map(|asker| asker.caller(&home.engine).expect("the key works"));
        request.send(home, caller.as_ref().unwrap_or(&home.admin)).await
    }

    /// Returns whether the caller has no permission. In that case checks that the request is rejected without effect.
    async fn is_denied(&self, request: &Request) -> bool {
        let Some(asker) = &request.by else { return false };
        let demands = request.what.demands().unwrap_or_default();
        let Some(denied) = self.accounts.denied(asker, &request.on, demands) else { return false };
        let Some(caller) = asker.caller(&self.home().engine) else {
            assert_eq!(denied, NO_KEY, "{request:?}");
            return true;
        };
        let refused = request.send(self.home(), &caller).await.map(|_| ());
        // For an ended timeline, all users get only that result.
        let is_reported = outcome_text(&refused) == denied || self.ended.contains(&request.on);
        assert!(refused.is_err() && is_reported, "{request:?}: {refused:?}, not {denied}");
        true
    }

    /// Returns the event whose content is in the response.
    fn about(&mut self, request: &Request) -> Option<usize> {
        let event_id = match &request.what {
            What::Correct(draft) => id_of(draft).to_owned(),
            What::Intervene(event, _) => format!("e{event}"),
            _ => return None,
        };
        self.life(&request.on).now.get(&event_id).map(|known| known.born)
    }

    /// Repeats an earlier request: the response is the first one, and nothing more is written.
    pub(super) async fn ask_again(&mut self, which: Index) {
        let now = self.house.clock.now();
        let repeatable: Vec<usize> = (0..self.requests.len())
            .filter(|number| now.micros() - self.requests[*number].at.micros() < REPEATABLE)
            .collect();
        if repeatable.is_empty() {
            return;
        }
        let PastRequest { request, about, summary, .. } = &self.requests[*which.get(&repeatable)];
        let (request, about, first) = (request.clone(), *about, summary.clone());
        if self.is_denied(&request).await {
            self.remember().await;
            return;
        }
        let before = self.sizes().await;
        let again = self.send(&request).await;
        let of_fork = |fork: &TimelineId| self.ended.contains(fork);
        let has_ended = match &request.what {
            What::End => false,
            What::Fork { name, .. } => of_fork(name) || of_fork(&request.on),
            _ => of_fork(&request.on),
        };
        if has_ended {
            assert!(matches!(again, Err(Refusal::Ended { .. })), "{request:?}: {again:?}");
        } else if about.is_some_and(|born| self.erased.contains(&born)) {
            assert!(matches!(again, Err(Refusal::AnswerErased { .. })), "{request:?}: {again:?}");
            assert_eq!(self.sizes().await, before, "{request:?}");
        } else {
            let again = again.unwrap_or_else(|refusal| panic!("{request:?}: {refusal}"));
            assert_eq!((again.summary, again.replayed), (first, true), "{request:?}");
            assert_eq!(self.sizes().await, before, "{request:?}");
        }
    }

    async fn sizes(&self) -> BTreeMap<TimelineId, u64> {
        let heads = self.home().store.open().await.unwrap().heads;
        heads.iter().map(|head| (head.id.clone(), head.frontier.size())).collect()
    }

    /// Reads one clock, and the events of one past state.
    pub(super) async fn look(&mut self, on: Index, at: Index) {
        let life = on.get(&self.lives).clone();
        let read = self.home().engine.read_clock(&self.home().admin, Some(life.name.clone())).await;
        if self.ended.contains(&life.name) {
            assert!(matches!(read, Err(Refusal::Ended { .. })), "{}", outcome_text(&read));
            return;
        }
        let read = read.unwrap();
        let expected = self.clocks.read(life.name.as_str(), self.house.clock.now()).unwrap();
        assert_eq!((&read.clock, read.current_time), (self.clocks.clock(life.name.as_str()), expected));
        let positions: Vec<u64> = life.past.keys().copied().collect();
        let position = *at.get(&positions);
        let events = found(self.home(), &life.name, Some(AsOf::Position(position))).await;
        assert_eq!(events, current_events(life.at(position)), "{} {position}", life.name);
        self.timings.check(self.home(), &life.name).await;
        self.remember().await;
    }

    /// Reads every past state, and checks every ledger.
    pub(super) async fn check_everything(mut self) {
        for life in self.lives.iter().filter(|life| !self.ended.contains(&life.name)) {
            let (home, name) = (self.home(), &life.name);
            self.timings.check(home, name).await;
            let reading = home.read_clock(Some(name.clone())).await;
            assert_eq!(reading.clock, *self.clocks.clock(name.as_str()), "{name}");
            assert_eq!(found(home, name, None).await, current_events(&life.now), "{name}");
            let view = home.engine.timeline(&home.admin, name).await.unwrap();
            if !self.bereft.contains(name) {
                assert_eq!(view.state.head.events_count, current_events(&life.now).len() as u64, "{name}");
            }
            for (position, state) in &life.past {
                let events = found(home, name, Some(AsOf::Position(*position))).await;
                assert_eq!(events, current_events(state), "{name} {position}");
            }
            let marks: Vec<AnchorId> = life.anchors.iter().map(|mark| mark.anchor_id.clone()).collect();
            assert_eq!(listed(home, name).await, marks, "{name}");
            for Mark { anchor_id, state, .. } in &life.anchors {
                let events = found(home, name, Some(AsOf::Anchor(anchor_id.clone()))).await;
                assert_eq!(events, current_events(state), "{name} {anchor_id}");
            }
        }
        let current_events: Vec<&TimelineId> =
            self.lives.iter().map(|life| &life.name).filter(|name| !self.ended.contains(name)).collect();
        self.accounts.check(self.home(), &current_events).await;
        for life in self.lives.iter().filter(|life| current_events.contains(&&life.name)) {
            self.check_bundle(life).await;
        }
        let (_, home) = self.open.take().expect("the service runs");
        home.close().await;
    }
}

fn drafts(events: Vec<(u8, i64)>) -> Vec<EventDraft> {
    events.into_iter().map(|(event, time)| draft(event, time)).collect()
}
