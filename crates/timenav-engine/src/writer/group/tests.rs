use timenav_core::ledger::{LeafRecord, READ_PARAMETERS_BYTES_MAX, READS_MAX, RemainingReads};
use timenav_core::time::{Instant, Wall};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::*;
use crate::integrity::divergence::Divergence;
use crate::ledger::stored_statement::signed_by;
use crate::ports::entropy::Entropy;
use crate::ports::outside::{ExternalCheckpoint, Outside, OutsideError};
use crate::ports::wall_clock::WallClock;
use crate::requests::options::FEATURE_LEVEL;
use crate::writer::deciding::Command;
use crate::writer::deciding::logged::{LogRead, LogScan};
use crate::writer::deciding::rotation::RotateSigningKey;
use crate::writer::deciding::timelines::CreateTimeline;
use crate::writer::submission::{Answer, PendingCommand};

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

    fn authenticate(&self, _: &'static str, _: &[u8]) -> [u8; 32] {
        [7; 32]
    }
}

impl Outside for Nowhere {
    fn last(&self) -> Result<Vec<ExternalCheckpoint>, OutsideError> {
        Ok(Vec::new())
    }

    fn keep(&self, _: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        Ok(())
    }

    fn replace(&self, _: &[ExternalCheckpoint]) -> Result<(), OutsideError> {
        Ok(())
    }

    fn keep_divergence(&self, _: &Divergence, _: &str) -> Result<(), OutsideError> {
        Ok(())
    }
}

fn ports(runtime: &Runtime) -> Ports {
    Ports {
        clock: Arc::new(Nowhere),
        entropy: Arc::new(Nowhere),
        signer: Arc::new(Nowhere),
        next_signer: None,
        outside: Arc::new(Nowhere),
        vault: None,
        passwords: None,
        gazetteer: None,
        webhooks: None,
        long_work: runtime.handle().clone(),
    }
}

type Outcome<C> = oneshot::Receiver<Result<Answer<C>, Refusal>>;

fn submission<D: Command>(timeline: &TimelineId, command: D) -> (Submission, Outcome<D::Output>) {
    let (reply, outcome) = oneshot::channel();
    let command = PendingCommand::boxed(command, Some(reply));
    (Submission { actor: Actor::Service, timeline: timeline.clone(), command, idempotency: None }, outcome)
}

fn made(heads: &Heads, ports: &Ports, submissions: &mut [Submission]) -> Finished {
    let (options, known) = (Options::default(), Known::default());
    let host_clock = HostClock::known(ports.clock.now(), None);
    let mut group = Group::new(heads, &known, (ports, &options, FEATURE_LEVEL), &host_clock, SaltPool::default());
    group.decide_all(submissions);
    group.finish(submissions).unwrap()
}

#[test]
fn rejected_submissions_leave_no_entries() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (ports, heads) = (ports(&runtime), Heads::default());
    let (main, system) = (TimelineId::main(), TimelineId::system());
    // `main` cannot be created without `system`, where that would be recorded, and is not examined afterwards.
    let mut submissions = [
        submission(&main, CreateTimeline::default()).0,
        submission(&system, CreateTimeline::default()).0,
        submission(&main, LogScan { depth: "full".to_owned() }).0,
        submission(&main, CreateTimeline::default()).0,
    ];
    let finished = made(&heads, &ports, &mut submissions);
    let response: Vec<bool> = finished.responses.iter().map(|response| matches!(response, Some(Ok(_)))).collect();
    assert_eq!(response, [false, true, false, true]);
    let sizes: Vec<(&str, u64, usize)> = finished
        .commit
        .timelines
        .iter()
        .map(|step| (step.head.id.as_str(), step.head.frontier.size(), step.entries.len()))
        .collect();
    assert_eq!(sizes, [("main", 1, 1), ("system", 2, 2)]);
}

#[test]
fn group_with_a_rotation_is_signed_by_both_keys() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ports = Ports { next_signer: Some(Arc::new(Nowhere)), ..ports(&runtime) };
    let system = TimelineId::system();
    let create = || submission(&system, CreateTimeline::default()).0;
    let rotate = || submission(&system, RotateSigningKey).0;
    let scan = || submission(&system, LogScan { depth: "full".to_owned() }).0;
    let groups =
        [([create(), rotate(), scan()], 2), ([create(), scan(), rotate()], 2), ([create(), scan(), scan()], 1)];
    for (mut submissions, signatures_count) in groups {
        let finished = made(&Heads::default(), &ports, &mut submissions);
        assert_eq!(signed_by(&finished.states[0].head.statement).count(), signatures_count);
    }
}

