//! Corrections, interventions, returns and forks, compared with a model that keeps every past state.

mod counted;
mod differences;

use proptest::prelude::*;
use timenav_core::limits::FORK_DEPTH_MAX;
use timenav_engine::Expected;

use crate::engine::timelines::life::{Known, Life, Mark, State, current_events, draft, found, is_free, listed, page};
use crate::engine::*;

/// One step of a random life.
#[derive(Clone, Debug)]
enum Step {
    Record(u8, i64),
    Correct(u8, i64),
    Cancel(u8),
    Restore(u8),
    Delay(u8),
    Note(u8),
    Anchor,
    Return(Index, bool),
    Fork(Index, Option<Index>),
}

fn steps() -> impl Strategy<Value = Vec<(Index, Step)>> {
    let event = 0..6_u8;
    let step = prop_oneof![
        4 => (event.clone(), 0..50_i64).prop_map(|(event, time)| Step::Record(event, time)),
        3 => (event.clone(), 0..50_i64).prop_map(|(event, time)| Step::Correct(event, time)),
        3 => event.clone().prop_map(Step::Cancel),
        3 => event.clone().prop_map(Step::Restore),
        2 => event.clone().prop_map(Step::Delay),
        1 => event.prop_map(Step::Note),
        2 => Just(Step::Anchor),
        2 => (any::<Index>(), any::<bool>()).prop_map(|(at, all)| Step::Return(at, all)),
        2 => (any::<Index>(), any::<Option<Index>>()).prop_map(|(of, at)| Step::Fork(of, at)),
    ];
    vec((any::<Index>(), step), 1..60)
}

async fn intervene(home: &Home<'_>, timeline: &TimelineId, event: u8, effect: Effect) -> Result<(), Refusal> {
    let request = intervention(&format!("e{event}"), effect);
    let preview = home.engine.preview_intervention(&home.admin, Some(timeline.clone()), request.clone()).await;
    let done = home.engine.manipulate_event(&home.admin, Some(timeline.clone()), request, None).await;
    match (preview, done) {
        (Ok((preview, _)), Ok(done)) => {
            let (preview, done) = (preview.change, done.change);
            assert_eq!((preview.before, preview.after), (done.before, done.after));
            Ok(())
        }
        (Err(preview), Err(done)) => {
            assert_eq!(preview.to_string(), done.to_string());
            Err(done)
        }
        (preview, done) => panic!("a dry run says {preview:?}, and then {done:?}"),
    }
}

/// Intervenes on the engine and in the model.
async fn change(home: &Home<'_>, life: &mut Life, event: u8, effect: Effect) {
    let done = intervene(home, &life.name, event, effect.clone()).await;
    let known = life.now.get_mut(&format!("e{event}"));
    let may = known
        .as_ref()
        .is_some_and(|known| known.active_at.is_some() || matches!(effect, Effect::Restore | Effect::Note));
    assert_eq!(done.is_ok(), may, "{done:?}");
    if let Some(known) = known.filter(|_| may) {
        known.change(&effect);
    }
}

/// Forks on the engine and in the model.
async fn fork(home: &Home<'_>, lives: &mut Vec<Life>, of: Index, at: Option<Index>) {
    if lives.len() == 5 {
        return;
    }
    let parent = of.get(lives).clone();
    let last = home.size(parent.name.as_str()).await - 1;
    let drawn = at.map(|at| u64::try_from(at.index(usize::try_from(last).unwrap() + 1)).unwrap());
    // A return is several entries, and the model has only the state after the last.
    let known = |position| *parent.past.range(..=position).next_back().expect("the first entry made it").0;
    let position = drawn.map(known);
    let name = timeline_id(&format!("fork{}", lives.len()));
    let as_of = position.map(AsOf::Position);
    home.engine.fork_timeline(&home.admin, name.clone(), &parent.name, as_of.as_ref(), None).await.unwrap();
    let now = position.map_or(&parent.now, |position| parent.at(position)).clone();
    // A fork does not inherit anchors set later.
    let is_later = |mark: &Mark| position.is_some_and(|position| mark.own.is_some_and(|own| own > position));
    let inherited = parent.anchors.iter().filter(|mark| !is_later(mark));
    let anchors = inherited.map(|mark| Mark { own: None, ..mark.clone() }).collect();
    lives.push(Life { name, past: BTreeMap::from([(0, now.clone())]), now, anchors });
}

