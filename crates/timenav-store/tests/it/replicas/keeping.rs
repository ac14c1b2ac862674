//! A small model of timekeepers and firing leases, checked for all interleavings. Tests of real services are in
//! `leases` and `fences`.
//!
//! Two services take turns as the timekeeper of a timeline: one takes over when the other has not been seen. A firing
//! is leased for some time, may be returned, and gets one outcome, from its worker, or from the timekeeper if no worker
//! reported one. A service may be delayed at any time with a pending write. The tables of timekeepers and leases are
//! unlogged, so a crash of the database empties them. For each rule there is a model without it, in which the guarantee
//! is violated.

use stateright::{Checker as _, Model, Property};

/// Services that can be timekeepers.
const SERVICES: usize = 2;
/// Number of leases of a firing before the timekeeper declares it failed.
const ATTEMPTS: u8 = 2;
/// Limits of takeovers and database crashes for a complete check of all interleavings.
const EPOCHS: u8 = 4;
const CRASHES: u8 = 1;

/// The rules, which can be disabled to show that they are needed.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
struct Rules {
    /// A failure is written only by the current timekeeper.
    compares_keeper: bool,
    /// It must also be written under the epoch in which it was decided.
    compares_epoch: bool,
    /// An outcome is written only if there is none yet, checked under the lock.
    looks_for_outcome: bool,
    /// A firing is leased only if it has no lease, checked under the lock.
    looks_for_lease: bool,
}

const WHOLE: Rules =
    Rules { compares_keeper: true, compares_epoch: true, looks_for_outcome: true, looks_for_lease: true };

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Service {
    /// Whether it was seen recently.
    is_there: bool,
    /// The epoch in which it believes to be the timekeeper.
    keeps: Option<u8>,
    /// A pending write of a failure, decided in that epoch.
    has_in_mind: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The row of the timekeeper, with its epoch.
    keeper: Option<(usize, u8)>,
    services: [Service; SERVICES],
    /// The number of attempts in the firing's row.
    attempts: u8,
    /// Whether its row has a lease.
    is_leased: bool,
    /// Workers who believe to hold the lease.
    workers: u8,
    outcomes: u8,
    taken: u8,
    crashes: u8,
    /// A failure was written by a service that was no longer the timekeeper, or in another epoch.
    was_written_late: bool,
    /// It was leased while its row had a lease, or after its outcome.
    was_handed_out_twice: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Vanish(usize),
    Return(usize),
    Take(usize),
    Find(usize),
    WriteFailed(usize),
    HandOut,
    /// The lease expires, and its worker does not know.
    Expire,
    Acknowledge,
    Crash,
}

impl State {
    const fn may_be_taken_by(&self, service: usize) -> bool {
        match self.keeper {
            None => true,
            Some((keeper, _)) => keeper != service && !self.services[keeper].is_there,
        }
    }

    const fn is_given_up(&self) -> bool {
        !self.is_leased && self.attempts >= ATTEMPTS && self.outcomes == 0
    }
}

