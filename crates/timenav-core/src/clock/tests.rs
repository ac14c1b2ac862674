use super::*;
use crate::time::{parse_duration, parse_timestamp};
use proptest::prelude::*;

fn host(micros: i64) -> Instant<Wall> {
    Instant::from_micros(micros).unwrap()
}

fn at(text: &str) -> Instant<Virtual> {
    parse_timestamp(text).unwrap()
}

fn duration(micros: i64) -> Duration {
    parse_duration(&format!("{}.{:06}s", micros / 1_000_000, micros % 1_000_000)).unwrap()
}

fn step(clock: &Clock, command: &ClockCommand, host: Instant<Wall>) -> Clock {
    match decide(clock, command, &Zone::utc(), host).unwrap() {
        Some(moved) => apply(clock, &moved),
        None => clock.clone(),
    }
}

#[test]
fn new_clock_shows_host_time() {
    let clock = Clock::new(host(5_000));
    assert!(clock.is_running());
    assert_eq!(clock.now(host(9_000)).micros(), 9_000);
    assert_eq!(clock.generation, 0);
}

#[test]
fn clock_resumes_at_the_exact_pause_time() {
    let paused = step(&Clock::new(host(0)), &ClockCommand::Pause, host(1_234_567));
    assert_eq!(paused.now(host(9_000_000)).micros(), 1_234_567);
    let resumed = step(&paused, &ClockCommand::Resume, host(10_000_000));
    assert_eq!(resumed.now(host(10_000_001)).micros(), 1_234_568);
}

#[test]
fn repeated_pause_or_resume_changes_nothing() {
    let clock = Clock::new(host(0));
    assert_eq!(decide(&clock, &ClockCommand::Resume, &Zone::utc(), host(1)), Ok(None));
    let paused = step(&clock, &ClockCommand::Pause, host(1));
    assert_eq!(decide(&paused, &ClockCommand::Pause, &Zone::utc(), host(2)), Ok(None));
    assert_eq!(decide(&paused, &ClockCommand::SetRate(Rate::NORMAL), &Zone::utc(), host(2)), Ok(None));
}

#[test]
fn clock_rounds_down_also_before_its_origin() {
    let half = ClockCommand::SetRate(Rate::from_micros(500_000).unwrap());
    let clock = step(&Clock::new(host(0)), &half, host(10));
    assert_eq!([9, 10, 11, 12].map(|micros| clock.now(host(micros)).micros()), [9, 10, 10, 11]);
}

#[test]
fn spent_time_shorter_than_already_spent_changes_nothing() {
    let paused = step(&Clock::new(host(0)), &ClockCommand::Pause, host(1_000_000));
    let spend = |micros: i64| {
        let since = Instant::from_micros(999_995);
        decide(&paused, &ClockCommand::Elapse { by: duration(micros), since }, &Zone::utc(), host(2_000_000)).unwrap()
    };
    assert_eq!([4, 5].map(spend), [None, None]);
    assert_eq!(spend(6).map(|moved| moved.moment.at.micros()), Some(1_000_001));
}

#[test]
fn moves_keep_the_clock_running_or_paused() {
    let travel = ClockCommand::Travel { to: at("1969-07-20T20:17:40Z"), location: Some("Moon".into()) };
    let day = ClockCommand::FastForward(parse_duration("1d").unwrap());
    for command in [&travel, &day] {
        let running = Clock::new(host(0));
        assert!(step(&running, command, host(5)).is_running());
        let paused = step(&running, &ClockCommand::Pause, host(5));
        assert!(!step(&paused, command, host(6)).is_running());
    }
}

#[test]
fn clock_arrives_paused_at_its_reading_on_the_other_host() {
    let running = step(&Clock::new(host(0)), &ClockCommand::SetRate(Rate::from_factor(2.0).unwrap()), host(10));
    let arrived = running.arrived(host(1_010), host(50_000));
    assert!(!arrived.is_running());
    assert_eq!(arrived.origin(), (host(50_000), running.now(host(1_010))));
    assert_eq!(arrived.now(host(90_000)).micros(), 2_010);
    assert_eq!((arrived.rate(), arrived.generation), (running.rate(), running.generation));

    let paused = step(&running, &ClockCommand::Pause, host(20));
    assert_eq!(paused.arrived(host(1_010), host(50_000)), paused);
}

#[test]
fn clock_keeps_its_location_unless_one_is_given() {
    let moon = step(
        &Clock::new(host(0)),
        &ClockCommand::Travel { to: at("1969-07-20T20:17:40Z"), location: Some("Moon".into()) },
        host(1),
    );
    let later = step(&moon, &ClockCommand::Travel { to: at("1972-12-07T05:33:00Z"), location: None }, host(2));
    assert_eq!(later.location.as_deref(), Some("Moon"));
}

