use crate::schema::ToSchema;
use serde::{Deserialize, Serialize};
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Virtual, Zone};
use timenav_core::timers::{Misfire, Repeating, RepeatingError, RuleSource, Schedule};
use timenav_engine::ScheduleChange;

use crate::response::problem::Failure;
use crate::state::App;
use crate::wire::Text;

/// An iCalendar rule.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EveryRequest {
    /// An RRULE of RFC 5545, with `SKIP` of RFC 7529.
    #[schema(min_length = 1, max_length = 1_024, example = "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD")]
    rule: String,
    /// Start of the recurrence (DTSTART). Defaults to the clock's current time.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2027-01-31T09:00:00Z")]
    starts: Option<Text<ZonedInstant>>,
    /// The time zone of the rule. Defaults to the zone in brackets in `starts`, or to `UTC`.
    #[schema(min_length = 1, max_length = 64, example = "Europe/Paris")]
    zone: Option<String>,
}

/// A cron expression.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CronRequest {
    /// Five fields: minute, hour, day of month, month, weekday.
    #[schema(min_length = 1, max_length = 1_024, example = "0 9 * * MON-FRI")]
    expression: String,
    /// The time zone of its fields. Defaults to `UTC`.
    #[schema(min_length = 1, max_length = 64, example = "Europe/Paris")]
    zone: Option<String>,
}

/// Which moments of a rule fire if the clock jumps over several.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MisfirePolicy {
    /// Each fires.
    All,
    /// The last one fires.
    Once,
    /// None does.
    Skip,
}

impl MisfirePolicy {
    const fn read(self) -> Misfire {
        match self {
            Self::All => Misfire::All,
            Self::Once => Misfire::Once,
            Self::Skip => Misfire::Skip,
        }
    }
}

/// An iCalendar rule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EveryBody {
    /// The rule.
    rule: String,
    /// Start of the recurrence (DTSTART).
    starts: String,
    /// The time zone of the rule.
    zone: String,
}

/// A cron expression.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CronBody {
    /// The expression.
    expression: String,
    /// The time zone of its fields.
    zone: String,
}

/// A timestamp, with the named zone in its brackets.
pub(super) type ZonedInstant = (Instant<Virtual>, Option<Zone>);

pub(super) fn utc() -> String {
    "UTC".to_owned()
}

/// Returns an iCalendar rule. Its zone defaults to that of its start: `2027-01-31T09:00[Europe/Paris]`.
pub(super) fn every(
    rule: String,
    starts: Option<Text<ZonedInstant>>,
    zone: Option<String>,
    now: impl FnOnce() -> Instant<Virtual>,
) -> RuleSource {
    let (starts, zone_of_start) = starts.map_or_else(|| (now(), None), |starts| starts.0);
    let zone = zone.or_else(|| Some(zone_of_start?.name().to_owned())).unwrap_or_else(utc);
    RuleSource::Every { rule, starts, zone }
}

pub(super) struct When {
    pub(super) at: Option<Text<Instant<Virtual>>>,
    pub(super) every: Option<EveryRequest>,
    pub(super) cron: Option<CronRequest>,
    pub(super) misfire: Option<MisfirePolicy>,
}

impl When {
    pub(super) fn schedule(
        self,
        app: &App,
        timeline_id: &TimelineId,
        catch_up: bool,
    ) -> Result<Option<Schedule>, Failure> {
        let source = match (self.at, self.every, self.cron) {
            (None, None, None) => return Ok(None),
            (Some(_), None, None) if self.misfire.is_some() => {
                let detail = "a timer that fires once has no misfire policy; leave it out";
                return Err(Failure::invalid("misfire", detail));
            }
            (Some(at), None, None) => return Ok(Some(Schedule::At(at.0))),
            (None, Some(EveryRequest { rule, starts, zone }), None) => {
                let now = || app.engine.clock_after(timeline_id).map(|view| view.current_time);
                every(rule, starts, zone, || now().unwrap_or(Instant::EPOCH))
            }
            (None, None, Some(CronRequest { expression, zone })) => {
                RuleSource::Cron { expression, zone: zone.unwrap_or_else(utc) }
            }
            _ => return Err(Failure::invalid("at", "give one of `at`, `every` and `cron`")),
        };
        let misfire = self.misfire.map_or(Misfire::All, MisfirePolicy::read);
        let field = source.field();
        let repeating = Repeating::read(source, misfire, catch_up).map_err(|error| {
            let part = match (&error, field) {
                (RepeatingError::Zone(_), _) => "zone",
                (RepeatingError::Rule(_), "every") => "rule",
                (RepeatingError::Rule(_), _) => "expression",
            };
            Failure::invalid(format!("{field}/{part}"), error.to_string())
        })?;
        Ok(Some(Schedule::Repeating(Box::new(repeating))))
    }

    pub(super) fn change(self, app: &App, timeline_id: &TimelineId) -> Result<Option<ScheduleChange>, Failure> {
        let misfire = self.misfire;
        let schedule = self.schedule(app, timeline_id, false)?.map(ScheduleChange::To);
        Ok(schedule.or_else(|| misfire.map(|word| ScheduleChange::Misfire(word.read()))))
    }
}

pub(super) struct ScheduleFields {
    pub(super) at: Option<String>,
    pub(super) every: Option<EveryBody>,
    pub(super) cron: Option<CronBody>,
    pub(super) misfire: Option<&'static str>,
}

impl ScheduleFields {
    pub(super) fn of(schedule: Schedule) -> Self {
        let nothing = Self { at: None, every: None, cron: None, misfire: None };
        let repeating = match schedule {
            Schedule::At(at) => return Self { at: Some(at.to_string()), ..nothing },
            Schedule::Repeating(repeating) => *repeating,
        };
        let misfire = Some(repeating.misfire.as_str());
        match repeating.source {
            RuleSource::Every { rule, starts, zone } => {
                Self { every: Some(EveryBody { rule, starts: starts.to_string(), zone }), misfire, ..nothing }
            }
            RuleSource::Cron { expression, zone } => {
                Self { cron: Some(CronBody { expression, zone }), misfire, ..nothing }
            }
        }
    }
}
