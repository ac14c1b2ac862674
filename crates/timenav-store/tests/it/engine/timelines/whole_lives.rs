//! Random lives of a service: all operations that change a timeline, lost responses, failed commits, kills, repeated
//! requests, pruned or erased contents, and ends; timers, and interrupted advances; webhooks; imports; users with keys,
//! sessions and permissions, and sealed data. After each life, every past state is read and compared with the model,
//! all users read every timeline, and every ledger is exported and audited.

mod erasing;
mod accounts;
mod timers;
mod timing;
mod world;

use proptest::prelude::*;

use self::accounts::{Chore, USERS};
use self::erasing::Clearing;
use self::timers::{Rough, TimerDeed};
use self::timing::Target;
use self::world::World;
use crate::engine::*;
use crate::ports::FakeClock;

/// A request on some timeline.
#[derive(Clone, Debug)]
enum Deed {
    /// Records events in one request.
    Record(Vec<(u8, i64)>),
    Import(Vec<(u8, i64)>),
    UndoImport(Index),
    Correct(u8, i64),
    Intervene(u8, Effect),
    Steer(ClockCommand, Passing),
    Anchor,
    Return {
        to: Index,
        all: bool,
    },
    Fork {
        at: Option<Index>,
        /// Sends the webhooks of inherited timers.
        sends: bool,
    },
    Retain {
        days: u32,
    },
    /// Erases an event recorded there, including on all forks.
    Erase(u8),
    Clear(Clearing),
    End,
    Timer(TimerDeed),
    Account(Chore),
}

/// How a clock change treats timers.
#[derive(Clone, Copy, Debug)]
struct Passing {
    /// The clock stops at each on its way.
    settle: bool,
    /// They fire again.
    refire: bool,
}

/// How the timekeeper is interrupted after a request.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// Writing fails after this many commits. Then it works again, or the service is killed.
    NotWritten { commits: usize, is_killed: bool },
    /// The service is killed before it stores the checkpoints of its writes externally.
    NotStored,
}

/// The fate of a request that would succeed.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Answered,
    /// Writing fails.
    NotWritten,
    /// It is written, and the service is killed before it responds.
    AnswerLost,
    /// It gets its response, and the background work after that is interrupted.
    CutOff(Cut),
}

#[derive(Clone, Debug)]
enum Step {
    /// A request by the first operator, or by the owner of one of the keys.
    Ask(Index, Deed, Fate, Option<Index>),
    /// The same request with the same key again.
    Again(Index),
    Look(Index, Index),
    /// This many half days pass, with maintenance.
    Pass(u8),
    Close,
    Kill,
}

fn chores() -> impl Strategy<Value = Chore> {
    let user = || 0..USERS;
    let level = select(vec![RestrictionLevel::FullAccess, RestrictionLevel::ReadOnly, RestrictionLevel::NoAccess]);
    let scope = prop::option::weighted(0.3, select(Scope::ALL.to_vec()));
    let role = select(vec![None, Some(Role::Read), Some(Role::Write), Some(Role::Admin)]);
    prop_oneof![
        4 => (user(), prop::bool::weighted(0.2)).prop_map(|(user, operator)| Chore::Add { user, operator }),
        2 => user().prop_map(Chore::Remove),
        2 => (user(), level).prop_map(|(user, level)| Chore::Restrict(user, level)),
        4 => (user(), scope).prop_map(|(user, scope)| Chore::GiveKey(user, scope)),
        2 => any::<Index>().prop_map(Chore::StopKey),
        3 => user().prop_map(Chore::SetPassword),
        4 => user().prop_map(Chore::LogIn),
        1 => any::<Index>().prop_map(Chore::EndSession),
        4 => (0..=USERS, role, any::<bool>()).prop_map(|(user, role, expires)| Chore::Permit(user, role, expires)),
        3 => Just(Chore::Seal),
        2 => any::<Index>().prop_map(Chore::EraseData),
    ]
}

fn timer_deeds() -> impl Strategy<Value = TimerDeed> {
    let name = || 0..4_u8;
    let target = || select(vec![Target::Queue, Target::Event, Target::Webhook]);
    let rule = (1..60_i64, 1..5_i64, select(Misfire::ALL.to_vec()), any::<bool>());
    let when = || (-4..60_i64, prop::option::of(rule.clone())).prop_map(|(first, rule)| Rough { first, rule });
    let change = prop::option::weighted(0.8, when());
    prop_oneof![
        5 => (name(), when(), target()).prop_map(|(name, when, target)| TimerDeed::Set { name, when, target }),
        2 => (name(), change, target()).prop_map(|(name, when, target)| TimerDeed::Change { name, when, target }),
        1 => name().prop_map(TimerDeed::Cancel),
        2 => (1..4_usize).prop_map(TimerDeed::Work),
    ]
}

fn forward() -> impl Strategy<Value = ClockCommand> {
    prop_oneof![
        2 => select(vec!["1h", "1d", "P1M"])
            .prop_map(|by| ClockCommand::FastForward(parse_duration(by).unwrap())),
        1 => any::<Option<u16>>().prop_map(|until| ClockCommand::ToNext {
            until: until.map(|hours| moment(FakeClock::START + i64::from(hours) * 3_600_000_000)),
        }),
    ]
}