#[test]
fn spending_requires_paused_clock_and_counts_once_per_start() {
    let spend =
        |by: &str, since: Option<&str>| ClockCommand::Elapse { by: parse_duration(by).unwrap(), since: since.map(at) };
    let decided = |clock: &Clock, command: &ClockCommand| decide(clock, command, &Zone::utc(), host(3));
    let running = Clock::new(host(0));
    assert_eq!(decided(&running, &spend("1h", None)), Err(ClockRefusal::Running));
    let noon = ClockCommand::Travel { to: at("2000-01-01T12:00:00Z"), location: None };
    let mut clock = step(&step(&running, &ClockCommand::Pause, host(1)), &noon, host(2));
    // Spends add up; of those since one moment, the longest counts.
    for (command, displayed) in [
        (spend("20m", None), "2000-01-01T12:20:00Z"),
        (spend("20m", None), "2000-01-01T12:40:00Z"),
        (spend("30m", Some("2000-01-01T12:20:00Z")), "2000-01-01T12:50:00Z"),
        (spend("P1M", Some("2000-01-01T12:00:00Z")), "2000-02-01T12:00:00Z"),
    ] {
        clock = step(&clock, &command, host(3));
        assert_eq!((clock.now(host(9)), clock.is_running()), (at(displayed), false));
    }
    assert_eq!(decided(&clock, &spend("1h", Some("2000-01-31T12:00:00Z"))), Ok(None), "others have spent it");
    let later = spend("1h", Some("2000-02-01T12:00:01Z"));
    assert_eq!(decided(&clock, &later), Err(ClockRefusal::BeganLater));
    assert_eq!(decided(&clock, &spend("P9000Y", None)), Err(ClockRefusal::OutOfRange));
}

#[test]
fn clock_moves_to_the_next_due_time_never_back() {
    let to_next = |until: Option<&str>| ClockCommand::ToNext { until: until.map(at) };
    let noon = ClockCommand::Travel { to: at("2000-01-01T12:00:00Z"), location: Some("Moon".into()) };
    let running = step(&Clock::new(host(0)), &noon, host(1));
    let paused = step(&running, &ClockCommand::Pause, host(1));
    let (earlier, now, soon, later) =
        ("2000-01-01T11:00:00Z", "2000-01-01T12:00:00Z", "2000-01-01T13:00:00Z", "2000-01-02T12:00:00Z");
    for (next, until, expected) in [
        (Some(soon), None, Ok(Some(soon))),
        (Some(soon), Some(later), Ok(Some(soon))),
        (Some(soon), Some(soon), Ok(Some(soon))),
        (Some(later), Some(soon), Ok(Some(soon))),
        (None, Some(soon), Ok(Some(soon))),
        (None, None, Err(ClockRefusal::NothingDue)),
        (Some(soon), Some(now), Ok(None)),
        (None, Some(now), Ok(None)),
        (Some(soon), Some(earlier), Ok(None)),
        (Some(now), None, Ok(None)),
        (Some(earlier), Some(later), Ok(None)),
    ] {
        for clock in [&running, &paused] {
            let surroundings = Surroundings { zone: &Zone::utc(), next: next.map(at) };
            let decided = decide(clock, &to_next(until), surroundings, host(1));
            let moment = |to: &str| Moment { at: at(to), ..clock.moment(host(1)) };
            let expected = expected.clone().map(|to| to.map(|to| ClockMoved { host: host(1), moment: moment(to) }));
            assert_eq!(decided, expected, "{next:?} {until:?}");
        }
    }
}

#[test]
fn clock_rejects_moves_out_of_range() {
    let end = step(&Clock::new(host(0)), &ClockCommand::Travel { to: Instant::MAX, location: None }, host(1));
    let forward = ClockCommand::FastForward(parse_duration("1s").unwrap());
    assert_eq!(decide(&end, &forward, &Zone::utc(), host(1)), Err(ClockRefusal::OutOfRange));
    assert_eq!(end.now(host(9_000_000)), Instant::MAX, "a running clock stands at the end");
}

#[test]
fn clock_location_over_the_limit_is_rejected() {
    let travel = |location: String| ClockCommand::Travel { to: Instant::EPOCH, location: Some(location) };
    let decided = |location| decide(&Clock::new(host(0)), &travel(location), &Zone::utc(), host(0));
    assert!(decided("x".repeat(LOCATION_BYTES_MAX)).is_ok());
    assert_eq!(decided("x".repeat(LOCATION_BYTES_MAX + 1)), Err(ClockRefusal::Location));
    assert_eq!(decided(String::new()), Err(ClockRefusal::Location));
}

