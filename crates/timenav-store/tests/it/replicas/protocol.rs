//! A small model of the protocol by which several services write to one timeline, checked for all interleavings. A
//! trace of real services must be one of them.
//!
//! Two services write with a key that an operator revokes in the meantime, and a reader reads the timeline afterwards.
//! A transaction may end at any time without a commit, for example because a service is suspended, dies, or loses its
//! connection. The revocation may be interrupted while it waits, and is repeated. Every part of the protocol is needed:
//! for each rule there is a model without it, in which the guarantee is violated.

use std::collections::VecDeque;

use stateright::{Checker as _, Model, Property};

use crate::audit::Line;
use crate::replicas::*;

/// Services that write.
const SERVICES: usize = 2;
/// Changes attempted by each service in a complete check.
const CHANGES: u8 = 2;

/// The rules, which can be disabled to show that they are needed.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
struct Protocol {
    /// The state that a decision is based on is read under the lock, not before.
    reads_under_lock: bool,
    /// The last statement before the commit compares the directory.
    compares_directory: bool,
    /// A revocation returns only after all transactions have ended that were open at its commit.
    waits_for_open: bool,
    /// So does a repeated one that finds it done.
    waits_when_repeated: bool,
    /// Changes attempted by each service.
    changes: u8,
}

const WHOLE: Protocol = Protocol {
    reads_under_lock: true,
    compares_directory: true,
    waits_for_open: true,
    waits_when_repeated: true,
    changes: CHANGES,
};

/// The state of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    /// It has read the state to decide against: the size of the timeline, and the directory.
    Read {
        size: u8,
        directory: u8,
    },
    /// The same, with the lock.
    Locked {
        size: u8,
        directory: u8,
    },
    /// It has the lock, and has not read anything under it.
    Bare,
    /// Everything is written but the commit.
    Checked {
        directory: u8,
    },
}

impl Phase {
    const fn has_lock(self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Bare | Self::Checked { .. })
    }

    /// Reads before the lock are not part of a transaction.
    const fn is_open(self) -> bool {
        !matches!(self, Self::Idle | Self::Read { .. })
    }
}

/// The state of the revocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Revocation {
    Live,
    /// It is committed, and waits for these services.
    Committed(BTreeSet<usize>),
    /// The waiting request was interrupted.
    Unanswered,
    Answered,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The directory version that each entry was decided against.
    entries: Vec<u8>,
    directory: u8,
    services: [(Phase, u8); SERVICES],
    revocation: Revocation,
    /// The number of entries seen by a reader after the revocation's response.
    read_size: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Lock(usize),
    Read(usize),
    /// Writes the head if its size is as expected, and compares the directory.
    Check(usize),
    Commit(usize),
    /// The transaction ends without a commit.
    Lose(usize),
    Revoke,
    AnswerRevocation,
    LoseRevocation,
    RepeatRevocation,
    Look,
}

impl State {
    fn is_lock_free(&self) -> bool {
        !self.services.iter().any(|(phase, _)| phase.has_lock())
    }

    /// Returns the services with an open transaction, if the rule requires waiting for them.
    fn open_if(&self, waits: bool) -> BTreeSet<usize> {
        let open = |(number, (phase, _)): (usize, &(Phase, u8))| phase.is_open().then_some(number);
        self.services.iter().enumerate().filter(|_| waits).filter_map(open).collect()
    }

