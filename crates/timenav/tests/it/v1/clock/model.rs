//! The clock against a ten-line model, with random operations.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

use super::lasting;
use crate::support::http::{Answer, Request};
use crate::support::instant::{MAX, MIN, micros};
use crate::support::service::Service;

#[derive(Clone, Debug)]
enum Step {
    Travel { to_micros: i128, place: Option<u8> },
    Pause,
    Resume,
    Shift { by_micros: i128 },
    Rate { millionths: u64 },
}

#[derive(Clone, Debug)]
struct Model {
    host: i128,
    at: i128,
    rate: i128,
    running: bool,
    place: Option<String>,
    generation: u64,
}

impl Model {
    fn of(clock: &Value) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "rates are whole millionths")]
        let rate = (clock["rate"].as_f64().unwrap() * 1e6).round() as i128;
        Self {
            host: micros(clock["origin_host"].as_str().unwrap()),
            at: micros(clock["origin_virtual"].as_str().unwrap()),
            rate,
            running: clock["state"] == "running",
            place: clock["location"].as_str().map(str::to_owned),
            generation: clock["generation"].as_u64().unwrap(),
        }
    }

    fn now(&self, host: i128) -> i128 {
        let passed = if self.running { ((host - self.host) * self.rate).div_euclid(1_000_000) } else { 0 };
        (self.at + passed).clamp(MIN, MAX)
    }

    /// Returns the clock after a step at a host time, or `None` if the step is invalid.
    fn after(&self, step: &Step, host: i128) -> Option<Self> {
        let now = Self { host, at: self.now(host), generation: self.generation + 1, ..self.clone() };
        match step {
            Step::Travel { to_micros, place } => {
                let place = place.map(|place| format!("place {place}")).or_else(|| self.place.clone());
                Some(Self { at: *to_micros, place, ..now })
            }
            Step::Pause if !self.running => Some(self.clone()),
            Step::Pause => Some(Self { running: false, ..now }),
            Step::Resume if self.running => Some(self.clone()),
            Step::Resume => Some(Self { running: true, ..now }),
            Step::Shift { by_micros } => {
                let at = now.at + by_micros;
                (MIN..=MAX).contains(&at).then_some(Self { at, ..now })
            }
            Step::Rate { millionths } if i128::from(*millionths) == self.rate => Some(self.clone()),
            Step::Rate { millionths } => Some(Self { rate: i128::from(*millionths), ..now }),
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let far = prop_oneof![
        Just(MIN),
        Just(MAX),
        (-4_000_000_000_000_000_i64..4_000_000_000_000_000).prop_map(i128::from),
        (MIN..MAX).prop_map(|at| at)
    ];
    let length = prop_oneof![1_i64..10_000_000, 1_i64..100_000_000_000_000_000].prop_map(i128::from);
    let step = prop_oneof![
        2 => (far, proptest::option::of(0..3_u8)).prop_map(|(to_micros, place)| Step::Travel { to_micros, place }),
        1 => Just(Step::Pause),
        1 => Just(Step::Resume),
        2 => (length, any::<bool>()).prop_map(|(by, back)| Step::Shift { by_micros: if back { -by } else { by } }),
        1 => prop_oneof![Just(1_000_000), Just(1), 1..1_000_000_000_000_u64].prop_map(|millionths| Step::Rate { millionths }),
    ];
    proptest::collection::vec(step, 1..14)
}

/// Formats microseconds since 1970 as a timestamp with an offset that the service has to undo.
fn timestamp(at: i128) -> String {
    // The service parses seconds and fraction; the date is computed from a day count.
    let (days, rest) = (at.div_euclid(86_400_000_000), at.rem_euclid(86_400_000_000));
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let z = days + 719_468;
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    let year = if year < 0 { format!("-{:06}", -year) } else { format!("{year:04}") };
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z")
}

fn take(service: &Service, timeline: &str, step: &Step) -> Answer {
    let (path, mut body) = match step {
        Step::Travel { to_micros, place } => {
            let mut body = json!({ "destination_time": timestamp(*to_micros) });
            if let Some(place) = place {
                body["location"] = json!(format!("place {place}"));
            }
            ("/v1/travel", body)
        }
        Step::Pause => ("/v1/pause-time", json!({})),
        Step::Resume => ("/api/v1/resume-time", json!({})),
        Step::Shift { by_micros } => {
            let duration = format!("{}.{:06}s", by_micros.abs() / 1_000_000, by_micros.abs() % 1_000_000);
            (if *by_micros < 0 { "/v1/rewind" } else { "/v1/fast-forward" }, json!({ "duration": duration }))
        }
        Step::Rate { millionths } => {
            #[expect(clippy::cast_precision_loss, reason = "the largest rate is 1e12, well under 2^53")]
            let rate = *millionths as f64 / 1e6;
            ("/v1/set-rate", json!({ "rate": rate }))
        }
    };
    body["timeline_id"] = json!(timeline);
    service.send(Request::post(path).json(&body))
}

/// Performs the steps on a new timeline.
fn check(service: &Service, timeline: &str, steps: &[Step]) -> Result<(), TestCaseError> {
    service.post("/timelines", &json!({ "timeline_id": timeline }));
    let mut model = Model::of(&service.get("/v1/clock", &[("timeline_id", timeline)]));
    // A new clock runs at host time.
    let (rate, running) = (1_000_000, true);
    let new = Model { at: model.host, host: model.host, rate, running, place: None, generation: 0 };
    prop_assert_eq!(format!("{model:?}"), format!("{new:?}"));
    for step in steps {
        let answer = take(service, timeline, step);
        let read = service.get("/v1/clock", &[("timeline_id", timeline)]);
        if answer.status == 422 {
            // It was invalid at every host time in between.
            let shift = matches!(step, Step::Shift { .. });
            prop_assert!(shift, "{step:?}: {answer}");
            let host = micros(read["origin_host"].as_str().unwrap());
            prop_assert!(model.running || model.after(step, host).is_none(), "{step:?}: {answer}");
            prop_assert_eq!(read["generation"].as_u64(), Some(model.generation));
            continue;
        }
        prop_assert_eq!(answer.status, 200, "{:?}: {}", step, answer);
        let answer = answer.json();
        let Some(after) = model.after(step, micros(answer["origin_host"].as_str().unwrap())) else {
            return Err(TestCaseError::fail(format!("{step:?} leads out of the range: {answer}")));
        };
        let reported = Model::of(&answer);
        prop_assert_eq!(format!("{reported:?}"), format!("{after:?}"), "{:?}: {}", step, answer);
        prop_assert_eq!(lasting(&answer), lasting(&read), "{:?}", step);
        let (then, now) =
            (micros(answer["current_time"].as_str().unwrap()), micros(read["current_time"].as_str().unwrap()));
        if after.running {
            prop_assert!(then >= after.at && now >= then, "{step:?}: {answer} {read}");
        } else {
            prop_assert_eq!((then, now), (after.at, after.at), "{:?}", step);
        }
        model = after;
    }
    Ok(())
}

#[test]
fn clock_matches_its_model_in_random_operations() {
    let service = Service::start();
    let count = std::cell::Cell::new(0);
    let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
    .run(&steps(), |steps| {
        count.set(count.get() + 1);
        check(&service, &format!("case-{}", count.get()), &steps)
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    service.audit();
}

#[test]
fn model_timestamps_survive_a_round_trip() {
    for text in [
        "-009999-01-01T00:00:00Z",
        "0000-02-29T00:00:00Z",
        "1969-12-31T23:59:59.999999Z",
        "9999-12-31T23:59:59.999999Z",
    ] {
        let written = timestamp(micros(text));
        let plain = written.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
        let plain = if text.contains('.') {
            format!("{plain}Z")
        } else {
            format!("{}Z", &written[..written.find('.').unwrap()])
        };
        assert_eq!(plain, text);
    }
}