#[test]
fn rates_have_limits_and_six_digits() {
    for (factor, micros) in [
        (1.0, Some(1_000_000)),
        (0.5, Some(500_000)),
        (1e-6, Some(1)),
        (1e6, Some(1_000_000_000_000)),
        (4e-7, None),
        (1e6 + 1.0, None),
        (0.0, None),
        (-1.0, None),
        (f64::NAN, None),
        (f64::INFINITY, None),
    ] {
        assert_eq!(Rate::from_factor(factor).map(Rate::micros), micros, "{factor}");
    }
}

/// A minimal model of a clock: adds scaled host time.
struct Model {
    host: i128,
    micros: i128,
    /// Remainder since the last rate change, in millionths of a microsecond.
    rest: i128,
    rate: i128,
    running: bool,
}

impl Model {
    fn pass(&mut self, host: i128) {
        if self.running {
            self.rest += (host - self.host) * self.rate;
        }
        self.host = host;
    }
    fn now(&self) -> i128 {
        self.micros + self.rest.div_euclid(1_000_000)
    }
    fn change(&mut self) {
        (self.micros, self.rest) = (self.now(), 0);
    }
}

#[derive(Clone, Debug)]
enum Act {
    Travel(i64),
    Pause,
    Resume,
    Shift(i64),
    Spend(i64),
    ToNext(i64),
    Rate(u64),
}

fn acts() -> impl Strategy<Value = Vec<(Act, i64)>> {
    let second = 1_000_000_i64;
    let act = prop_oneof![
        (-60_000_000_000 * second..250_000_000_000 * second).prop_map(Act::Travel),
        Just(Act::Pause),
        Just(Act::Resume),
        (-1_000_000_000 * second..1_000_000_000 * second).prop_map(Act::Shift),
        (0..1_000_000 * second).prop_map(Act::Spend),
        (-1_000_000 * second..1_000_000 * second).prop_map(Act::ToNext),
        (1_u64..100_000_000).prop_map(Act::Rate),
    ];
    proptest::collection::vec((act, 0..3_600 * second), 1..60)
}

proptest! {
    #[test]
    fn clock_always_matches_the_model(acts in acts()) {
        let mut clock = Clock::new(host(0));
        let mut model = Model { host: 0, micros: 0, rest: 0, rate: 1_000_000, running: true };
        let mut time = 0;
        for (act, passes) in acts {
            time += passes;
            model.pass(time.into());
            prop_assert_eq!(i128::from(clock.now(host(time)).micros()), model.now());
            let generation = clock.generation;
            let command = match act {
                Act::Travel(to) => ClockCommand::Travel { to: Instant::from_micros(to).unwrap(), location: None },
                Act::Pause => ClockCommand::Pause,
                Act::Resume => ClockCommand::Resume,
                Act::Shift(by) if by >= 0 => ClockCommand::FastForward(duration(by + 1)),
                Act::Shift(by) => ClockCommand::Rewind(duration(1 - by)),
                Act::Spend(by) => ClockCommand::Elapse { by: duration(by + 1), since: None },
                Act::ToNext(_) => ClockCommand::ToNext { until: None },
                Act::Rate(micros) => ClockCommand::SetRate(Rate::from_micros(micros).unwrap()),
            };
            let before = clock.now(host(time));
            let due = match act {
                Act::ToNext(after) => Instant::from_micros(before.micros().saturating_add(after)),
                _ => None,
            };
            let surroundings = Surroundings { zone: &Zone::utc(), next: due };
            let Ok(decided) = decide(&clock, &command, surroundings, host(time)) else { continue };
            let Some(moved) = decided else { continue };
            clock = apply(&clock, &moved);
            prop_assert_eq!(clock.generation, generation + 1);
            model.change();
            if matches!(act, Act::ToNext(_)) {
                prop_assert!(clock.now(host(time)) > before, "it never goes back");
            }
            match command {
                ClockCommand::Travel { to, .. } => model.micros = to.micros().into(),
                ClockCommand::Pause => model.running = false,
                ClockCommand::Resume => model.running = true,
                ClockCommand::SetRate(rate) => model.rate = rate.micros().into(),
                ClockCommand::FastForward(by) | ClockCommand::Elapse { by, .. } => {
                    model.micros = by.later(before, &Zone::utc()).unwrap().micros().into();
                }
                ClockCommand::Rewind(by) => model.micros = by.earlier(before, &Zone::utc()).unwrap().micros().into(),
                ClockCommand::ToNext { .. } => model.micros = due.map_or(model.micros, |due| due.micros().into()),
                ClockCommand::Restore(_) => unreachable!("never asked for above"),
            }
            prop_assert_eq!(i128::from(clock.now(host(time)).micros()), model.now());
        }
    }
}
