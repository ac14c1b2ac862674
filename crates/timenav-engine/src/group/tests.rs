//! A group that cannot be decided.

use timenav_core::time::{Instant, Wall};
use tokio::runtime::Runtime;

use super::*;
use crate::command::Command;
use crate::entropy::Entropy;
use crate::outside::{KeptOutside, Outside, OutsideError};
use crate::wall_clock::WallClock;

/// Doors that lead nowhere.
struct Nowhere;

impl WallClock for Nowhere {
    fn now(&self) -> Instant<Wall> {
        Instant::EPOCH
    }
}

impl Entropy for Nowhere {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(7);
    }
}

impl Signer for Nowhere {
    fn public_key(&self) -> [u8; 32] {
        [7; 32]
    }

    fn sign(&self, _: &[u8]) -> [u8; 64] {
        [7; 64]
    }

    fn verify(&self, _: &[u8; 32], _: &[u8], _: &[u8; 64]) -> bool {
        false
    }

    fn authenticate(&self, _: &str, _: &[u8]) -> [u8; 32] {
        [7; 32]
    }
}

impl Outside for Nowhere {
    fn last(&self) -> Result<Vec<KeptOutside>, OutsideError> {
        Ok(Vec::new())
    }

    fn keep(&self, _: &[KeptOutside]) -> Result<(), OutsideError> {
        Ok(())
    }

    fn replace(&self, _: &[KeptOutside]) -> Result<(), OutsideError> {
        Ok(())
    }
}

fn doors(runtime: &Runtime) -> Doors {
    Doors {
        clock: Arc::new(Nowhere),
        entropy: Arc::new(Nowhere),
        signer: Arc::new(Nowhere),
        next_signer: None,
        outside: Arc::new(Nowhere),
        vault: None,
        passwords: None,
        gazetteer: None,
        long_work: runtime.handle().clone(),
    }
}

fn submission(timeline: &TimelineId, command: Command) -> (Submission, oneshot::Receiver<Result<Answer, Refusal>>) {
    let (answer, outcome) = oneshot::channel();
    let timeline = timeline.clone();
    (Submission { actor: Actor::Service, timeline, command, idempotency: None, answer: Some(answer) }, outcome)
}

#[test]
fn a_group_fails_as_a_whole_where_an_entry_has_no_timeline() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (doors, options) = (doors(&runtime), Options::default());
    let mut world = World::default();
    let mut group = Group::new(&mut world, &doors, &options, Known::default(), SaltPool::default());
    let create = Command::CreateTimeline { fork: None };
    let (made, mut told) = submission(&TimelineId::system(), create);
    group.decide(made);
    assert!(group.broken().is_none());
    // Nobody has made `main`: whoever asks for an entry there has not looked.
    let (lost, mut told_too) = submission(&TimelineId::main(), Command::LogScan { depth: "full".to_owned() });
    group.decide(lost);
    let refusal = group.broken().unwrap();
    assert!(refusal.to_string().contains("`detect_tampering` on timeline `main`"), "{refusal}");
    let undo = Undo::of(&group);
    group.refuse_all(&refusal);
    undo.apply(&mut world);
    assert!(world.timelines.is_empty(), "nothing is left of what others in the group did");
    for told in [&mut told, &mut told_too] {
        assert!(matches!(told.try_recv(), Ok(Err(Refusal::Damaged(_)))));
    }
}

#[test]
fn no_tree_is_signed_where_an_entry_is_missing() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (doors, options) = (doors(&runtime), Options::default());
    for (timeline, is_whole) in [(TimelineId::system(), true), (TimelineId::main(), false)] {
        let mut world = World::default();
        let mut group = Group::new(&mut world, &doors, &options, Known::default(), SaltPool::default());
        group.decide(submission(&timeline, Command::CreateTimeline { fork: None }).0);
        // The making of any other timeline is an entry of `system` too, which is made first.
        assert_eq!(group.finish().is_ok(), is_whole, "{timeline}");
    }
}
