use timenav_core::ids::TimelineId;
use timenav_core::ledger::LeafRecord;
use timenav_core::scan::{FindingKind, ReadBy};
use timenav_core::time::{Instant, Wall};

use super::Replay;
use crate::integrity::scan::authority::{Claim, check};

impl Replay {
    /// Checks the authorization of an entry of version 2. Requires a replay from the first entry.
    pub(super) fn check_authority(
        &mut self,
        record: &LeafRecord<'_>,
        (position, recorded_at): (u64, Instant<Wall>),
        (payload, readers): (Option<&[u8]>, Option<&[ReadBy]>),
    ) {
        let is_system = self.timeline_id == TimelineId::SYSTEM;
        let is_checked = self.from_the_start && self.blind.is_none() && position >= self.decided_from;
        let Some(authority) = record.authority.as_ref().filter(|_| is_checked) else { return };
        let own = is_system.then(|| self.directory.powers());
        let Some(powers) = own.or(self.powers.as_deref()) else { return };
        let claim = Claim {
            record,
            authority,
            recorded_at,
            is_of_host: self.recorded_at.is_none_or(|before| before < recorded_at),
            payload,
            readers,
            permissions: self.permissions.as_ref().filter(|_| !is_system),
        };
        let checked = if is_system { self.directory.check_version(record) } else { Ok(()) };
        if let Err(evidence) = checked.and_then(|()| check(powers, &claim)) {
            self.findings.add(FindingKind::UnauthorizedEntry, Some(position), evidence);
        }
        self.authorities_count += 1;
    }
}
