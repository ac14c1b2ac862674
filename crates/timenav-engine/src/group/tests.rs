//! Groups that are refused in part, and groups that are decided again.

use timenav_core::time::{Instant, Wall};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::*;
use crate::asked::{Answer, Pending};
use crate::deciding::Deciding;
use crate::deciding::logged::LogScan;
use crate::deciding::timelines::CreateTimeline;
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

/// What somebody waits for.
type Outcome<C> = oneshot::Receiver<Result<Answer<C>, Refusal>>;

fn submission<D: Deciding>(timeline: &TimelineId, deciding: D) -> (Submission, Outcome<D::Change>) {
    let (reply, outcome) = oneshot::channel();
    let asked = Pending::boxed(deciding, Some(reply));
    (Submission { actor: Actor::Service, timeline: timeline.clone(), asked, idempotency: None }, outcome)
}

fn made(heads: &Heads, doors: &Doors, submissions: &mut [Submission]) -> Finished {
    let (options, known) = (Options::default(), Known::default());
    let mut group = Group::new(heads, &known, doors, &options, SaltPool::default());
    group.decide_all(submissions);
    group.finish(submissions).unwrap()
}

#[test]
fn what_is_refused_leaves_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (doors, heads) = (doors(&runtime), Heads::default());
    let (main, system) = (TimelineId::main(), TimelineId::system());
    // `main` cannot be made, as there is no `system` yet to tell of it: nor is it looked at after.
    let mut submissions = [
        submission(&main, CreateTimeline::default()).0,
        submission(&system, CreateTimeline::default()).0,
        submission(&main, LogScan { depth: "full".to_owned() }).0,
        submission(&main, CreateTimeline::default()).0,
    ];
    let finished = made(&heads, &doors, &mut submissions);
    let told: Vec<bool> = finished.told.iter().map(Result::is_ok).collect();
    assert_eq!(told, [false, true, false, true]);
    let sizes: Vec<(&str, u64, usize)> = finished
        .commit
        .timelines
        .iter()
        .map(|step| (step.head.id.as_str(), step.head.frontier.size(), step.entries.len()))
        .collect();
    assert_eq!(sizes, [("main", 1, 1), ("system", 2, 2)]);
}

#[test]
fn a_group_is_decided_again_on_other_heads() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (doors, mut heads) = (doors(&runtime), Heads::default());
    let (main, system) = (TimelineId::main(), TimelineId::system());
    let first = made(&heads, &doors, &mut [submission(&system, CreateTimeline::default()).0]);
    heads.take_over(first.states, first.directory, first.rows);
    let (one, mut told) = submission(&main, CreateTimeline::default());
    let mut submissions = [one];
    assert!(made(&heads, &doors, &mut submissions).told[0].is_ok());
    // Somebody else has made it meanwhile: what was decided before counts no more.
    let theirs = made(&heads, &doors, &mut [submission(&main, CreateTimeline::default()).0]);
    heads.take_over(theirs.states, theirs.directory, theirs.rows);
    let finished = made(&heads, &doors, &mut submissions);
    assert!(matches!(finished.told[0], Err(Refusal::AlreadyExists { .. })));
    assert!(finished.commit.timelines.is_empty());
    for (submission, one) in submissions.into_iter().zip(finished.told) {
        submission.asked.tell(one);
    }
    assert!(matches!(told.try_recv(), Ok(Err(Refusal::AlreadyExists { .. }))), "told once, and as decided last");
}
