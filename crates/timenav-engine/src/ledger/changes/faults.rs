use serde::{Deserialize, Serialize};
use timenav_core::fault::Fault;
use timenav_core::ids::{FollowerName, UserId};

use super::Change;
use crate::ledger::payload::{FaultRecord, whose};

#[derive(Clone, Debug)]
pub(crate) struct FaultSaid {
    pub(crate) whose: (UserId, FollowerName),
    pub(crate) fault: Option<Fault>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FaultSaidRecord {
    user_id: String,
    follower: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<FaultRecord>,
}

impl Change for FaultSaid {
    const KIND: &'static str = "fault";
    type Record = FaultSaidRecord;

    fn record(&self) -> FaultSaidRecord {
        let Self { whose: (user_id, follower), fault } = self;
        let (user_id, follower) = (user_id.to_string(), follower.to_string());
        FaultSaidRecord { user_id, follower, fault: fault.as_ref().map(FaultRecord::of) }
    }

    fn of(record: FaultSaidRecord) -> Option<Self> {
        let FaultSaidRecord { user_id, follower, fault } = record;
        let fault = match fault {
            Some(fault) => Some(fault.fault()?),
            None => None,
        };
        Some(Self { whose: whose(&user_id, &follower)?, fault })
    }
}
