//! A service with everything that was asked of it, beside what should have become of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use proptest::sample::Index;
use timenav_core::as_of::AsOf;
use timenav_core::clock::{Clock, ClockCommand};
use timenav_core::event::EventDraft;
use timenav_core::ids::{AnchorId, TimelineId};
use timenav_core::intervention::Effect;
use timenav_core::ledger::Retention;
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_engine::{
    AnchorRequest, ClockStep, EventErasure, Idempotency, InterventionRequest, KeptFor, Refusal, RetentionRequest,
    ReturnScope, WallClock as _, WhichEvents,
};

use super::household::{Errand, Household, Made};
use super::{Deed, Fate};
use crate::engine::life::{Known, Life, Mark, State, draft, found, is_free, listed, standing};
use crate::engine::model::Model;
use crate::faulty_store::{FaultyStore, OPEN_PERMITS};
use crate::house::{Home, House, is_unavailable, told};
use crate::sample::{digest, event_id, moment, timeline_id};

const HALF_A_DAY: i64 = 43_200_000_000;
/// How long a request can be sent again, in microseconds.
const REPEATABLE: i64 = 2 * HALF_A_DAY;
const DAY_SECONDS: u32 = 86_400;
/// More timelines are not made.
const LIVES_MAX: usize = 5;

/// A request as it can be sent again.
#[derive(Clone, Debug)]
struct Request {
    on: TimelineId,
    what: What,
    number: usize,
}

#[derive(Clone, Debug)]
enum What {
    Record(EventDraft),
    Correct(EventDraft),
    Intervene(u8, Effect),
    Steer(ClockCommand),
    Anchor,
    Return(AnchorId, ReturnScope),
    Fork { name: TimelineId, at: Option<u64> },
    Retain(u32),
    Erase(u8),
    End,
    House(Errand),
}

/// What was answered, in words that compare, and what the model has to learn from it.
#[derive(Clone, Debug)]
struct Answer {
    told: String,
    replayed: bool,
    anchor_id: Option<AnchorId>,
    step: Option<(Clock, Instant<Virtual>, bool)>,
    position: u64,
    made: Made,
}

struct Asked {
    request: Request,
    /// The event whose content the answer holds, as [`Known::born`] has it.
    about: Option<usize>,
    told: String,
    at: Instant<Wall>,
}

pub(super) struct World<'a> {
    house: &'a House,
    /// `None` only while nothing has the database open.
    open: Option<(Arc<FaultyStore>, Home<'a>)>,
    lives: Vec<Life>,
    household: Household,
    ended: BTreeSet<TimelineId>,
    clocks: Model,
    anchored: BTreeMap<AnchorId, Instant<Virtual>>,
    /// Where each event was recorded that was not erased, and how many there ever were.
    recorded: BTreeMap<usize, (TimelineId, String)>,
    born_count: usize,
    erased: BTreeSet<usize>,
    /// Those that lost an event that they only inherited: their own entries do not tell of it.
    bereft: BTreeSet<TimelineId>,
    asked: Vec<Asked>,
    requests_count: usize,
}

impl<'a> World<'a> {
    pub(super) async fn open(house: &'a House) -> Self {
        let mut world = Self {
            house,
            open: Some(open(house).await),
            lives: Vec::new(),
            household: Household::default(),
            ended: BTreeSet::new(),
            clocks: Model::default(),
            anchored: BTreeMap::new(),
            recorded: BTreeMap::new(),
            born_count: 0,
            erased: BTreeSet::new(),
            bereft: BTreeSet::new(),
            asked: Vec::new(),
            requests_count: 0,
        };
        let home = world.home();
        home.engine.create_timeline(&home.admin, timeline_id("other"), None).await.unwrap();
        for name in ["main", "other"] {
            world.begin(timeline_id(name), State::new(), Vec::new()).await;
        }
        world
    }

