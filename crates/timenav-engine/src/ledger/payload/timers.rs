use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use timenav_core::time::{Instant, Wall, parse_timestamp, zone_tables_version};
use timenav_core::timers::{Advance, Counts, Misfire, PreviousState, Repeating, RuleSource, Schedule, Timers};

use super::faults::{FaultOf, faults_of, faults_record};
use super::timer_record::{TimerRecord, TimerStateRecord, is_zero};
use super::{AdvanceBegun, AdvanceEnded, ClockRecord};
use crate::ports::timer_rows::TimerRow;
use crate::requests::json::{json, read};
use crate::requests::stored::try_map;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScheduleRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every: Option<EveryRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cron: Option<CronRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    misfire: Option<String>,
    #[serde(default, skip_serializing_if = "super::parts::is_not")]
    catch_up: bool,
    /// The version of the time zone tables that the first due time was computed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tables: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct EveryRecord {
    rule: String,
    starts: String,
    zone: String,
    /// The last due time of a rule with `COUNT`. Absent in entries of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CronRecord {
    expression: String,
    zone: String,
}

impl ScheduleRecord {
    pub(crate) fn of(schedule: &Schedule) -> Self {
        let nothing = Self { at: None, every: None, cron: None, misfire: None, catch_up: false, tables: None };
        let repeating = match schedule {
            Schedule::At(at) => return Self { at: Some(at.to_string()), ..nothing },
            Schedule::Repeating(repeating) => repeating,
        };
        let (misfire, tables) = (repeating.misfire.as_str().to_owned(), zone_tables_version().to_owned());
        let (misfire, tables, catch_up) = (Some(misfire), Some(tables), repeating.catch_up);
        let nothing = Self { misfire, catch_up, tables, ..nothing };
        match &repeating.source {
            RuleSource::Every { rule, starts, zone } => {
                let last = repeating.rule.last_of_count().map(|last| last.to_string());
                let every = EveryRecord { rule: rule.clone(), starts: starts.to_string(), zone: zone.clone(), last };
                Self { every: Some(every), ..nothing }
            }
            RuleSource::Cron { expression, zone } => {
                Self { cron: Some(CronRecord { expression: expression.clone(), zone: zone.clone() }), ..nothing }
            }
        }
    }

    pub(crate) fn schedule(&self) -> Option<Schedule> {
        let mut last_of_count = None;
        let source = match (&self.at, &self.every, &self.cron) {
            (Some(at), None, None) => return Some(Schedule::At(parse_timestamp(at).ok()?)),
            (None, Some(EveryRecord { rule, starts, zone, last }), None) => {
                last_of_count = last.as_deref().map(parse_timestamp).transpose().ok()?;
                RuleSource::Every { rule: rule.clone(), starts: parse_timestamp(starts).ok()?, zone: zone.clone() }
            }
            (None, None, Some(CronRecord { expression, zone })) => {
                RuleSource::Cron { expression: expression.clone(), zone: zone.clone() }
            }
            _ => return None,
        };
        let misfire = Misfire::parse(self.misfire.as_deref()?)?;
        Some(Schedule::Repeating(Box::new(Repeating::stored(source, misfire, self.catch_up, last_of_count).ok()?)))
    }
}

pub(crate) fn schedule_of(timer: &TimerRow) -> Option<Schedule> {
    read::<ScheduleRecord>(timer.schedule.as_bytes())?.schedule()
}

/// Payload of `set_timer` and `change_timer`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TimerSet<'a> {
    #[serde(borrow)]
    timer: TimerRecord<'a>,
    /// The entry that set the timer, if this one changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    round: u32,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    was: Option<Box<TimerStateRecord<'a>>>,
    /// The last entry before that changed timers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
}

impl<'a> TimerSet<'a> {
    /// Includes the previous state if the entry changes the timer. `None` if a part of the rows is not JSON.
    pub(crate) fn of(row: &'a TimerRow, was: Option<&'a TimerRow>, before: Option<u64>) -> Option<Self> {
        let previous = try_map(was, |was| TimerStateRecord::of(was, true).map(Box::new))?;
        Some(Self {
            timer: TimerRecord::of(row)?,
            position: was.map(|was| was.position),
            next: row.next.map(|next| next.to_string()),
            round: row.round,
            was: previous,
            before,
        })
    }

    pub(crate) const fn changes(&self) -> Option<u64> {
        self.position
    }

    /// Returns whether the entry changes the schedule, which also begins another round.
    pub(crate) fn has_another_schedule(&self) -> bool {
        self.was.as_ref().is_some_and(|was| was.round() != self.round)
    }