    /// The first version of the directory has the key. In later ones it is revoked.
    const fn lets_in(directory: u8) -> bool {
        directory == 0
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            entries: Vec::new(),
            directory: 0,
            services: [(Phase::Idle, self.changes); SERVICES],
            revocation: Revocation::Live,
            read_size: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        for (service, (phase, left)) in state.services.iter().enumerate() {
            match phase {
                Phase::Idle if *left == 0 => {}
                Phase::Idle if self.reads_under_lock => {
                    actions.extend(state.is_lock_free().then_some(Step::Lock(service)));
                }
                Phase::Idle | Phase::Bare => actions.push(Step::Read(service)),
                Phase::Read { .. } => actions.extend(state.is_lock_free().then_some(Step::Lock(service))),
                Phase::Locked { .. } => actions.push(Step::Check(service)),
                Phase::Checked { .. } => actions.push(Step::Commit(service)),
            }
            if *phase != Phase::Idle {
                actions.push(Step::Lose(service));
            }
        }
        match &state.revocation {
            Revocation::Live => actions.push(Step::Revoke),
            Revocation::Committed(open) if open.is_empty() => actions.push(Step::AnswerRevocation),
            Revocation::Committed(_) => actions.push(Step::LoseRevocation),
            Revocation::Unanswered => actions.push(Step::RepeatRevocation),
            Revocation::Answered => actions.extend(state.read_size.is_none().then_some(Step::Look)),
        }
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut state = before.clone();
        let known = || (u8::try_from(before.entries.len()).unwrap_or(u8::MAX), before.directory);
        match step {
            Step::Lock(service) => {
                let phase = &mut state.services[service].0;
                *phase = match *phase {
                    Phase::Read { size, directory } => Phase::Locked { size, directory },
                    _ => Phase::Bare,
                };
            }
            Step::Read(service) => {
                let (size, directory) = known();
                let phase = &mut state.services[service].0;
                *phase = if *phase == Phase::Bare {
                    Phase::Locked { size, directory }
                } else {
                    Phase::Read { size, directory }
                };
            }
            Step::Check(service) => {
                let (phase, left) = &mut state.services[service];
                let Phase::Locked { size, directory } = *phase else { return None };
                if !State::lets_in(directory) {
                    // It is rejected, which is recorded in a separate entry that is not a change, and gives up.
                    (*phase, *left) = (Phase::Idle, 0);
                } else if size != known().0 || (self.compares_directory && directory != before.directory) {
                    // Decided again.
                    *phase = Phase::Idle;
                } else {
                    *phase = Phase::Checked { directory };
                }
            }
            Step::Commit(service) => {
                let Phase::Checked { directory } = before.services[service].0 else { return None };
                state.entries.push(directory);
                let left = before.services[service].1.saturating_sub(1);
                state.services[service] = (Phase::Idle, left);
            }
            // The request is repeated.
            Step::Lose(service) => state.services[service].0 = Phase::Idle,
            Step::Revoke => {
                state.directory += 1;
                state.revocation = Revocation::Committed(before.open_if(self.waits_for_open));
            }
            Step::AnswerRevocation => state.revocation = Revocation::Answered,
            Step::LoseRevocation => state.revocation = Revocation::Unanswered,
            Step::RepeatRevocation => {
                state.revocation = Revocation::Committed(before.open_if(self.waits_when_repeated));
            }
            Step::Look => state.read_size = Some(before.entries.len()),
        }
        if let (Revocation::Committed(open), Step::Check(service) | Step::Commit(service) | Step::Lose(service)) =
            (&mut state.revocation, step)
            && !state.services[service].0.is_open()
        {
            open.remove(&service);
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one at a time has the lock", |_, state: &State| {
                state.services.iter().filter(|(phase, _)| phase.has_lock()).count() <= 1
            }),
            Property::always("what was looked at after a revocation was answered stays", |_, state: &State| {
                state.read_size.is_none_or(|read_size| read_size == state.entries.len())
            }),
            Property::always("the directory of entries never goes down", |_, state: &State| {
                state.entries.is_sorted() && state.entries.iter().all(|directory| State::lets_in(*directory))
            }),
            Property::sometimes("everything is written", |model: &Self, state: &State| {
                state.entries.len() == SERVICES * usize::from(model.changes)
            }),
            Property::sometimes("somebody looks", |_, state: &State| state.read_size.is_some()),
        ]
    }
}

const PROMISE: &str = "what was looked at after a revocation was answered stays";

/// Checks every interleaving. Returns a violation of the guarantee, if there is one.
fn broken(protocol: Protocol) -> Option<Vec<Step>> {
    let checker = protocol.checker().spawn_bfs().join();
    assert!(checker.is_done() && checker.unique_state_count() > 100, "{}", checker.unique_state_count());
    checker.discovery(PROMISE).map(stateright::Path::into_actions)
}

#[test]
fn revocation_model_holds_and_needs_every_rule() {
    let checker = WHOLE.checker().spawn_bfs().join();
    checker.assert_properties();
    let steps = broken(Protocol { waits_for_open: false, ..WHOLE }).expect("a transaction commits after the answer");
    assert_eq!(steps.last().map(|step| matches!(step, Step::Commit(_))), Some(true), "{steps:?}");
    let steps = broken(Protocol { waits_when_repeated: false, ..WHOLE }).expect("as above, after the second answer");
    assert!(steps.contains(&Step::RepeatRevocation), "{steps:?}");
    let before_lock = Protocol { reads_under_lock: false, ..WHOLE };
    assert!(broken(Protocol { compares_directory: false, ..before_lock }).is_some(), "memory alone decides");
    // Either of the two rules is sufficient for this. Services apply both, because they hold their state in memory.
    assert_eq!(broken(before_lock), None);
    assert_eq!(broken(Protocol { compares_directory: false, ..WHOLE }), None);
}

/// The visible events: commits by service, and the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visible {
    Committed(usize),
    Looked,
}