/// Timers, and a clock change past some of them.
fn journeys() -> impl Strategy<Value = Vec<Step>> {
    let drawn = (any::<Index>(), vec(timer_deeds(), 1..4), forward(), any::<bool>(), fates());
    drawn.prop_map(|(on, timers, command, settle, fate)| {
        let set = timers.into_iter().map(|deed| Step::Ask(on, Deed::Timer(deed), Fate::Answered, None));
        let go = Deed::Steer(command, Passing { settle, refire: false });
        set.chain([Step::Ask(on, go, fate, None)]).collect()
    })
}

fn fates() -> impl Strategy<Value = Fate> {
    let cut = prop_oneof![
        2 => (0..3_usize, any::<bool>()).prop_map(|(commits, is_killed)| Cut::NotWritten { commits, is_killed }),
        1 => Just(Cut::NotStored),
    ];
    prop_oneof![
        8 => Just(Fate::Answered),
        1 => Just(Fate::NotWritten),
        1 => Just(Fate::AnswerLost),
        1 => cut.prop_map(Fate::CutOff),
    ]
}

fn clearings() -> impl Strategy<Value = Clearing> {
    prop_oneof![
        2 => (0..50_i64, 0..20_i64).prop_map(|(from, span)| Clearing::Found(from, from + span)),
        2 => (1..4_i64).prop_map(Clearing::Unchanged),
        1 => (0..6_u8).prop_map(Clearing::One),
        1 => any::<Index>().prop_map(Clearing::Reads),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let event = || 0..6_u8;
    let events = |max: usize| vec((event(), 0..50_i64), 1..=max);
    let effect = prop_oneof![
        3 => Just(Effect::Cancel),
        3 => Just(Effect::Restore),
        2 => Just(Effect::Delay(parse_duration("1h").unwrap())),
        1 => Just(Effect::Note),
    ];
    let command = prop_oneof![
        1 => Just(ClockCommand::Pause),
        1 => Just(ClockCommand::Resume),
        1 => (1_u64..4_000_000).prop_map(|micros| ClockCommand::SetRate(Rate::from_micros(micros).unwrap())),
        2 => forward(),
        1 => select(vec!["3d", "P1Y"]).prop_map(|by| ClockCommand::Rewind(parse_duration(by).unwrap())),
        1 => (0_i64..1 << 50).prop_map(|to| ClockCommand::Travel { to: moment(to), location: None }),
    ];
    let deed = prop_oneof![
        6 => events(3).prop_map(Deed::Record),
        3 => events(5).prop_map(Deed::Import),
        1 => any::<Index>().prop_map(Deed::UndoImport),
        4 => (event(), 0..50_i64).prop_map(|(event, time)| Deed::Correct(event, time)),
        6 => (event(), effect).prop_map(|(event, effect)| Deed::Intervene(event, effect)),
        6 => (command, prop::bool::weighted(0.7), any::<bool>())
            .prop_map(|(command, settle, refire)| Deed::Steer(command, Passing { settle, refire })),
        7 => timer_deeds().prop_map(Deed::Timer),
        3 => Just(Deed::Anchor),
        3 => (any::<Index>(), any::<bool>()).prop_map(|(to, all)| Deed::Return { to, all }),
        3 => (any::<Option<Index>>(), any::<bool>()).prop_map(|(at, sends)| Deed::Fork { at, sends }),
        1 => (1..4_u32).prop_map(|days| Deed::Retain { days }),
        2 => event().prop_map(Deed::Erase),
        3 => clearings().prop_map(Deed::Clear),
        1 => Just(Deed::End),
        9 => chores().prop_map(Deed::Account),
    ];
    let step = prop_oneof![
        20 => (any::<Index>(), deed, fates(), prop::option::weighted(0.4, any::<Index>()))
            .prop_map(|(on, deed, fate, by)| Step::Ask(on, deed, fate, by)),
        4 => any::<Index>().prop_map(Step::Again),
        3 => (any::<Index>(), any::<Index>()).prop_map(|(on, at)| Step::Look(on, at)),
        2 => (1..6_u8).prop_map(Step::Pass),
        1 => Just(Step::Close),
        1 => Just(Step::Kill),
    ];
    let steps = prop_oneof![14 => step.prop_map(|step| vec![step]), 1 => journeys()];
    vec(steps, 1..55).prop_map(|steps| steps.concat())
}

async fn live(steps: Vec<Step>) {
    let mut house = House::new();
    // Sessions do not expire in a life.
    (house.options.session_idle_seconds, house.options.session_seconds) = (u32::MAX, u32::MAX);
    house.clock.stop();
    let mut world = World::open(&house).await;
    for step in steps {
        house.clock.advance(1_000_000);
        world.go_on(None).await;
        match step {
            Step::Ask(on, deed, fate, by) => world.ask(on, deed, (fate, by)).await,
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
async fn random_history_with_retries_and_crashes_matches_the_model() {
    check_cases(24, &steps(), live);
}

/// Like the test above, often enough for rare orders: `cargo xtask soak histories`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; `cargo xtask soak histories` runs it"]
async fn thousand_histories_with_retries_and_crashes_match_the_model() {
    check_cases(1_000, &steps(), live);
}
