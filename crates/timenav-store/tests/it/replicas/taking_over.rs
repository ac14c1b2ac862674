//! A small model of how a service loads entries of others, checked for all interleavings. Real services must match it
//! at each step.
//!
//! Two services write to one timeline. The database is copied to a standby now and then, and the standby may replace
//! it, which loses everything written since. A service stops if the ledger does not continue from what it has seen, and
//! may be restarted, with or without its folder. The owner of the database may restore old rows before entries that
//! another service has added. The guarantee: no service ever vouches for two histories. For each rule there is a model
//! without it, in which the guarantee is violated.

use stateright::{Checker as _, Model, Property};

use crate::replicas::*;

const SERVICES: usize = 2;
/// Number of entries written in a complete check.
const WRITES: u8 = 4;
/// Number of failovers in a complete check.
const FAILOVERS: u8 = 2;

/// The rules, which can be disabled to show that they are needed.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// A state that differs from memory is loaded only if it continues from there.
    compares_memory: bool,
    /// A start compares the database with the external checkpoints.
    compares_stored: bool,
    /// Whether the ledger continues from what was seen is decided by the signed tree, not by the rows.
    goes_by_signed_tree: bool,
    writes: u8,
    failovers: u8,
}

const WHOLE: Rules = Rules {
    compares_memory: true,
    compares_stored: true,
    goes_by_signed_tree: true,
    writes: WRITES,
    failovers: FAILOVERS,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Life {
    Runs,
    /// It has detected that the ledger was rolled back, and neither writes nor responds.
    Stopped,
    Down,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Service {
    life: Life,
    /// What it has vouched for last, which is stored externally; `None` if its folder is empty.
    seen: Option<Vec<u8>>,
    /// Whether it has vouched for something that does not continue from that.
    has_contradicted_itself: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The signed entries of the timeline, each with a unique number.
    database: Vec<u8>,
    /// The rows of the first entries, if the owner has restored others.
    backup: Option<Vec<u8>>,
    standby: Vec<u8>,
    services: [Service; SERVICES],
    written: u8,
    failovers: u8,
    is_anything_lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Write(usize),
    /// It loads the entries of others.
    Hear(usize),
    Start(usize),
    Stop(usize),
    /// Its folder is lost, so the next start accepts the database as it is.
    Forget(usize),
    Copy,
    Failover,
    /// The rows that a service has seen are restored.
    PutBack(usize),
}

impl Service {
    fn vouch(&mut self, history: &[u8]) {
        let seen = self.seen.get_or_insert_default();
        self.has_contradicted_itself |= !history.starts_with(seen);
        seen.clear();
        seen.extend_from_slice(history);
    }
}

impl State {
    /// Returns whether the ledger continues from what a service has seen, as far as it can tell.
    fn goes_on_from(&self, seen: &[u8], rules: Rules) -> bool {
        if seen.len() > self.database.len() {
            return false;
        }
        match &self.backup {
            // The newest root is in the head, which is independent of the rows.
            Some(backup) if !rules.goes_by_signed_tree && seen.len() < self.database.len() => backup.starts_with(seen),
            _ => self.database.starts_with(seen),
        }
    }

    /// A running service catches up, or stops.
    fn catch_up(&mut self, service: usize, rules: Rules) -> bool {
        let seen = self.services[service].seen.clone().unwrap_or_default();
        if rules.compares_memory && !self.goes_on_from(&seen, rules) {
            self.services[service].life = Life::Stopped;
            return false;
        }
        let history = self.database.clone();
        self.services[service].vouch(&history);
        true
    }

    fn take(&mut self, step: Step, rules: Rules) {
        match step {
            Step::Hear(service) => _ = self.catch_up(service, rules),
            Step::Write(service) => {
                if self.catch_up(service, rules) {
                    self.database.push(self.written);
                    self.written += 1;
                    let history = self.database.clone();
                    self.services[service].vouch(&history);
                }
            }
            Step::Start(service) => {
                let seen = self.services[service].seen.clone();
                let compared = seen.filter(|_| rules.compares_stored);
                if compared.is_none_or(|seen| self.goes_on_from(&seen, rules)) {
                    let history = self.database.clone();
                    self.services[service].vouch(&history);
                    self.services[service].life = Life::Runs;
                }
            }
            Step::Stop(service) => self.services[service].life = Life::Down,
            Step::Forget(service) => self.services[service].seen = None,
            Step::Copy => self.standby.clone_from(&self.database),
            Step::Failover => {
                self.is_anything_lost |= self.standby != self.database;
                self.database.clone_from(&self.standby);
                self.backup = None;
                self.failovers += 1;
            }
            Step::PutBack(service) => self.backup.clone_from(&self.services[service].seen),
        }
    }
}

impl Model for Rules {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let service = Service { life: Life::Runs, seen: Some(Vec::new()), has_contradicted_itself: false };
        vec![State {
            database: Vec::new(),
            backup: None,
            standby: Vec::new(),
            services: [service.clone(), service],
            written: 0,
            failovers: 0,
            is_anything_lost: false,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        for (number, service) in state.services.iter().enumerate() {
            match service.life {
                Life::Runs => {
                    steps.extend((state.written < self.writes).then_some(Step::Write(number)));
                    steps.extend([Step::Hear(number), Step::Stop(number)]);
                }
                Life::Stopped => steps.push(Step::Stop(number)),
                Life::Down => {
                    steps.extend([Step::Start(number), Step::Forget(number)]);
                }
            }
            if service.seen.is_some() && state.backup.is_none() && state.is_anything_lost {
                steps.push(Step::PutBack(number));
            }
        }
        steps.push(Step::Copy);
        steps.extend((state.failovers < self.failovers).then_some(Step::Failover));
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut state = before.clone();
        state.take(step, *self);
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(PROMISE, |_, state: &State| {
                !state.services.iter().any(|service| service.has_contradicted_itself)
            }),
            Property::always("where nothing is lost, nobody is stopped", |_, state: &State| {
                state.is_anything_lost || !state.services.iter().any(|service| service.life == Life::Stopped)
            }),
            Property::sometimes("whoever has seen more stops", |_, state: &State| {
                state.services.iter().any(|service| service.life == Life::Stopped)
            }),
            Property::sometimes("whoever has seen no more goes on after a loss", |_, state: &State| {
                let [one, other] = &state.services;
                let writes =
                    |service: &Service| service.life == Life::Runs && service.seen == Some(state.database.clone());
                state.is_anything_lost && state.database.len() > 1 && one.life == Life::Stopped && writes(other)
            }),
        ]
    }
}

const PROMISE: &str = "no service vouches for two histories";

/// Checks every interleaving. Returns a violation of the guarantee, if there is one.
fn broken(rules: Rules) -> Option<Vec<Step>> {
    let checker = rules.checker().spawn_bfs().join();
    assert!(checker.is_done() && checker.unique_state_count() > 100, "{}", checker.unique_state_count());
    checker.discovery(PROMISE).map(stateright::Path::into_actions)
}

#[test]
fn failover_model_prevents_forks_and_needs_every_rule() {
    WHOLE.checker().spawn_bfs().join().assert_properties();
    let steps = broken(Rules { compares_memory: false, ..WHOLE }).expect("it takes over what lost an entry of its own");
    assert!(steps.contains(&Step::Failover), "{steps:?}");
    let steps = broken(Rules { compares_stored: false, ..WHOLE }).expect("a start forgets what was seen");
    assert!(steps.iter().any(|step| matches!(step, Step::Start(_))), "{steps:?}");
    let steps = broken(Rules { goes_by_signed_tree: false, ..WHOLE }).expect("old rows are put back");
    assert!(steps.iter().any(|step| matches!(step, Step::PutBack(_))), "{steps:?}");
}

/// Executes a step with a real service. Returns its resulting state.
async fn play<'h>(houses: &'h [House; SERVICES], homes: &mut [Option<Home<'h>>; SERVICES], step: Step) -> Option<Life> {
    let url = houses[0].database();
    let meaning = |refused: Result<(), Refusal>| match refused {
        Ok(()) => Life::Runs,
        Err(Refusal::Diverged(_)) => Life::Stopped,
        Err(refusal) => panic!("{step:?}: {refusal:?}"),
    };
    match step {
        Step::Write(service) => {
            let home = homes[service].as_ref().unwrap();
            let changed = home.engine.change_clock(&home.admin, None, hour(), None).await;
            Some(meaning(changed.map(|_| ())))
        }
        Step::Hear(service) => Some(meaning(homes[service].as_ref().unwrap().engine.catch_up_all().await)),
        Step::Start(service) => {
            let house = &houses[service];
            homes[service] = house.try_open(house.store()).await.ok();
            Some(if homes[service].is_some() { Life::Runs } else { Life::Down })
        }
        Step::Stop(service) => {
            homes[service].take().unwrap().engine.close().await;
            Some(Life::Down)
        }
        Step::Forget(service) => {
            houses[service].outside.replace(&[]).unwrap();
            None
        }
        Step::Copy => {
            execute(&url, "DROP SCHEMA IF EXISTS before CASCADE");
            remember(&url, "before");
            None
        }
        Step::Failover => {
            every_table(&url, "", "TRUNCATE public.%1$I; INSERT INTO public.%1$I SELECT * FROM before.%1$I");
            None
        }
        Step::PutBack(_) => unreachable!("`old_entries` has it"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn real_replicas_fail_over_and_stop_like_the_model() {
    const ROUNDS: u64 = 6;
    const STEPS: usize = 24;
    let (mut stopped, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let mut seed = round;
        let first = House::on_postgres();
        let mut second = two(&first).await;
        second.options.joins = true;
        let mut first = first;
        first.options.joins = true;
        let houses = [first, second];
        let mut homes = [Some(houses[0].open().await), Some(houses[1].open().await)];
        execute(&houses[0].database(), "DROP SCHEMA IF EXISTS before CASCADE");
        remember(&houses[0].database(), "before");
        let rules = Rules { writes: u8::MAX, failovers: u8::MAX, ..WHOLE };
        let mut state = rules.init_states().remove(0);
        let mut steps = Vec::new();
        for _ in 0..STEPS {
            let mut possible = Vec::new();
            rules.actions(&state, &mut possible);
            possible.retain(|step| !matches!(step, Step::PutBack(_)));
            let step = possible[draw(&mut seed, possible.len())];
            steps.push(step);
            let life = play(&houses, &mut homes, step).await;
            state.take(step, rules);
            let (Some(life), Step::Write(service) | Step::Hear(service) | Step::Start(service) | Step::Stop(service)) =
                (life, step)
            else {
                continue;
            };
            assert_eq!(life, state.services[service].life, "round {round}: {steps:?}");
            stopped += usize::from(life == Life::Stopped);
            refused += usize::from(life == Life::Down && matches!(step, Step::Start(_)));
        }
        for home in homes.into_iter().flatten() {
            home.engine.close().await;
        }
    }
    assert!(stopped > 0 && refused > 0, "nobody was stopped ({stopped}), or refused at the start ({refused})");
}
