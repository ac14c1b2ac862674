use serde::{Deserialize, Serialize};
use timenav_core::fault::Fault;
use timenav_core::ids::{FollowerName, UserId};

use super::Change;
use crate::ledger::payload::{FaultRecord, whose};

#[derive(Clone, Debug)]
pub(crate) struct FaultOutcome {
    pub(crate) whose: (UserId, FollowerName),
    pub(crate) fault: Option<Fault>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FaultOutcomeRecord {
    user_id: String,
    follower: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<FaultRecord>,
}

impl Change for FaultOutcome {
    const KIND: &'static str = "fault";
    type Record = FaultOutcomeRecord;

    fn record(&self) -> FaultOutcomeRecord {
        let Self { whose: (user_id, follower), fault } = self;
        let (user_id, follower) = (user_id.to_string(), follower.to_string());
        FaultOutcomeRecord { user_id, follower, fault: fault.as_ref().map(FaultRecord::of) }
    }

    fn of(record: FaultOutcomeRecord) -> Option<Self> {
        let FaultOutcomeRecord { user_id, follower, fault } = record;
        let fault = match fault {
            Some(fault) => Some(fault.fault()?),
            None => None,
        };
        Some(Self { whose: whose(&user_id, &follower)?, fault })
    }
}
