//! Injected clock faults: one follower sees a wrong clock, all others the correct one.

use crate::schema::ToSchema;
use serde::{Deserialize, Deserializer, Serialize};
use timenav_core::fault::{Fault, FaultError, FaultWritten};
use timenav_core::ids::{FollowerId, TimelineId};
use timenav_engine::{Answer, FaultOutcome, FaultRequest, Refusal};

use crate::request::call::Change;
use crate::request::params::InPath;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::timeline;
use crate::wire::{self, Text};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/followers/{follower_id}/fault",
            "set_fault",
            "Sets or clears the clock error of a follower",
            set_fault,
        )
        .takes::<SetFaultRequest>()
        .gives::<FaultSetBody>()
        .tag("clock"),
    ]
}

/// The clock error of a follower.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetFaultRequest {
    /// The clock error; `null` removes it.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<FaultBody>, required = true)]
    fault: Option<FaultBody>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The error of a clock. At least one of `offset`, `drift_ppm`, `jitter` and `leap` is required.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultBody {
    /// How far the clock is ahead, as a duration without months, or in `ms` or `us`; with `-`, how far it lags. Jumps
    /// and pauses do not change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "short-length", example = "2s")]
    offset: Option<String>,
    /// The drift in parts per million, from -100000 to 100000: positive if the clock is fast, negative if it is slow.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "wire::number")]
    #[schema(minimum = -100_000, maximum = 100_000, example = 200)]
    drift_ppm: Option<i64>,
    /// The maximum jitter in host time, in the form of `offset`, up to `250ms`. Each second has another value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "short-length", example = "5ms")]
    jitter: Option<String>,
    /// The seed of the jitter: the same seed gives the same values. Needs `jitter`. Defaults to 0.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "wire::number")]
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64, example = 7)]
    jitter_seed: Option<u64>,
    /// The slew from the correct time to the offset, in parts per million of virtual time, from 1 to 100000. Needs
    /// `offset`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "wire::number")]
    #[schema(minimum = 1, maximum = 100_000, example = 500)]
    slew_ppm: Option<i64>,
    /// The slew in parts per million from the offset back to the correct time. Instead of `slew_ppm`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "wire::number")]
    #[schema(minimum = 1, maximum = 100_000)]
    slew_back_ppm: Option<i64>,
    /// A leap second that other clocks do not have: `insert@` and the second to repeat, or `delete@` and the second to
    /// skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "leap-second", example = "insert@2028-12-31T23:59:59Z")]
    leap: Option<String>,
    /// The virtual time over which the leap second is smeared, from `10s` to `10d`. Needs `leap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "short-length", example = "24h")]
    leap_smear: Option<String>,
}

/// The clock error of all followers with one user and name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FaultSetBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The name of the followers.
    name: String,
    /// The user of the followers.
    user_id: String,
    /// The clock error. Absent if the clock is correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultBody>,
    /// The place of the change in the ledger.
    ledger: LedgerBody,
}

async fn set_fault(
    InPath(follower_id): InPath,
    Change { app, caller, idempotency, request, .. }: Change<SetFaultRequest>,
) -> Result<Changed<FaultSetBody>, Failure> {
    let fault = request.fault.map(FaultBody::fault).transpose()?;
    let missing = |_| Refusal::NotFound { what: "follower", id: follower_id.clone() };
    let follower_id = FollowerId::new(&follower_id).map_err(missing)?;
    let engine_request = FaultRequest { timeline: timeline(request.timeline_id), follower_id, fault };
    let Answer { timeline_id, change, ledger, replayed } =
        app.engine.set_fault(&caller, engine_request, idempotency).await?;
    let FaultOutcome { user_id, follower, fault } = change;
    let phrase = if fault.is_some() { "with the error in `fault`" } else { "without an error" };
    let body = FaultSetBody {
        status: format!("`{follower}` shows the clock of `{timeline_id}` {phrase}."),
        timeline_id: timeline_id.to_string(),
        name: follower.to_string(),
        user_id: user_id.to_string(),
        fault: fault.as_ref().map(FaultBody::of),
        ledger: ledger.into(),
    };
    Ok(Changed::ok(body, replayed))
}

/// Reads a required member that may be null.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FaultBody>, D::Error> {
    Option::deserialize(deserializer)
}

impl FaultBody {
    pub(crate) fn of(fault: &Fault) -> Self {
        let FaultWritten { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear } =
            fault.written();
        Self { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear }
    }

    fn fault(self) -> Result<Fault, Failure> {
        let Self { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear } = self;
        let written =
            FaultWritten { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear };
        let fault = written
            .fault()
            .map_err(|FaultError { member, detail }| Failure::invalid(format!("fault/{member}"), detail))?;
        if fault.is_none() {
            let detail = "give the clock error, such as {\"offset\": \"2s\"}, or null to clear it";
            return Err(Failure::invalid("fault", detail));
        }
        Ok(fault)
    }
}