#[test]
fn group_is_decided_again_on_changed_heads() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (ports, mut heads) = (ports(&runtime), Heads::default());
    let (main, system) = (TimelineId::main(), TimelineId::system());
    let first = made(&heads, &ports, &mut [submission(&system, CreateTimeline::default()).0]);
    heads.take_over(first.states, first.directory, first.rows);
    let (one, mut receiver) = submission(&main, CreateTimeline::default());
    let mut submissions = [one];
    assert!(matches!(made(&heads, &ports, &mut submissions).responses[0], Some(Ok(_))));
    // Another writer has created it in the meantime, so the earlier decision is obsolete.
    let theirs = made(&heads, &ports, &mut [submission(&main, CreateTimeline::default()).0]);
    heads.take_over(theirs.states, theirs.directory, theirs.rows);
    let finished = made(&heads, &ports, &mut submissions);
    assert!(matches!(finished.responses[0], Some(Err(Refusal::AlreadyExists { .. }))));
    assert!(finished.commit.timelines.is_empty());
    for (submission, one) in submissions.into_iter().zip(finished.responses) {
        submission.command.respond(one.unwrap());
    }
    assert!(matches!(receiver.try_recv(), Ok(Err(Refusal::AlreadyExists { .. }))), "told once, and as decided last");
}

fn reading(timeline: &TimelineId, parameters: &str) -> Submission {
    let parameters = parameters.to_owned();
    submission(timeline, LogRead { demands: &[], operation: "clock", parameters, is_answered: false }).0
}

fn entries(finished: &Finished, timeline: &TimelineId) -> Vec<(String, usize)> {
    let step = finished.commit.timelines.iter().find(|step| step.head.id == *timeline).unwrap();
    let entry_text = |entry: &crate::ports::rows::StoredEntry| {
        let record = LeafRecord::decode(&entry.leaf).unwrap();
        let reads = RemainingReads::parse(entry.salt.as_bytes(), &entry.payload).ok();
        if let Some(reads) = &reads {
            assert_eq!((reads.root(), &*record.actor), (record.payload_hash, ""));
        }
        (record.action.into_owned(), reads.map_or(0, |reads| reads.len()))
    };
    step.entries.iter().map(entry_text).collect()
}

fn with_system(ports: &Ports) -> (Heads, TimelineId) {
    let (mut heads, system) = (Heads::default(), TimelineId::system());
    let first = made(&heads, ports, &mut [submission(&system, CreateTimeline::default()).0]);
    heads.take_over(first.states, first.directory, first.rows);
    (heads, system)
}

fn position(finished: &Finished, number: usize) -> u64 {
    finished.responses[number].as_ref().unwrap().as_ref().unwrap().ledger.position
}

#[test]
fn reads_of_a_group_share_an_entry_before_changes() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ports = ports(&runtime);
    let (heads, system) = with_system(&ports);
    let scan = || submission(&system, LogScan { depth: "full".to_owned() }).0;
    let finished = made(&heads, &ports, &mut [scan(), reading(&system, "{}"), scan(), reading(&system, "{}")]);
    let expected = [("reads", 2), ("detect_tampering", 0), ("detect_tampering", 0)];
    assert_eq!(entries(&finished, &system), expected.map(|(action, reads)| (action.to_owned(), reads)));
    assert_eq!([0, 1, 2, 3].map(|number| position(&finished, number)), [2, 1, 3, 1]);
}

#[test]
fn reads_over_the_entry_limit_continue_in_the_next_entry() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ports = ports(&runtime);
    let (heads, system) = with_system(&ports);
    for (parameters, count) in [("{}", READS_MAX + 1), (&*"x".repeat(READ_PARAMETERS_BYTES_MAX), 300)] {
        let mut submissions: Vec<Submission> = (0..count).map(|_| reading(&system, parameters)).collect();
        let finished = made(&heads, &ports, &mut submissions);
        let written = entries(&finished, &system);
        assert_eq!(written.iter().map(|(_, reads)| reads).sum::<usize>(), count);
        assert_eq!(written.len(), 2, "{written:?}");
        let first = written[0].1;
        let expected = |number: usize| if number < first { 1 } else { 2 };
        assert!((0..count).all(|number| position(&finished, number) == expected(number)));
    }
}
