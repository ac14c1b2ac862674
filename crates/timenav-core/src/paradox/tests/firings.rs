use std::collections::BTreeSet;

use proptest::prelude::*;

use super::story::{DraftExt, Fact, Story, at, event, id};
use crate::ids::{AnchorId, TimerId};
use crate::paradox::{Delta, Kind, Paradox, Record, Settings, Stamp, Taken, TimerRecord, VersionOrigin, View, Witness};
use crate::time::{Instant, Virtual};
use crate::timers::{DueFiring, Schedule};

const DUE: &str = "2026-01-31T09:00:00Z";

impl Story {
    fn timers(&mut self, record: impl FnOnce(u64) -> TimerRecord<'static>) {
        self.append(Fact::Timers(record(self.log.len() as u64)));
    }

    fn set(&mut self, timer_id: &str) -> u64 {
        let timer_id: &'static TimerId = Box::leak(Box::new(TimerId::new(timer_id).unwrap()));
        let position = self.log.len() as u64;
        self.timers(|entry| TimerRecord::Set { entry, timer_id });
        position
    }

    fn fire(&mut self, firing: &str, (timer, due, round): (u64, &str, u32)) {
        let firing_id = Box::leak(Box::new(id(firing)));
        let due_firing = DueFiring { due: at(due), position: timer, round };
        self.timers(|position| TimerRecord::Fired { position, firing_id, due_firing });
    }

    fn cancel_timer(&mut self, timer: u64, clock: &str) {
        let clock_at = at(clock);
        self.timers(|position| TimerRecord::Changed { position, timer, clock_at, schedule: None });
    }
}

#[test]
fn firing_is_a_cause_like_an_event() {
    let mut story = Story::new();
    let timer = story.set("renew");
    story.fire("firing_1", (timer, DUE, 0));
    story.record("after", event("2026-01-31T09:00:00Z").because_of(&["firing_1"]));
    story.record("before", event("2026-01-31T08:00:00Z").maybe_because_of(&["firing_1"]));
    story.check(&["P01 definite firing_1,before"]);
    story.check_kind(Kind::DanglingCause, &[]);
    let early = &story.of(Kind::EffectBeforeCause)[0];
    assert_eq!(
        early.explanation,
        "`before` (2026-01-31T08:00:00Z) lies before `firing_1`, a firing of the timer `renew`, which fired at \
         2026-01-31T09:00:00Z, by 1 h as recorded."
    );
    // Cancelling a fired timer does not undo the firing.
    story.cancel_timer(timer, DUE);
    story.check(&["P01 definite firing_1,before"]);
    story.cancel_timer(timer, "2026-01-01T00:00:00Z");
    story.check(&["P05 definite firing_1,after"]);
    let orphan = &story.of(Kind::OrphanedEffect)[0];
    assert_eq!(
        orphan.explanation,
        "`after` requires `firing_1`, a firing of the timer `renew`, which was canceled at 2026-01-01T00:00:00Z on the \
         clock, before it fired at 2026-01-31T09:00:00Z."
    );
    let Witness::Orphan { cancelled_at, timer: Some(detail), .. } = &orphan.witness else { panic!("{orphan:?}") };
    assert_eq!((*cancelled_at, detail.timer_id.as_ref().unwrap().as_str()), (Some(5), "renew"));
}

#[test]
fn event_recorded_by_timer_is_an_effect_of_its_firing() {
    let mut story = Story::new();
    let timer = story.set("trial");
    story.fire("firing_1", (timer, DUE, 0));
    story.record("firing_1", event(DUE));
    story.check(&[]);
    story.correct("firing_1", event("2026-01-30T09:00:00Z"));
    story.check(&["P01 definite firing_1"]);
    story.correct("firing_1", event(DUE));
    let anchor_id: &'static AnchorId = Box::leak(Box::new(AnchorId::new("a").unwrap()));
    story.anchor("a", DUE, false);
    story.timers(|position| TimerRecord::Rearmed { position, timer, next: at(DUE), round: 1 });
    story.check(&["P05 definite firing_1"]);
    assert_eq!(
        story.of(Kind::OrphanedEffect)[0].explanation,
        "`firing_1` was recorded by the timer `trial`, which is to fire again at 2026-01-31T09:00:00Z."
    );
    story.fire("firing_2", (timer, DUE, 1));
    story.record("firing_2", event(DUE));
    story.check(&["P05 definite firing_1"]);
    // At the anchor the first timer was armed, and the second did not exist.
    story.timers(|position| TimerRecord::Returned { position, anchor_id });
    story.check(&["P05 definite firing_2"]);
    story.cancel("firing_2");
    story.check(&[]);
}