fn visible(step: Step) -> Option<Visible> {
    match step {
        Step::Commit(service) => Some(Visible::Committed(service)),
        Step::Look => Some(Visible::Looked),
        Step::Lock(_)
        | Step::Read(_)
        | Step::Check(_)
        | Step::Lose(_)
        | Step::Revoke
        | Step::AnswerRevocation
        | Step::LoseRevocation
        | Step::RepeatRevocation => None,
    }
}

/// Returns whether the protocol has a path with exactly these visible events.
fn is_possible(protocol: Protocol, trace: &[Visible]) -> bool {
    let mut open: VecDeque<(State, usize)> = protocol.init_states().into_iter().map(|state| (state, 0)).collect();
    let mut seen = std::collections::HashSet::new();
    while let Some((state, response)) = open.pop_front() {
        if response == trace.len() {
            return true;
        }
        let mut steps = Vec::new();
        protocol.actions(&state, &mut steps);
        for step in steps {
            let response = match visible(step) {
                None => response,
                Some(seen) if seen == trace[response] => response + 1,
                Some(_) => continue,
            };
            let Some(after) = protocol.next_state(&state, step) else { continue };
            if seen.insert((after.clone(), response)) {
                open.push_back((after, response));
            }
        }
    }
    false
}

#[test]
fn impossible_traces_are_rejected_by_the_model() {
    use Visible::{Committed, Looked};
    for (trace, expected) in [
        (&[Committed(0), Committed(1), Committed(1), Looked][..], true),
        (&[Looked], true),
        // A commit after the read, and more commits than were requested.
        (&[Committed(0), Looked, Committed(1)], false),
        (&[Committed(0), Committed(0), Committed(0)], false),
    ] {
        assert_eq!(is_possible(WHOLE, trace), expected, "{trace:?}");
    }
    let late = [Visible::Looked, Visible::Committed(1)];
    assert!(is_possible(Protocol { waits_for_open: false, ..WHOLE }, &late), "without its rule it is one");
}

/// Writes with a key until it is rejected, up to `changes` times. Returns the positions of the entries.
async fn write(engine: Engine, caller: Caller, changes: u8) -> Vec<u64> {
    let mut positions = Vec::new();
    for _ in 0..changes {
        match engine.change_clock(&caller, None, hour(), None).await {
            Ok(step) => positions.push(step.ledger.position),
            Err(Refusal::Unidentified(_)) => break,
            Err(refusal) => panic!("{refusal:?}"),
        }
    }
    positions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn entries_of_two_replicas_are_a_trace_of_the_model() {
    const ROUNDS: usize = 4;
    // More than are made until the key is revoked.
    const CHANGES_MAX: u8 = 64;
    let (left, right) = pair().await;
    let protocol = Protocol { changes: CHANGES_MAX, ..WHOLE };
    for number in 0..ROUNDS {
        let name = format!("writer{number}");
        left.engine.create_user(&left.admin, user_id(&name), true, None).await.unwrap();
        let secret = key_of(&left, &name).await;
        let before = left.size("main").await;
        let generation = super::generation(&right).await;
        let mut writing = Vec::new();
        for home in [&left, &right] {
            let caller = home.engine.identify(&secret).await.unwrap().unwrap();
            writing.push(tokio::spawn(write(home.engine.clone(), caller, protocol.changes)));
        }
        // Somewhere in the middle, each time in another place.
        for _ in 0..2 * number {
            right.read_clock(None).await;
        }
        let caller = left.engine.identify(&secret).await.unwrap().unwrap();
        left.engine.revoke_api_key(&left.admin, key_id(&caller)).await.unwrap();
        let read_size = super::generation(&right).await - generation;
        let mut written = Vec::new();
        for (service, writing) in writing.into_iter().enumerate() {
            written.extend(writing.await.unwrap().into_iter().map(|position| (position, service)));
        }
        written.sort_unstable();
        let mut trace: Vec<Visible> = written.iter().map(|(_, service)| Visible::Committed(*service)).collect();
        trace.insert(usize::try_from(read_size).unwrap().min(trace.len()), Visible::Looked);
        assert!(is_possible(protocol, &trace), "{trace:?}");
        assert!(written.len() < SERVICES * usize::from(CHANGES_MAX), "the revocation did not come in the middle");
        // The log agrees: confirmed changes are there, and nothing else by that key.
        let lines = left.lines().await;
        let is_by_key = |line: &&Line| line.actor == name && line.timeline == "main" && line.seq >= before;
        let moved = lines.iter().filter(is_by_key).filter(|line| line.action == "fast_forward");
        let moved: Vec<u64> = moved.map(|line| line.seq).collect();
        assert_eq!(moved, written.iter().map(|(position, _)| *position).collect::<Vec<_>>());
    }
    end([left, right]).await;
}
