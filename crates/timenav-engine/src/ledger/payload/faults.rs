use serde::{Deserialize, Serialize};
use timenav_core::fault::{Fault, FaultWritten, Faults};
use timenav_core::ids::{FollowerName, UserId};

use crate::requests::stored::Stored;

#[derive(Serialize, Deserialize)]
pub(crate) struct FaultSet {
    /// The user whose followers with the name `follower` have the fault.
    pub(crate) user_id: String,
    pub(crate) follower: String,
    /// The new fault. Absent if the clock is shown correctly again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<FaultRecord>,
    /// All faults after the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<FaultOf>,
    /// The position of the previous entry of this kind on the timeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FaultOf {
    user_id: String,
    follower: String,
    fault: FaultRecord,
}

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

    pub(crate) fn fault(&self) -> Option<Fault> {
        let Self { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear } = self.clone();
        let written =
            FaultWritten { offset, drift_ppm, jitter, jitter_seed, slew_ppm, slew_back_ppm, leap, leap_smear };
        written.fault().ok().filter(|fault| !fault.is_none())
    }
}

impl Stored for Fault {
    type Form = FaultRecord;

    fn form(&self) -> FaultRecord {
        FaultRecord::of(self)
    }

    fn of(record: FaultRecord) -> Option<Self> {
        record.fault()
    }
}

pub(crate) fn faults_record(faults: &Faults) -> Vec<FaultOf> {
    let record = |((user_id, follower), fault): (&(UserId, FollowerName), Fault)| FaultOf {
        user_id: user_id.to_string(),
        follower: follower.to_string(),
        fault: FaultRecord::of(&fault),
    };
    faults.iter().map(record).collect()
}

pub(crate) fn faults_of(record: &[FaultOf]) -> Option<Faults> {
    let one = |of: &FaultOf| Some((whose(&of.user_id, &of.follower)?, of.fault.fault()?));
    record.iter().map(one).collect::<Option<Vec<_>>>().map(Faults::carried)
}

pub(crate) fn whose(user_id: &str, follower: &str) -> Option<(UserId, FollowerName)> {
    Some((UserId::new(user_id).ok()?, FollowerName::new(follower).ok()?))
}