impl Model for Rules {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            keeper: None,
            services: [Service { is_there: true, keeps: None, has_in_mind: None }; SERVICES],
            attempts: 0,
            is_leased: false,
            workers: 0,
            outcomes: 0,
            taken: 0,
            crashes: 0,
            was_written_late: false,
            was_handed_out_twice: false,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        for (number, service) in state.services.iter().enumerate() {
            steps.push(if service.is_there { Step::Vanish(number) } else { Step::Return(number) });
            let takes = service.is_there && state.taken < EPOCHS && state.may_be_taken_by(number);
            steps.extend(takes.then_some(Step::Take(number)));
            let finds = service.keeps.is_some() && service.has_in_mind.is_none() && state.is_given_up();
            steps.extend(finds.then_some(Step::Find(number)));
            // Regardless of the length of the delay.
            steps.extend(service.has_in_mind.map(|_| Step::WriteFailed(number)));
        }
        let is_free = (!state.is_leased || !self.looks_for_lease) && state.outcomes == 0;
        steps.extend((is_free && state.attempts < ATTEMPTS && state.workers < 2).then_some(Step::HandOut));
        steps.extend(state.is_leased.then_some(Step::Expire));
        steps.extend((state.workers > 0).then_some(Step::Acknowledge));
        steps.extend((state.crashes < CRASHES).then_some(Step::Crash));
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut state = before.clone();
        match step {
            Step::Vanish(service) => state.services[service].is_there = false,
            Step::Return(service) => state.services[service].is_there = true,
            Step::Take(service) => {
                let epoch = before.keeper.map_or(1, |(_, epoch)| epoch + 1);
                state.keeper = Some((service, epoch));
                state.services[service].keeps = Some(epoch);
                state.taken += 1;
            }
            Step::Find(service) => state.services[service].has_in_mind = before.services[service].keeps,
            Step::WriteFailed(service) => {
                let epoch = state.services[service].has_in_mind.take()?;
                let (keeps, is_of_epoch) = match before.keeper {
                    Some((keeper, current)) => (keeper == service, current == epoch),
                    None => (false, false),
                };
                let is_lost = (self.compares_keeper && !keeps) || (self.compares_epoch && !is_of_epoch);
                // Otherwise it is decided again on the current state.
                if !is_lost && (before.is_given_up() || !self.looks_for_outcome) {
                    state.outcomes += 1;
                    state.was_written_late |= !keeps || !is_of_epoch;
                }
            }
            Step::HandOut => {
                state.was_handed_out_twice |= before.is_leased || before.outcomes > 0;
                state.is_leased = true;
                state.attempts += 1;
                state.workers += 1;
            }
            Step::Expire => state.is_leased = false,
            Step::Acknowledge => {
                state.workers -= 1;
                if before.outcomes == 0 || !self.looks_for_outcome {
                    state.outcomes += 1;
                    state.is_leased = false;
                }
            }
            Step::Crash => {
                (state.keeper, state.is_leased, state.attempts) = (None, false, 0);
                state.crashes += 1;
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_OUTCOME, |_, state: &State| state.outcomes <= 1),
            Property::always(ONE_KEEPER, |_, state: &State| !state.was_written_late),
            Property::always(ONE_WORKER, |_, state: &State| !state.was_handed_out_twice),
            Property::sometimes("a worker tells the outcome", |_, state: &State| {
                state.outcomes == 1 && state.attempts < ATTEMPTS
            }),
            Property::sometimes("whoever keeps the time says that nobody did", |_, state: &State| {
                state.outcomes == 1 && state.workers == ATTEMPTS
            }),
            Property::sometimes("a timeline is taken over", |_, state: &State| {
                state.keeper.is_some_and(|(_, epoch)| epoch > 1)
            }),
        ]
    }
}

const ONE_OUTCOME: &str = "a firing has one outcome";
const ONE_KEEPER: &str = "only who keeps the time says what nobody told";
const ONE_WORKER: &str = "nobody is given what somebody has, or what is done";

/// Checks every interleaving. Returns a violation of the guarantee, if there is one.
fn broken(rules: Rules, promise: &'static str) -> Option<Vec<Step>> {
    let checker = rules.checker().spawn_bfs().join();
    assert!(checker.unique_state_count() > 100, "{}", checker.unique_state_count());
    checker.discovery(promise).map(stateright::Path::into_actions)
}

#[test]
fn model_has_one_outcome_per_firing_and_needs_every_rule() {
    WHOLE.checker().spawn_bfs().join().assert_properties();
    let steps = broken(Rules { looks_for_outcome: false, ..WHOLE }, ONE_OUTCOME).expect("two tell an outcome");
    assert!(steps.contains(&Step::Acknowledge), "{steps:?}");
    let alone = Rules { compares_keeper: false, compares_epoch: false, ..WHOLE };
    let steps = broken(alone, ONE_KEEPER).expect("it was held up while another one took over, or all was forgotten");
    assert!(steps.iter().any(|step| matches!(step, Step::WriteFailed(_))), "{steps:?}");
    // The name alone is not enough: it may have lost the timeline and taken it again.
    let steps = broken(Rules { compares_epoch: false, ..WHOLE }, ONE_KEEPER).expect("it has the timeline once more");
    assert!(steps.iter().filter(|step| matches!(step, Step::Take(_))).count() > 2, "{steps:?}");
    let steps = broken(Rules { looks_for_lease: false, ..WHOLE }, ONE_WORKER).expect("two are given it");
    assert!(steps.contains(&Step::HandOut), "{steps:?}");
    // Whatever a delayed service is about to write, outcomes are checked under the lock.
    assert_eq!(broken(alone, ONE_OUTCOME), None);
}
