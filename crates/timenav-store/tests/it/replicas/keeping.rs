//! Who keeps the time of a timeline, and who has a firing, as a small model: all of its interleavings are looked at. What
//! real services do where two of them meet is in `leases` and `fences`.
//!
//! Two services keep the time of one timeline in turn: one takes it when the other has not been heard of. A firing is handed
//! out for a while, may come back, and gets one outcome: its worker tells it, or whoever keeps the time says that nobody
//! did. A service may be held up at any moment, with what it is about to write in mind. The tables of who keeps and who has
//! what are not logged, so a crash of the database empties them. Each of the rules has a model without it, in which the
//! promise is broken.

use stateright::{Checker as _, Model, Property};

/// Services that keep the time.
const SERVICES: usize = 2;
/// How often a firing is handed out before whoever keeps the time says that it failed.
const ATTEMPTS: u8 = 2;
/// How often a timeline is taken, and how often the database crashes, where all interleavings are looked at.
const EPOCHS: u8 = 4;
const CRASHES: u8 = 1;

/// The rules that may be left out, to see what they are good for.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
struct Rules {
    /// What nobody told is written only by whoever keeps the time at that moment.
    compares_keeper: bool,
    /// So it is by the epoch, too, under which it was thought of.
    compares_epoch: bool,
    /// An outcome is written only where there is none yet, as is looked under the lock.
    looks_for_outcome: bool,
    /// A firing is handed out only where nobody has it, as is looked under the lock.
    looks_for_lease: bool,
}

const WHOLE: Rules =
    Rules { compares_keeper: true, compares_epoch: true, looks_for_outcome: true, looks_for_lease: true };

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Service {
    /// Whether it was heard of lately.
    is_there: bool,
    /// The epoch under which it believes to keep the time.
    keeps: Option<u8>,
    /// It is about to write that the firing failed, as it found under that epoch.
    has_in_mind: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The row of who keeps the time, and its epoch.
    keeper: Option<(usize, u8)>,
    services: [Service; SERVICES],
    /// How often the firing was handed out, as its row tells.
    attempts: u8,
    /// Whether a worker has it by its row.
    is_leased: bool,
    /// Workers who believe to have it.
    workers: u8,
    outcomes: u8,
    taken: u8,
    crashes: u8,
    /// Somebody wrote what nobody told, and kept the time no more, or not under that epoch any more.
    was_written_late: bool,
    /// It was handed out while somebody had it by its row, or after its outcome.
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
    /// The lease ends, and its worker does not know.
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
            // However long it was held up.
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
                // Otherwise it is decided anew by what is there.
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

/// Looks at every interleaving. Returns how that promise is broken, if it is.
fn broken(rules: Rules, promise: &'static str) -> Option<Vec<Step>> {
    let checker = rules.checker().spawn_bfs().join();
    assert!(checker.unique_state_count() > 100, "{}", checker.unique_state_count());
    checker.discovery(promise).map(stateright::Path::into_actions)
}

#[test]
fn each_firing_has_one_outcome_in_every_interleaving_and_each_rule_is_needed_for_that() {
    WHOLE.checker().spawn_bfs().join().assert_properties();
    let steps = broken(Rules { looks_for_outcome: false, ..WHOLE }, ONE_OUTCOME).expect("two tell an outcome");
    assert!(steps.contains(&Step::Acknowledge), "{steps:?}");
    let alone = Rules { compares_keeper: false, compares_epoch: false, ..WHOLE };
    let steps = broken(alone, ONE_KEEPER).expect("it was held up while another one took over, or all was forgotten");
    assert!(steps.iter().any(|step| matches!(step, Step::WriteFailed(_))), "{steps:?}");
    // The name alone is not enough: it may have lost the timeline, and have it again.
    let steps = broken(Rules { compares_epoch: false, ..WHOLE }, ONE_KEEPER).expect("it has the timeline once more");
    assert!(steps.iter().filter(|step| matches!(step, Step::Take(_))).count() > 2, "{steps:?}");
    let steps = broken(Rules { looks_for_lease: false, ..WHOLE }, ONE_WORKER).expect("two are given it");
    assert!(steps.contains(&Step::HandOut), "{steps:?}");
    // Whatever a service that was held up has in mind, an outcome is looked for under the lock.
    assert_eq!(broken(alone, ONE_OUTCOME), None);
}