/// Executes a step on the engine and in the model.
async fn step(home: &Home<'_>, lives: &mut Vec<Life>, number: usize, step: &Step) {
    let timeline = lives[number].name.clone();
    let named = Some(timeline.clone());
    let id = |event: &u8| format!("e{event}");
    match step {
        Step::Record(event, time) => {
            let done = home.engine.record_events(&home.admin, named, vec![draft(*event, *time)], None).await;
            let is_new = is_free(&lives[number].now, &id(event));
            assert_eq!(done.is_ok(), is_new, "{done:?}");
            if is_new {
                lives[number].now.insert(id(event), Known::recorded(*time, 0));
            }
        }
        Step::Correct(event, time) => {
            let done = home.engine.correct_event(&home.admin, named, draft(*event, *time), None, None).await;
            let known = lives[number].now.get_mut(&id(event)).filter(|known| known.active_at.is_some());
            assert_eq!(done.is_ok(), known.is_some(), "{done:?}");
            if let Some(known) = known {
                assert_eq!(done.unwrap().change.changed, known.active_at != Some(*time));
                // Recording the same again is not a correction.
                let recorded = if known.active_at == Some(*time) { known.recorded } else { *time };
                *known = Known { recorded, active_at: Some(*time), ..*known };
            }
        }
        Step::Cancel(event) => change(home, &mut lives[number], *event, Effect::Cancel).await,
        Step::Restore(event) => change(home, &mut lives[number], *event, Effect::Restore).await,
        Step::Delay(event) => {
            let effect = Effect::Delay(parse_duration("1h").unwrap());
            change(home, &mut lives[number], *event, effect).await;
        }
        Step::Note(event) => change(home, &mut lives[number], *event, Effect::Note).await,
        Step::Anchor => {
            let made = home.engine.set_anchor(&home.admin, named, anchor_now(), None).await.unwrap();
            let (anchor_id, own) = (made.change.anchor_id, Some(made.ledger.position));
            let mark = Mark { anchor_id, own, state: lives[number].now.clone() };
            lives[number].anchors.push(mark);
        }
        Step::Return(at, all) => {
            if lives[number].anchors.is_empty() {
                return;
            }
            let Mark { anchor_id, state, .. } = at.get(&lives[number].anchors).clone();
            let scope = if *all { ReturnScope::All } else { ReturnScope::Clock };
            home.engine.return_to_anchor(&home.admin, named, &anchor_id, scope, None).await.unwrap();
            if *all {
                // An event recorded later is known, and its id is available.
                for (id, known) in &mut lives[number].now {
                    known.take_back(state.get(id));
                }
            }
        }
        Step::Fork(of, at) => fork(home, lives, *of, *at).await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_past_state_is_readable_and_isolated_per_timeline() {
    check_cases(24, &steps(), async |steps| {
        let mut home = Home::new().await;
        let empty = State::new();
        let mut lives = vec![Life {
            name: timeline_id("main"),
            past: BTreeMap::from([(0, empty.clone())]),
            now: empty,
            anchors: Vec::new(),
        }];
        for (count, (on, one)) in steps.iter().enumerate() {
            home.house.clock.advance(1_000_000);
            let number = on.index(lives.len());
            step(&home, &mut lives, number, one).await;
            for life in &mut lives {
                let size = home.size(life.name.as_str()).await;
                life.past.insert(size - 1, life.now.clone());
            }
            if count % 20 == 19 {
                home = home.reopen().await;
            }
        }
        differences::check(&home, &lives).await;
        for life in &lives {
            assert_eq!(found(&home, &life.name, None).await, current_events(&life.now), "{}", life.name);
            let view = home.engine.timeline(&home.admin, &life.name).await.unwrap();
            assert_eq!(view.state.head.events_count, current_events(&life.now).len() as u64, "{}", life.name);
            for (position, state) in &life.past {
                let as_of = Some(AsOf::Position(*position));
                assert_eq!(found(&home, &life.name, as_of).await, current_events(state), "{} {position}", life.name);
            }
            let marks: Vec<AnchorId> = life.anchors.iter().map(|mark| mark.anchor_id.clone()).collect();
            assert_eq!(listed(&home, &life.name).await, marks, "{}", life.name);
            for Mark { anchor_id, state, .. } in &life.anchors {
                let as_of = Some(AsOf::Anchor(anchor_id.clone()));
                assert_eq!(found(&home, &life.name, as_of).await, current_events(state), "{} {anchor_id}", life.name);
            }
            home.check_clean(&life.name).await;
        }
        home.close().await;
    });
}

#[tokio::test]
async fn return_of_too_many_events_is_rejected() {
    let home = Home::new().await;
    let main = timeline_id("main");
    let anchor_id = home.set_anchor(None).await;
    let back = async || home.engine.return_to_anchor(&home.admin, None, &anchor_id, ReturnScope::All, None).await;
    let one = |number: usize| named_event(&format!("n{number}"), 1, "it happens");
    let most: Vec<_> = (0..RETURN_EVENTS_MAX).map(one).collect();
    home.engine.import_events(&home.admin, &main, most).await.unwrap();
    let size = back().await.unwrap().ledger.size;
    assert_eq!(found(&home, &main, None).await, []);
    // Unchanged events count too, because they had to be examined.
    home.engine.import_events(&home.admin, &main, vec![one(RETURN_EVENTS_MAX)]).await.unwrap();
    let refused = back().await.unwrap_err();
    assert!(matches!(refused, Refusal::LimitReached { max: RETURN_EVENTS_MAX, .. }), "{refused:?}");
    let log_entries = home.size("main").await - size;
    assert!(log_entries < 10, "a refused return leaves nothing: {log_entries}");
    home.close().await;
}

#[tokio::test]
async fn fork_depth_is_limited() {
    let home = Home::new().await;
    home.record_events(None, vec![draft(1, 1)]).await;
    let mut of = timeline_id("main");
    for depth in 0..FORK_DEPTH_MAX {
        let name = timeline_id(&format!("fork{depth}"));
        home.engine.fork_timeline(&home.admin, name.clone(), &of, None, None).await.unwrap();
        of = name;
    }
    let refused = home.engine.fork_timeline(&home.admin, timeline_id("last"), &of, None, None).await.unwrap_err();
    assert!(matches!(refused, Refusal::LimitReached { max: FORK_DEPTH_MAX, .. }), "{refused:?}");
    assert_eq!(found(&home, &of, None).await, [(1, "e1".to_owned())]);
    intervene(&home, &of, 1, Effect::Cancel).await.unwrap();
    assert_eq!(found(&home, &of, None).await, []);
    let home = home.reopen().await;
    assert_eq!(found(&home, &of, None).await, []);
    assert_eq!(found(&home, &timeline_id("fork9"), None).await, [(1, "e1".to_owned())]);
    home.close().await;
}

#[tokio::test]
async fn tag_of_an_inherited_version_becomes_stale_after_correction() {
    let home = Home::new().await;
    home.record_events(None, vec![draft(1, 1)]).await;
    let fork = timeline_id("fork");
    home.engine.fork_timeline(&home.admin, fork.clone(), &timeline_id("main"), None, None).await.unwrap();
    let tag = async || {
        let history = home.engine.event(&home.admin, Some(fork.clone()), &event_id("e1"), None).await.unwrap();
        history.known.current().unwrap().tag()
    };
    let correct = async |time, tag: String| {
        home.engine.correct_event(&home.admin, Some(fork.clone()), draft(1, time), Some(Expected::Tag(tag)), None).await
    };
    let inherited = tag().await;
    correct(2, inherited.clone()).await.unwrap();
    assert!(matches!(correct(3, inherited).await, Err(Refusal::TagDiffers { .. })));
    correct(3, tag().await).await.unwrap();
    home.close().await;
}

#[tokio::test]
async fn fork_shows_the_past_of_its_parent() {
    let home = Home::new().await;
    let main = timeline_id("main");
    home.record_events(None, vec![draft(1, 1)]).await;
    home.house.clock.advance(1_000_000);
    let between = home.engine.now();
    home.house.clock.advance(1_000_000);
    home.record_events(None, vec![draft(2, 2)]).await;
    let fork = timeline_id("fork");
    home.engine.fork_timeline(&home.admin, fork.clone(), &main, None, None).await.unwrap();
    assert_eq!(found(&home, &fork, Some(AsOf::Host(between))).await, [(1, "e1".to_owned())]);
    let page = page(&home, &fork, Some(AsOf::Host(between)), 10).await.remove(0);
    assert_eq!((page.as_of, page.layers), (None, vec![main]));
    let lines = home.close().await;
    let recorded = lines.iter().find(|line| line.timeline == "main" && line.subject == "fork").unwrap();
    assert_eq!(recorded.payload["timeline_id"], "fork");
}