#[test]
fn rescheduled_timer_orphans_effects_of_later_firings() {
    let later = "2026-02-01T09:00:00Z";
    for (moment, clock, expected) in [
        (DUE, "2026-01-01T00:00:00Z", Some(Taken::ComesAgain)),
        (later, "2026-01-01T00:00:00Z", Some(Taken::Changed(at("2026-01-01T00:00:00Z")))),
        (later, DUE, None),
    ] {
        let mut story = Story::new();
        let timer = story.set("renew");
        story.fire("firing_1", (timer, DUE, 0));
        story.record("e", event(DUE).because_of(&["firing_1"]));
        let schedule = Some(&*Box::leak(Box::new(Schedule::At(at(moment)))));
        let clock_at = at(clock);
        story.timers(|position| TimerRecord::Changed { position, timer, clock_at, schedule });
        let taken = |paradox: &Paradox| match &paradox.witness {
            Witness::Orphan { timer, .. } => timer.as_ref()?.taken,
            _ => None,
        };
        assert_eq!(story.of(Kind::OrphanedEffect).iter().find_map(taken), expected);
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Fire(u8, u8),
    Record(u8),
    Name(u8, bool),
    Cancel(u8, u8),
    Rearm(u8, u8),
    Supersede(u8),
    Anchor,
    Return(u8),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0..2_u8, 0..6_u8).prop_map(|(timer, hour)| Op::Fire(timer, hour)),
        3 => (0..12_u8).prop_map(Op::Record),
        3 => (0..12_u8, any::<bool>()).prop_map(|(firing, requires)| Op::Name(firing, requires)),
        2 => (0..2_u8, 0..6_u8).prop_map(|(timer, hour)| Op::Cancel(timer, hour)),
        2 => (0..2_u8, 0..6_u8).prop_map(|(timer, hour)| Op::Rearm(timer, hour)),
        1 => (0..12_u8).prop_map(Op::Supersede),
        2 => Just(Op::Anchor),
        2 => (0..4_u8).prop_map(Op::Return),
    ]
}

fn hour(hour: u8) -> Instant<Virtual> {
    at(&format!("2026-01-01T{hour:02}:00:00Z"))
}

/// The reference model: which firings occur, stored in full for each anchor.
#[derive(Default)]
struct Plain {
    fired: Vec<DueFiring>,
    active: BTreeSet<usize>,
    anchors: Vec<BTreeSet<usize>>,
    rounds: [u32; 2],
    recorded: BTreeSet<usize>,
    named: Vec<(usize, String)>,
}

impl Plain {
    fn revoke(&mut self, is_so: impl Fn(&DueFiring) -> bool) {
        let fired = &self.fired;
        self.active.retain(|number| !is_so(&fired[*number]));
    }

    fn orphans(&self) -> BTreeSet<(String, String)> {
        let is_revoked = |number: &usize| *number < self.fired.len() && !self.active.contains(number);
        let own = self.recorded.iter().filter(|number| is_revoked(number));
        let own = own.map(|number| (format!("f{number}"), format!("f{number}")));
        let named = self.named.iter().filter(|(number, _)| is_revoked(number) && !self.recorded.contains(number));
        own.chain(named.map(|(number, effect)| (format!("f{number}"), effect.clone()))).collect()
    }