    pub(crate) fn schedule(&self) -> &'a str {
        self.timer.schedule()
    }

    pub(crate) fn previous_state(&self) -> Option<PreviousState<TimerRow>> {
        self.was.as_ref()?.previous_state(self.position?)
    }

    pub(crate) const fn before(&self) -> Option<u64> {
        self.before
    }

    pub(crate) fn row(&self, position: u64, set_by: &str, set_at: Instant<Wall>) -> Option<TimerRow> {
        let row = self.timer.row(position, set_by, set_at)?;
        Some(TimerRow { next: self.next.as_deref().map(parse_timestamp).transpose().ok()?, round: self.round, ..row })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TimerCancelled {
    pub(crate) timer_id: String,
    pub(crate) position: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
}

/// A firing: the timer, the due time, the round, and the timer's next due time.
pub(crate) type FiredRecord = (u64, i64, u32, Option<i64>);

/// Skipped due times of a rule: the timer, the first, the last, and the timer's next due time.
pub(crate) type SkippedRecord = (u64, i64, i64, Option<i64>);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TimersFired {
    /// The clock, if an advance reached another instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<ClockRecord>,
    /// The advance, and how many instants it has reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) advance_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<u64>,
    pub(crate) fired: Vec<FiredRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped: Vec<SkippedRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
}

/// An outcome: the timer, the due time, the round, the state, and the reason.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OutcomeOfFiring {
    pub(crate) firing_id: String,
    pub(crate) timer: u64,
    pub(crate) due: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) round: u32,
    pub(crate) outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FiringsSettled {
    pub(crate) outcomes: Vec<OutcomeOfFiring>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
}

/// Payload of `end_advance`.
#[derive(Serialize, Deserialize)]
pub(crate) struct AdvanceOver {
    pub(crate) clock: ClockRecord,
    pub(crate) changed: bool,
    pub(crate) ended: AdvanceEnded,
}

#[derive(Deserialize)]
pub(crate) struct AdvancePayload {
    pub(crate) advance: Option<AdvanceBegun>,
    pub(crate) ended: Option<AdvanceEnded>,
}

#[derive(Serialize, Deserialize)]
struct TimersRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
    armed: u64,
    pending: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    advance: Option<AdvanceRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<u64>,
    #[serde(default, skip_serializing_if = "super::parts::is_nothing")]
    base: u64,
    #[serde(default, skip_serializing_if = "super::parts::is_not")]
    webhooks: bool,
    /// Absent if equal to `base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sends_from: Option<u64>,
    /// Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultOf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults_changed: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct AdvanceRecord {
    #[serde(flatten)]
    begun: AdvanceBegun,
    position: u64,
    step: u64,
    stepped: u64,
    held_since: i64,
    at_instant: u64,
    open: u64,
    fired: u64,
    acknowledged: u64,
    failed: u64,
}

/// The summary of a timeline without timers, shared by all of them.
static UNUSED: LazyLock<Arc<Timers>> = LazyLock::new(Arc::default);

/// Returns the stored form of a timeline's timer summary, for [`read_timers`]. Empty if there were never any timers.
#[must_use]
pub fn timers_text(timers: &Timers) -> String {
    if std::ptr::eq(timers, Arc::as_ptr(&UNUSED)) || *timers == **UNUSED {
        return String::new();
    }
    let advance = timers.advance.as_ref().map(|advance| AdvanceRecord {
        begun: AdvanceBegun::of(advance),
        position: advance.position,
        step: advance.step,
        stepped: advance.stepped,
        held_since: advance.held_since.micros(),
        at_instant: advance.at_instant,
        open: advance.open,
        fired: advance.counts.fired,
        acknowledged: advance.counts.acknowledged,
        failed: advance.counts.failed,
    });
    let Timers { next, armed, pending, last, base, webhooks, sends_from, faults, .. } = timers;
    let next = next.map(Instant::micros);
    json(&TimersRecord {
        next,
        armed: *armed,
        pending: *pending,
        advance,
        last: *last,
        base: *base,
        webhooks: *webhooks,
        sends_from: Some(*sends_from).filter(|from| from != base),
        faults: faults_record(faults),
        faults_changed: faults.changed,
    })
}

#[must_use]
pub fn read_timers(text: &str) -> Option<Arc<Timers>> {
    if text.is_empty() {
        return Some(Arc::clone(&UNUSED));
    }
    let TimersRecord { next, armed, pending, advance, last, base, webhooks, sends_from, faults, faults_changed } =
        read(text.as_bytes())?;
    let advance = try_map(advance, |record| {
        let begun = record.begun.advance(record.position, Instant::from_micros(record.held_since)?)?;
        let AdvanceRecord { step, stepped, at_instant, open, fired, acknowledged, failed, .. } = record;
        let counts = Counts { fired, acknowledged, failed };
        Some(Advance { step, stepped, at_instant, open, counts, ..begun })
    })?;
    let next = try_map(next, Instant::from_micros)?;
    let sends_from = sends_from.unwrap_or(base);
    let faults = faults_of(&faults)?.since(faults_changed).into();
    Some(Arc::new(Timers { next, armed, pending, advance, last, base, webhooks, sends_from, faults }))
}
