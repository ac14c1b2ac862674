use timenav_core::access::Permissions;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Adopted, AdoptedLayer, HandedOver, Hash, LeafRecord};
use timenav_core::scan::FindingKind;
use timenav_core::time::{Instant, Wall};

use super::signing_keys::SigningKeys;
use super::timelines::{Ended, ForkedFrom};
use super::{Followed, Replay};
use crate::ledger::action::Action;
use crate::ledger::head::Origin;

impl Replay {
    /// Applies an adoption. The entries before it were recorded up to a host time.
    pub(super) fn adopted(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        (before, recorded_at): (Option<Instant<Wall>>, Instant<Wall>),
        payload: Option<&[u8]>,
    ) -> Option<Followed> {
        let parsed = Adopted::decode(payload?).ok()?;
        if self.timeline_id == TimelineId::SYSTEM {
            self.directory.take(Action::Adopt, record, recorded_at, payload)?;
            let timeline = TimelineId::new(&record.subject).ok()?;
            let mut fork = None;
            for AdoptedLayer { root, size, timeline_id, .. } in parsed.layers {
                let layer = TimelineId::layer_of(&timeline, &timeline_id);
                let of_next = ForkedFrom { of: Some(layer.clone()), size };
                self.ended.insert(layer, Ended { size, root, at: recorded_at, fork: fork.replace(of_next) });
            }
            self.forked.extend(fork.map(|fork| (timeline.clone(), fork)));
            self.timelines.insert(timeline);
            return Some(Followed::State);
        }
        self.origins.push(Origin { end: position, origin: parsed.origin.into_owned() });
        self.handed_over = None;
        self.timers.adopted(position);
        // Its expiry at the other service does not apply here.
        self.expires_at = None;
        self.first_actor = Some(record.actor.to_string());
        self.permissions = Some(Permissions::of_creator(UserId::new(&record.actor).ok()?));
        // The keys of the other service are in entries under its name.
        self.signing_keys = SigningKeys::default();
        if let (Some(clock), Some(before)) = (&mut self.clock, before) {
            *clock = clock.arrived(before, recorded_at);
        }
        Some(Followed::State)
    }

    pub(super) fn hand_over(&mut self, position: u64, payload: &[u8]) -> Option<()> {
        let handed_over = HandedOver::decode(payload).ok()?;
        self.check_size(position, handed_over.size);
        self.handed_over = Some(position);
        Some(())
    }

    /// After a handover, only the service itself may record key rotations and accepted rollbacks.
    pub(super) fn check_handed_over(&mut self, record: &LeafRecord<'_>, position: u64) {
        let Some(handed_over) = self.handed_over.filter(|handed_over| *handed_over < position) else { return };
        if !matches!(Action::of(record), Some(Action::RotateSigningKey | Action::AcceptRollback)) {
            let evidence = format!("the entry at position {handed_over} says that the timeline was handed over");
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
    }

    pub(in crate::integrity::scan) fn compare_adopted(&mut self, position: u64, payload: Option<&[u8]>, root: Hash) {
        let adopted = payload.and_then(|payload| Adopted::decode(payload).ok());
        let Some(adopted) = adopted.filter(|_| self.timeline_id != TimelineId::SYSTEM) else { return };
        self.check_size(position, adopted.size);
        if adopted.root != root {
            let evidence = format!("the entry says the root before it is {:?}, but it is {root:?}", adopted.root);
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
    }

    fn check_size(&mut self, position: u64, size: u64) {
        if size != position {
            let evidence = format!("the entry says there are {size} before it");
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
    }
}