    fn take(&mut self, op: Op, position: u64) -> Option<Fact> {
        let stamp = Stamp { position, recorded_at: Instant::EPOCH, clock_at: hour(0) };
        let version = |text: &str, draft| Fact::Version { id: id(text), stamp, draft, origin: VersionOrigin::Recorded };
        let anchor = |number: usize| AnchorId::new(&format!("a{number}")).unwrap();
        Some(match op {
            Op::Fire(timer, at) => {
                let round = self.rounds[usize::from(timer)];
                let due_firing = DueFiring { due: hour(at), position: u64::from(timer), round };
                self.active.insert(self.fired.len());
                let firing_id = Box::leak(Box::new(id(&format!("f{}", self.fired.len()))));
                self.fired.push(due_firing);
                Fact::Timers(TimerRecord::Fired { position, firing_id, due_firing })
            }
            Op::Record(number) => {
                let number = usize::from(number);
                let due_firing = self.fired.get(number).filter(|_| self.recorded.insert(number))?;
                version(&format!("f{number}"), event(&due_firing.due.to_string()))
            }
            Op::Name(number, requires) => {
                let (cause, effect) = (format!("f{number}"), format!("e{position}"));
                let draft = event("2026-01-01T12:00:00Z");
                if requires {
                    self.named.push((usize::from(number), effect.clone()));
                    version(&effect, draft.because_of(&[&cause]))
                } else {
                    version(&effect, draft.maybe_because_of(&[&cause]))
                }
            }
            Op::Cancel(timer, clock) => {
                let timer = u64::from(timer);
                self.revoke(|due_firing| due_firing.position == timer && due_firing.due > hour(clock));
                let clock_at = hour(clock);
                Fact::Timers(TimerRecord::Changed { position, timer, clock_at, schedule: None })
            }
            Op::Rearm(timer, at) => {
                self.rounds[usize::from(timer)] += 1;
                let (round, timer) = (self.rounds[usize::from(timer)], u64::from(timer));
                self.revoke(|due_firing| due_firing.position == timer && due_firing.due >= hour(at));
                Fact::Timers(TimerRecord::Rearmed { position, timer, next: hour(at), round })
            }
            Op::Supersede(number) => {
                let due_firing = *self.fired.get(usize::from(number))?;
                self.revoke(|other| *other == due_firing);
                Fact::Timers(TimerRecord::Superseded { position, due_firing })
            }
            Op::Anchor => {
                let id = anchor(self.anchors.len());
                self.anchors.push(self.active.clone());
                Fact::Anchor { id, position, timestamp: hour(0), is_fixed: false }
            }
            Op::Return(number) => {
                self.active.clone_from(self.anchors.get(usize::from(number))?);
                let anchor_id = Box::leak(Box::new(anchor(usize::from(number))));
                Fact::Timers(TimerRecord::Returned { position, anchor_id })
            }
        })
    }
}

/// Cause and effect of each orphan, and how often every key occurs.
fn orphans(view: &View) -> BTreeSet<(String, String)> {
    let orphan = |witness: &Witness| match witness {
        Witness::Orphan { cause, effect, .. } => Some((cause.to_string(), effect.to_string())),
        _ => None,
    };
    view.list(|_| true).all().iter().filter_map(|paradox| orphan(&paradox.witness)).collect()
}

proptest! {
    #[test]
    fn incremental_and_full_views_find_the_same_orphaned_effects(ops in prop::collection::vec(op(), 1..40)) {
        let (mut plain, mut view_log, mut view) = (Plain::default(), Vec::new(), View::new(Settings::default()));
        let mut known = BTreeSet::new();
        for op in ops {
            // Successive returns are separated by positions.
            let position = 2 * view_log.len() as u64;
            let Some(one) = plain.take(op, position) else { continue };
            let foreseen = view.what_if(&[one.record()]);
            let Delta { created, resolved } = view.apply(&one.record());
            view_log.push(one);
            prop_assert_eq!(&foreseen, &Delta { created: created.clone(), resolved: resolved.clone() });
            for paradox in resolved {
                prop_assert!(known.remove(&paradox.key));
            }
            known.extend(created.into_iter().map(|paradox| paradox.key));
            prop_assert_eq!(orphans(&view), plain.orphans());
        }
        let keys = |view: &View| view.list(|_| true).all().into_iter().map(|one| one.key).collect::<BTreeSet<_>>();
        let built = View::build(Settings::default(), view_log.iter().map(Fact::record));
        prop_assert_eq!(keys(&view), keys(&built));
        prop_assert_eq!(keys(&view), known);
    }
}

#[test]
fn second_entry_of_one_return_restores_no_firing() {
    let mut view = View::new(Settings::default());
    let (firing_id, anchor_id) = (id("f"), AnchorId::new("a").unwrap());
    let due_firing = DueFiring { due: hour(1), position: 0, round: 0 };
    let returned = |position| Record::Timers(TimerRecord::Returned { position, anchor_id: &anchor_id });
    view.apply(&Record::Timers(TimerRecord::Fired { position: 0, firing_id: &firing_id, due_firing }));
    let anchor = Fact::Anchor { id: anchor_id.clone(), position: 1, timestamp: hour(0), is_fixed: false };
    view.apply(&anchor.record());
    let effect = event("2026-01-01T12:00:00Z").because_of(&["f"]);
    let stamp = Stamp { position: 2, recorded_at: Instant::EPOCH, clock_at: hour(0) };
    view.apply(&Fact::Version { id: id("e"), stamp, draft: effect, origin: VersionOrigin::Recorded }.record());
    view.apply_all(&[returned(3), Record::Timers(TimerRecord::Superseded { position: 3, due_firing })]);
    view.apply(&returned(4));
    assert_eq!(orphans(&view).len(), 1);
}
