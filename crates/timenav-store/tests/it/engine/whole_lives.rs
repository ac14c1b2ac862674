//! Whole lives of a service: everything that changes a timeline, drawn at random, with answers that are lost, commits that
//! fail, kills, requests that are sent again, contents that are let go or erased, and ends; users, their keys and their
//! rights, and sealed data. After each life, every state there was is read and compared with the model, everybody looks
//! at every timeline, and every ledger is audited.

mod household;
mod world;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use timenav_core::access::{RestrictionLevel, Role};
use timenav_core::clock::{ClockCommand, Rate};
use timenav_core::intervention::Effect;
use timenav_core::time::parse_duration;

use self::household::{Chore, USERS};
use self::world::World;
use crate::cases::check_cases;
use crate::house::House;
use crate::sample::moment;

/// What somebody asks for, on some timeline.
#[derive(Clone, Debug)]
enum Deed {
    Record(u8, i64),
    Correct(u8, i64),
    Intervene(u8, Effect),
    Steer(ClockCommand),
    Anchor,
    Return {
        to: Index,
        all: bool,
    },
    Fork {
        at: Option<Index>,
    },
    Retain {
        days: u32,
    },
    /// Erase an event that was recorded there, in all that goes on from it too.
    Erase(u8),
    End,
    House(Chore),
}

/// What becomes of a request that the service would answer.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Answered,
    /// Nothing can be written.
    NotWritten,
    /// It is written, and the service is killed before it answers.
    AnswerLost,
}

#[derive(Clone, Debug)]
enum Step {
    Ask(Index, Deed, Fate),
    /// The same request with the same key comes once more.
    Again(Index),
    Look(Index, Index),
    /// So many half days pass, and what is due goes.
    Pass(u8),
    Close,
    Kill,
}

fn chores() -> impl Strategy<Value = Chore> {
    let user = || 0..USERS;
    let level = select(vec![RestrictionLevel::FullAccess, RestrictionLevel::ReadOnly, RestrictionLevel::NoAccess]);
    let role = select(vec![None, Some(Role::Read), Some(Role::Write), Some(Role::Admin)]);
    prop_oneof![
        4 => (user(), prop::bool::weighted(0.2)).prop_map(|(user, operator)| Chore::Add { user, operator }),
        2 => user().prop_map(Chore::Remove),
        2 => (user(), level).prop_map(|(user, level)| Chore::Restrict(user, level)),
        4 => user().prop_map(Chore::GiveKey),
        2 => any::<Index>().prop_map(Chore::StopKey),
        4 => (0..=USERS, role, any::<bool>()).prop_map(|(user, role, expires)| Chore::Permit(user, role, expires)),
        3 => Just(Chore::Seal),
        2 => any::<Index>().prop_map(Chore::EraseData),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let event = || 0..6_u8;
    let effect = prop_oneof![
        3 => Just(Effect::Cancel),
        3 => Just(Effect::Restore),
        2 => Just(Effect::Delay(parse_duration("1h").unwrap())),
        1 => Just(Effect::Note),
    ];
    let command = prop_oneof![
        Just(ClockCommand::Pause),
        Just(ClockCommand::Resume),
        (1_u64..4_000_000).prop_map(|micros| ClockCommand::SetRate(Rate::from_micros(micros).unwrap())),
        select(vec!["1h", "P1M"]).prop_map(|by| ClockCommand::FastForward(parse_duration(by).unwrap())),
        select(vec!["3d", "P1Y"]).prop_map(|by| ClockCommand::Rewind(parse_duration(by).unwrap())),
        (0_i64..1 << 50).prop_map(|to| ClockCommand::Travel { to: moment(to), location: None }),
    ];
    let deed = prop_oneof![
        6 => (event(), 0..50_i64).prop_map(|(event, time)| Deed::Record(event, time)),
        4 => (event(), 0..50_i64).prop_map(|(event, time)| Deed::Correct(event, time)),
        6 => (event(), effect).prop_map(|(event, effect)| Deed::Intervene(event, effect)),
        5 => command.prop_map(Deed::Steer),
        3 => Just(Deed::Anchor),
        3 => (any::<Index>(), any::<bool>()).prop_map(|(to, all)| Deed::Return { to, all }),
        3 => any::<Option<Index>>().prop_map(|at| Deed::Fork { at }),
        1 => (1..4_u32).prop_map(|days| Deed::Retain { days }),
        2 => event().prop_map(Deed::Erase),
        1 => Just(Deed::End),
        9 => chores().prop_map(Deed::House),
    ];
    let fate = prop_oneof![8 => Just(Fate::Answered), 1 => Just(Fate::NotWritten), 1 => Just(Fate::AnswerLost)];
    let step = prop_oneof![
        20 => (any::<Index>(), deed, fate).prop_map(|(on, deed, fate)| Step::Ask(on, deed, fate)),
        4 => any::<Index>().prop_map(Step::Again),
        3 => (any::<Index>(), any::<Index>()).prop_map(|(on, at)| Step::Look(on, at)),
        2 => (1..6_u8).prop_map(Step::Pass),
        1 => Just(Step::Close),
        1 => Just(Step::Kill),
    ];
    vec(step, 1..60)
}

async fn live(steps: Vec<Step>) {
    let house = House::off_disk();
    house.clock.stop();
    let mut world = World::open(&house).await;
    for step in steps {
        house.clock.advance(1_000_000);
        match step {
            Step::Ask(on, deed, fate) => world.ask(on, deed, fate).await,
            Step::Again(which) => world.ask_again(which).await,
            Step::Look(on, at) => world.look(on, at).await,
            Step::Pass(half_days) => world.pass(half_days).await,
            Step::Close => world.close_and_open().await,
            Step::Kill => world.kill_and_open().await,
        }
    }
    Box::pin(world.check_everything()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_life_with_repetitions_and_crashes_is_as_the_model_has_it() {
    check_cases(24, &steps(), live);
}

/// As the test above, so often that rare orders come up: `cargo xtask histories`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; `cargo xtask histories` runs it"]
async fn a_thousand_lives_with_repetitions_and_crashes_are_as_the_model_has_them() {
    check_cases(1_000, &steps(), live);
}