    fn home(&self) -> &Home<'a> {
        &self.open.as_ref().expect("the service runs").1
    }

    fn store(&self) -> &FaultyStore {
        &self.open.as_ref().expect("the service runs").0
    }

    /// Takes a new timeline into the model, whose clock is read where it was made.
    async fn begin(&mut self, name: TimelineId, now: State, anchors: Vec<Mark>) {
        let home = self.home();
        let view = home.engine.timeline(&home.admin, &name).await.unwrap().clock.unwrap();
        self.clocks.insert(name.as_str(), view.clock, self.house.clock.now());
        self.household.begin(&name);
        self.lives.push(Life { name, past: BTreeMap::from([(0, now.clone())]), now, anchors });
    }

    /// Makes a request of what was drawn, unless it can be none.
    fn draw(&mut self, on: Index, deed: Deed) -> Option<Request> {
        let life = on.get(&self.lives);
        let mut on = life.name.clone();
        let what = match deed {
            Deed::Record(event, time) => What::Record(draft(event, time)),
            Deed::Correct(event, time) => What::Correct(draft(event, time)),
            Deed::Intervene(event, effect) => What::Intervene(event, effect),
            Deed::Steer(command) => What::Steer(command),
            Deed::Anchor => What::Anchor,
            Deed::Return { .. } if life.anchors.is_empty() => return None,
            Deed::Return { to, all } => {
                let scope = if all { ReturnScope::All } else { ReturnScope::Clock };
                What::Return(to.get(&life.anchors).anchor_id.clone(), scope)
            }
            Deed::Fork { .. } if self.lives.len() == LIVES_MAX => return None,
            Deed::Fork { at } => {
                let positions: Vec<u64> = life.past.keys().copied().collect();
                let name = timeline_id(&format!("fork{}", self.lives.len()));
                What::Fork { name, at: at.map(|at| *at.get(&positions)) }
            }
            Deed::Retain { days } => What::Retain(days),
            Deed::Erase(event) => {
                self.born(&life.name, event)?;
                What::Erase(event)
            }
            Deed::End if life.name == timeline_id("main") => return None,
            Deed::End => What::End,
            Deed::House(chore) => {
                let (aim, errand) = self.household.draw(&on, chore, self.requests_count)?;
                // What was sealed is gone with its timeline.
                if matches!(errand, Errand::EraseData(_)) && self.ended.contains(&aim) {
                    return None;
                }
                on = aim;
                What::House(errand)
            }
        };
        self.requests_count += 1;
        Some(Request { on, what, number: self.requests_count })
    }

    /// Returns which event of that id was recorded on a timeline, if there is one.
    fn born(&self, on: &TimelineId, event: u8) -> Option<usize> {
        let of = (on.clone(), format!("e{event}"));
        self.recorded.iter().find(|(_, recorded)| **recorded == of).map(|(born, _)| *born)
    }

    fn life(&mut self, name: &TimelineId) -> &mut Life {
        self.lives.iter_mut().find(|life| life.name == *name).expect("the model has it")
    }

    /// Whether the model says that it is done.
    fn may(&mut self, request: &Request) -> bool {
        if self.ended.contains(&request.on) {
            return false;
        }
        let clock = self.clocks.clone();
        let now = self.house.clock.now();
        let state = &self.life(&request.on).now;
        let known = |event: &str| state.get(event);
        match &request.what {
            What::Record(draft) => is_free(state, id_of(draft)),
            What::Correct(draft) => known(id_of(draft)).is_some_and(|known| known.stands.is_some()),
            What::Intervene(event, effect) => known(&format!("e{event}"))
                .is_some_and(|known| known.stands.is_some() || matches!(effect, Effect::Restore | Effect::Note)),
            What::Steer(command) => clock.clone().change(request.on.as_str(), command, now).is_ok(),
            What::House(errand) => self.household.may(errand),
            What::Anchor | What::Return(..) | What::Fork { .. } | What::Retain(_) | What::Erase(_) | What::End => true,
        }
    }

    /// Does in the model what was answered as done.
    async fn apply(&mut self, request: &Request, answer: &Answer) {
        let now = self.house.clock.now();
        let name = &request.on;
        match &request.what {
            What::Record(draft) => {
                let time = draft.time.micros() / 1_000_000;
                // Whoever erases it erases what had its id before.
                let before = self.life(name).now.get(id_of(draft)).map(|before| before.born);
                let born = before.unwrap_or_else(|| {
                    self.born_count += 1;
                    self.recorded.insert(self.born_count, (name.clone(), id_of(draft).to_owned()));
                    self.born_count
                });
                let known = Known::recorded(time, born);
                self.life(name).now.insert(id_of(draft).to_owned(), known);
            }
            What::Correct(draft) => {
                let time = draft.time.micros() / 1_000_000;
                let known = self.life(name).now.get_mut(id_of(draft)).unwrap();
                // What is recorded so already is no correction.
                let recorded = if known.stands == Some(time) { known.recorded } else { time };
                *known = Known { recorded, stands: Some(time), ..*known };
            }
            What::Intervene(event, effect) => {
                self.life(name).now.get_mut(&format!("e{event}")).unwrap().change(effect);
            }
            What::Steer(command) => {
                let expected = self.clocks.change(name.as_str(), command, now).unwrap();
                assert_eq!(answer.step, Some(expected), "{request:?}");
            }
            What::Anchor => {
                let anchor_id = answer.anchor_id.clone().unwrap();
                self.anchored.insert(anchor_id.clone(), self.clocks.read(name.as_str(), now).unwrap());
                let life = self.life(name);
                life.anchors.push(Mark { anchor_id, own: Some(answer.position), state: life.now.clone() });
            }
            What::Return(anchor_id, scope) => {
                let (clock, reading, _) = answer.step.clone().unwrap();
                assert_eq!(reading, self.anchored[anchor_id], "{request:?}");
                self.clocks.insert(name.as_str(), clock, now);
                let life = self.life(name);
                let mark = life.anchors.iter().find(|mark| mark.anchor_id == *anchor_id).unwrap();
                let state = mark.state.clone();
                if *scope == ReturnScope::All {
                    // An event that was recorded later is known, and its id is free.
                    for (id, known) in &mut life.now {
                        known.take_back(state.get(id));
                    }
                }
            }
            What::Fork { name: fork, at } => {
                let parent = self.life(name);
                let now = at.map_or(&parent.now, |position| parent.at(position)).clone();
                // Anchors that were set later are not the fork's.
                let is_later = |mark: &Mark| at.is_some_and(|at| mark.own.is_some_and(|own| own > at));
                let inherited = parent.anchors.iter().filter(|mark| !is_later(mark));
                let anchors = inherited.map(|mark| Mark { own: None, ..mark.clone() }).collect();
                // How many stood then is what the ledger said then, and so it is for forks of one that lost something.
                if self.bereft.contains(name) || (at.is_some() && !self.erased.is_empty()) {
                    self.bereft.insert(fork.clone());
                }
                self.begin(fork.clone(), now, anchors).await;
            }
            What::Retain(_) => {}
            What::Erase(event) => {
                let born = self.born(name, *event).expect("it was drawn");
                self.forget(name, born);
            }
            What::End => drop(self.ended.insert(name.clone())),
            What::House(errand) => self.household.apply(name, errand, answer.made.clone()),
        }
        self.remember().await;
    }

    /// Forgets an event in every state there was, on every timeline that has it.
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

    /// Notes the states that can be read at the positions there are now.
    async fn remember(&mut self) {
        let heads = self.home().store.open().await.unwrap().heads;
        for head in heads {
            if let Some(life) = self.lives.iter_mut().find(|life| life.name == head.id) {
                life.past.insert(head.frontier.size() - 1, life.now.clone());
            }
        }
    }

    pub(super) async fn ask(&mut self, on: Index, deed: Deed, fate: Fate) {
        let Some(request) = self.draw(on, deed) else { return };
        if !self.may(&request) {
            let refused = self.send(&request).await;
            assert!(refused.is_err(), "{request:?}: {refused:?}");
            let is_ended = matches!(refused, Err(Refusal::Ended { .. }));
            assert_eq!(is_ended, self.ended.contains(&request.on), "{request:?}: {refused:?}");
            self.remember().await;
            return;
        }
        let lost = match fate {
            Fate::Answered => None,
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
        // Where nothing had to be written, nothing could be lost.
        let is_lost = lost.as_ref().is_some_and(is_unavailable);
        assert!(is_lost || lost.as_ref().is_none_or(Result::is_ok), "{request:?}: {lost:?}");
        // A fork asks the parent first, and that is where it is cut off.
        let was_written = is_lost && matches!(fate, Fate::AnswerLost) && !matches!(request.what, What::Fork { .. });
        let is_repeatable = !matches!(&request.what, What::House(errand) if !errand.is_repeatable());
        let answer = match lost {
            Some(Ok(answer)) => answer,
            // What was done without a key is not there any more to be done again.
            _ if was_written && !is_repeatable => {
                let again = self.send(&request).await;
                assert!(matches!(again, Err(Refusal::NotFound { .. })), "{request:?}: {again:?}");
                plain(String::new(), true, 0)
            }
            _ => self.send(&request).await.unwrap_or_else(|refusal| panic!("{request:?}: {refusal}")),
        };
        assert_eq!(answer.replayed, was_written, "{request:?}, {fate:?}");
        let about = self.about(&request);
        self.apply(&request, &answer).await;
        if is_repeatable {
            self.asked.push(Asked { request, about, told: answer.told, at: self.house.clock.now() });
        }
    }

    /// Returns the event whose content the answer to a request holds.
    fn about(&mut self, request: &Request) -> Option<usize> {
        let event_id = match &request.what {
            What::Correct(draft) => id_of(draft).to_owned(),
            What::Intervene(event, _) => format!("e{event}"),
            _ => return None,
        };
        self.life(&request.on).now.get(&event_id).map(|known| known.born)
    }

    /// Sends an earlier request once more: the answer is the first, and nothing more is written.
    pub(super) async fn ask_again(&mut self, which: Index) {
        let now = self.house.clock.now();
        let repeatable: Vec<usize> = (0..self.asked.len())
            .filter(|number| now.micros() - self.asked[*number].at.micros() < REPEATABLE)
            .collect();
        if repeatable.is_empty() {
            return;
        }
        let Asked { request, about, told, .. } = &self.asked[*which.get(&repeatable)];
        let (request, about, first) = (request.clone(), *about, told.clone());
        let before = self.sizes().await;
        let again = self.send(&request).await;
        let of_fork = |fork: &TimelineId| self.ended.contains(fork);
        let has_ended = match &request.what {
            What::End => false,
            What::Fork { name, .. } => of_fork(name) || of_fork(&request.on),
            _ => of_fork(&request.on),
        };
        if has_ended && matches!(request.what, What::House(Errand::EraseData(_))) {
            assert!(matches!(again, Err(Refusal::NotFound { .. })), "{request:?}: {again:?}");
        } else if has_ended {
            assert!(matches!(again, Err(Refusal::Ended { .. })), "{request:?}: {again:?}");
        } else if about.is_some_and(|born| self.erased.contains(&born)) {
            assert!(matches!(again, Err(Refusal::AnswerErased { .. })), "{request:?}: {again:?}");
            assert_eq!(self.sizes().await, before, "{request:?}");
        } else {
            let again = again.unwrap_or_else(|refusal| panic!("{request:?}: {refusal}"));
            assert_eq!((again.told, again.replayed), (first, true), "{request:?}");
            assert_eq!(self.sizes().await, before, "{request:?}");
        }
    }

    async fn sizes(&self) -> BTreeMap<TimelineId, u64> {
        let heads = self.home().store.open().await.unwrap().heads;
        heads.iter().map(|head| (head.id.clone(), head.frontier.size())).collect()
    }

    async fn send(&self, request: &Request) -> Result<Answer, Refusal> {
        let (engine, admin) = (&self.home().engine, &self.home().admin);
        let key = digest(&format!("request {}", request.number));
        let key = Some(Idempotency { key, fingerprint: key });
        let on = request.on.clone();
        let named = Some(on.clone());
        Ok(match &request.what {
            What::Record(draft) => {
                let made = engine.record_events(admin, named, vec![draft.clone()], key).await?;
                plain(format!("{:?} {:?}", made.event_ids, made.ledger), made.replayed, made.ledger.position)
            }
            What::Correct(draft) => {
                let made = engine.correct_event(admin, named, draft.clone(), None, key).await?;
                let told = format!("{} {} {:?}", made.content, made.changed, made.ledger);
                plain(told, made.replayed, made.ledger.position)
            }
            What::Intervene(event, effect) => {
                let made = engine.manipulate_event(admin, named, intervention(*event, effect), key).await?;
                let told = format!("{} {:?} {:?} {:?}", made.intervention_id, made.before, made.after, made.ledger);
                plain(told, made.replayed, made.ledger.position)
            }
            What::Anchor => {
                let request = AnchorRequest { timestamp: None, description: String::new(), fixed: true };
                let (anchor_id, at, ledger, replayed) = engine.set_anchor(admin, named, request, key).await?;
                let told = format!("{anchor_id} {at} {ledger:?}");
                Answer { anchor_id: Some(anchor_id), ..plain(told, replayed, ledger.position) }
            }
            What::Steer(command) => stepped(engine.change_clock(admin, named, command.clone(), key).await?),
            What::Return(anchor_id, scope) => {
                stepped(engine.return_to_anchor(admin, named, anchor_id, *scope, key).await?)
            }
            What::Fork { name, at } => {
                let at = at.map(AsOf::Position);
                let made = engine.fork_timeline(admin, name.clone(), &on, at.as_ref(), key).await?;
                plain(format!("{:?} {:?}", made.expires_at, made.ledger), made.replayed, made.ledger.position)
            }
            What::Retain(days) => {
                let kept = KeptFor::Seconds(days * DAY_SECONDS);
                let request = RetentionRequest { reads: kept, refusals: kept };
                let (kept, ledger, replayed): (Retention, _, _) = engine.set_retention(admin, on, request, key).await?;
                plain(format!("{kept:?} {ledger:?}"), replayed, ledger.position)
            }
            What::Erase(event) => {
                let erasure = EventErasure {
                    timeline: named,
                    which: WhichEvents::Ids(vec![event_id(&format!("e{event}"))]),
                    include_forks: true,
                    evaluated_at: None,
                };
                let made = engine.erase_events(admin, erasure, key).await?;
                assert_eq!((made.events_count, made.left), (1, 0), "{request:?}");
                let told = format!("{} {} {:?}", made.payloads_count, made.outcomes_count, made.ledger);
                plain(told, made.replayed, made.ledger.position)
            }
            What::End => {
                let end = engine.end_timeline(admin, on, key).await?;
                let told = format!("{} {:?} {} {:?}", end.size, end.root, end.checkpoint, end.ledger);
                plain(told, end.replayed, end.ledger.position)
            }
            What::House(errand) => {
                let came = errand.send(self.home(), &on, key).await?;
                Answer { made: came.made, ..plain(came.told, came.replayed, came.position) }
            }
        })
    }

    /// Looks at one clock, and at the events of one state there was.
    pub(super) async fn look(&mut self, on: Index, at: Index) {
        let life = on.get(&self.lives).clone();
        let read = self.home().engine.read_clock(&self.home().admin, Some(life.name.clone())).await;
        if self.ended.contains(&life.name) {
            assert!(matches!(read, Err(Refusal::Ended { .. })), "{}", told(&read));
            return;
        }
        let read = read.unwrap();
        let expected = self.clocks.read(life.name.as_str(), self.house.clock.now()).unwrap();
        assert_eq!((&read.clock, read.current_time), (self.clocks.clock(life.name.as_str()), expected));
        let positions: Vec<u64> = life.past.keys().copied().collect();
        let position = *at.get(&positions);
        let events = found(self.home(), &life.name, Some(AsOf::Position(position))).await;
        assert_eq!(events, standing(life.at(position)), "{} {position}", life.name);
        self.remember().await;
    }

    /// Half days pass as they do while a service runs, which looks after what is due.
    pub(super) async fn pass(&mut self, half_days: u8) {
        for _ in 0..half_days {
            self.house.clock.advance(HALF_A_DAY);
            self.home().engine.tend().await.unwrap();
            while self.home().engine.sweep_in_turn().await.unwrap() {}
        }
        self.remember().await;
    }

    pub(super) async fn close_and_open(&mut self) {
        self.close().await;
        self.open = Some(open(self.house).await);
    }

    async fn close(&mut self) {
        let (_, home) = self.open.take().expect("the service runs");
        home.engine.close().await;
    }

    /// Goes on from the files as they are now, whatever the engine would still have done.
    pub(super) async fn kill_and_open(&mut self) {
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

    /// Reads every state there was, and checks every ledger.
    pub(super) async fn check_everything(mut self) {
        for life in self.lives.iter().filter(|life| !self.ended.contains(&life.name)) {
            let (home, name) = (self.home(), &life.name);
            assert_eq!(found(home, name, None).await, standing(&life.now), "{name}");
            let view = home.engine.timeline(&home.admin, name).await.unwrap();
            if !self.bereft.contains(name) {
                assert_eq!(view.state.head.events_count, standing(&life.now).len() as u64, "{name}");
            }
            for (position, state) in &life.past {
                let events = found(home, name, Some(AsOf::Position(*position))).await;
                assert_eq!(events, standing(state), "{name} {position}");
            }
            let marks: Vec<AnchorId> = life.anchors.iter().map(|mark| mark.anchor_id.clone()).collect();
            assert_eq!(listed(home, name).await, marks, "{name}");
            for Mark { anchor_id, state, .. } in &life.anchors {
                let events = found(home, name, Some(AsOf::Anchor(anchor_id.clone()))).await;
                assert_eq!(events, standing(state), "{name} {anchor_id}");
            }
        }
        let standing: Vec<&TimelineId> =
            self.lives.iter().map(|life| &life.name).filter(|name| !self.ended.contains(name)).collect();
        self.household.check(self.home(), &standing).await;
        let (_, home) = self.open.take().expect("the service runs");
        home.close().await;
    }
}

fn intervention(event: u8, effect: &Effect) -> InterventionRequest {
    InterventionRequest {
        event_id: event_id(&format!("e{event}")),
        action: effect.as_str().to_owned(),
        effect: effect.clone(),
        time: moment(0),
        causes: Vec::new(),
    }
}

fn plain(told: String, replayed: bool, position: u64) -> Answer {
    Answer { told, replayed, position, anchor_id: None, step: None, made: Made::Nothing }
}

fn stepped(made: ClockStep) -> Answer {
    let told = format!("{:?} {} {:?}", made.view, made.changed, made.ledger);
    let step = Some((made.view.clock, made.view.current_time, made.changed));
    Answer { step, ..plain(told, made.replayed, made.ledger.position) }
}

fn id_of(draft: &EventDraft) -> &str {
    draft.event_id.as_ref().expect("each has one").as_str()
}

async fn open(house: &House) -> (Arc<FaultyStore>, Home<'_>) {
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = house.try_open(Arc::clone(&store) as _).await.unwrap();
    (store, home)
}
