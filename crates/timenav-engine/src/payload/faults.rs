//! The payloads of clocks that are shown wrong on purpose.

use serde::{Deserialize, Serialize};
use timenav_core::fault::{Fault, FaultWritten, Faults};
use timenav_core::ids::{FollowerName, UserId};

/// Payload of `set_fault`.
#[derive(Serialize, Deserialize)]
pub(crate) struct FaultSet {
    /// Whose clock it is of: of all followers of this user with this name.
    pub(crate) user_id: String,
    pub(crate) follower: String,
    /// What is wrong with it since. Absent where it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<FaultRecord>,
    /// All that are wrong since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<FaultOf>,
    /// The position of the entry before it that said so on this timeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
}

/// Whose clock is wrong, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FaultOf {
    user_id: String,
    follower: String,
    fault: FaultRecord,
}

/// What is wrong with a clock, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drift_ppm: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jitter: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jitter_seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slew_ppm: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slew_back_ppm: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leap: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leap_smear: Option<String>,
}

impl FaultRecord {
    pub(crate) fn of(fault: &Fault) -> Self {
        let FaultWritten { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear } =
            fault.written();
        Self { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear }
    }

    /// Returns the fault, or `None` if it is one that no clock can have.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let Self { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear } = self.clone();
        let written =
            FaultWritten { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear };
        written.fault().ok().filter(|fault| !fault.is_none())
    }
}

/// Returns whose clocks are wrong, as it is written.
pub(crate) fn faults_record(faults: &Faults) -> Vec<FaultOf> {
    let record = |((user_id, follower), fault): (&(UserId, FollowerName), Fault)| FaultOf {
        user_id: user_id.to_string(),
        follower: follower.to_string(),
        fault: FaultRecord::of(&fault),
    };
    faults.iter().map(record).collect()
}

/// Reads what [`faults_record`] writes; `None` if it is something else.
pub(crate) fn faults_of(record: &[FaultOf]) -> Option<Faults> {
    let one = |of: &FaultOf| Some((whose(&of.user_id, &of.follower)?, of.fault.fault()?));
    record.iter().map(one).collect::<Option<Vec<_>>>().map(Faults::carried)
}

/// Reads whose clock it is.
pub(crate) fn whose(user_id: &str, follower: &str) -> Option<(UserId, FollowerName)> {
    Some((UserId::new(user_id).ok()?, FollowerName::new(follower).ok()?))
}
