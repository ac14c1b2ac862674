//! Timelines that go over from one service to another: they arrive, and they leave.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use timenav_core::access::{Permissions, Role};
use timenav_core::clock::Clock;
use timenav_core::directory::Directory;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Adopted, AdoptedLayer, Frontier, HandedOver, Hash, RetentionPolicies, Sweep, VerifierKey};
use timenav_core::ledger::{decide_adoption, empty_root};
use timenav_core::permissions::{self, PermissionsSet};
use timenav_core::timers::{AdvanceState, Timers};

use super::access::check_level;
use super::advances::forget;
use super::timelines::check_new;
use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::changes::TimelineMade;
use crate::directory::DirectoryChange;
use crate::draft::{Done, Draft, Ledger};
use crate::head::{EndedTimeline, Fork, Head, Layer, Origin, TimelineKey, TimelineState};
use crate::json::json;
use crate::options::Options;
use crate::payload::{AdvanceEnded, ClockChanged, ClockRecord, DataErased, PermissionsTold};
use crate::refusal::Refusal;
use crate::rows::{SweepMark, SweepRow};
use crate::store::ArrivalCommit;
use crate::wall_clock::Host;

/// Go on with a timeline of another service, which was checked and is ready to be kept.
pub(crate) struct Adopt {
    /// The key that whoever adopts it trusts.
    pub(crate) key: VerifierKey,
    pub(crate) origin: String,
    pub(crate) bundle_sha256: Hash,
    pub(crate) checkpoint: String,
    pub(crate) root: Hash,
    /// Which users there are which here.
    pub(crate) map: BTreeMap<UserId, UserId>,
    pub(crate) arrived: Arrived,
    /// Under which numbers its rows are in the store. While this value is there, nobody gives them up.
    pub(crate) arrival: Arc<InHand>,
}

/// A bundle that is arriving or has arrived, which somebody goes on with.
#[derive(Debug)]
pub(crate) struct InHand {
    pub(crate) arrival: ArrivalCommit,
    /// What this service has in hand.
    pub(crate) all: Arc<Mutex<BTreeSet<String>>>,
}

impl Drop for InHand {
    /// What stands by now has no mark any more; everything else is cleared away by [`Engine::tend`](crate::Engine::tend).
    fn drop(&mut self) {
        self.all.lock().remove(&self.arrival.arrival);
    }
}

/// Entries that go before those of what is told again: `adopt`, `pause_time` and `set_access_control`.
pub(crate) const ENTRIES_OF_ADOPTION: u64 = 3;

/// Everything that is kept of what a bundle holds.
pub(crate) struct Arrived {
    /// The timelines that it goes on from, by their names there, the oldest first.
    pub(crate) layers: Vec<(TimelineId, Ready)>,
    /// The timeline itself.
    pub(crate) own: Ready,
    /// What later entries at the other service said of the layers, as it is told again: payloads of `layer_erased`, and the
    /// layer that each is about.
    pub(crate) erasures: Vec<(TimelineId, String)>,
}

/// What an entry of the other service told after those that arrived, and is told again here: why something of them is gone.
pub(crate) struct ToldLater {
    /// When it was told there.
    pub(crate) recorded_at: Host,
    pub(crate) told: Told,
}

pub(crate) enum Told {
    Erasure(DataErased),
    Sweep(Sweep<'static>),
}

impl ToldLater {
    /// Returns whether an event stood that was erased by it.
    pub(crate) fn took_an_event(&self) -> bool {
        matches!(&self.told, Told::Erasure(erased) if erased.is_event() && !erased.cancelled)
    }
}

/// What the end of a timeline says of its earlier rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Amended {
    /// By how many fewer events stand from an entry on.
    pub(crate) fewer: BTreeMap<u64, i64>,
    /// Sealed records that an entry erased which is told again: their positions, and that of this entry.
    pub(crate) data_erased: BTreeMap<u64, u64>,
}

/// What a timeline that comes from elsewhere is after its last entry.
pub(crate) struct Ready {
    pub(crate) frontier: Frontier,
    /// The entry that tells of the clock.
    pub(crate) clock_entry: u64,
    pub(crate) anchors_count: u64,
    pub(crate) data_count: u64,
    /// What its end says of its rows, where these are made again.
    pub(crate) amended: Amended,
    /// The clock after the last entry.
    pub(crate) clock: Clock,
    /// Who might do what there.
    pub(crate) permissions: Permissions,
    /// How many events stand.
    pub(crate) events_count: u64,
    pub(crate) created_at: Host,
    /// When the last entry was recorded.
    pub(crate) recorded_at: Host,
    /// Whose entries come first, if it was adopted there.
    pub(crate) origins: Vec<Origin>,
    /// How long reads and refusals were kept there, and are here until somebody says otherwise.
    pub(crate) policies: RetentionPolicies,
    /// How many inherited events were changed.
    pub(crate) overrides_count: u64,
    /// What is known of timers.
    pub(crate) timers: Timers,
    /// What is told again.
    pub(crate) later: Vec<ToldLater>,
    /// Of a layer: how many entries after those that arrived say why something of these is gone, and are told again here.
    pub(crate) erased_later: u64,
    /// Whether no later entry says that, so that all which stood is known.
    pub(crate) is_known: bool,
}

impl Asking for Adopt {
    fn action(&self) -> Action {
        Action::Adopt
    }

    fn aim(&self) -> Aim {
        Aim::NewTimeline
    }

    fn events_count(&self) -> usize {
        self.arrived.own.later.len() + self.arrived.erasures.len()
    }
}

impl Deciding for Adopt {
    type Change = TimelineMade;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimelineMade>, Refusal> {
        let id = draft.timeline().clone();
        let Arrived { layers, own: ready, erasures } = &self.arrived;
        let arrival = &self.arrival.arrival;
        let Some((key, of_layers)) = arrival.timelines.split_last().filter(|(_, of)| of.len() == layers.len()) else {
            return Err(Refusal::Damaged("the bundle did not arrive as the timelines that it has".to_owned()));
        };
        let now = draft.now();
        self.arrived.check((&self.key, &self.origin, &id), now, draft.options())?;
        if draft.look(&id).is_some() {
            return Err(Refusal::NotMerged { timeline_id: id.to_string() });
        }
        let created_by = check_new(draft, 1 + layers.len())?;
        let permissions = permissions_here(draft.directory(), &self.map, &ready.permissions, &created_by)?;
        check_level(&permissions, draft.level())?;
        let host = now.max(ready.recorded_at);
        let clock = ready.clock.arrived(ready.recorded_at, host);
        // A clock that stands at a moment is a way to go there.
        draft.admit_clock(&clock.moment(host), clock.rate())?;
        let payload = self.payload();
        let system = draft.system()?;
        let host_of_system = draft.host(system);
        draft.append(system, Action::Adopt, id.as_str(), payload.clone(), host_of_system);
        let inherited = self.keep_layers(draft, of_layers, &id, host_of_system);

        let was_moving = ready.clock.is_running() || ready.timers.advance.is_some();
        let state = self.state((*key, &id), inherited, created_by, clock);
        let ledger = draft.arrived_ledger(arrival.clone(), state);
        draft.step_mut(ledger).policies.extend_from_slice(ready.policies.as_slice());
        draft.append(ledger, Action::Adopt, id.as_str(), payload, host);

        // What counts from here on is told by entries as everybody reads them.
        let head = &mut draft.state_mut(ledger).head;
        let advance = head.timers.advance.clone();
        let reached = head.clock.now(host);
        let ended = advance.as_ref().map(|advance| AdvanceEnded::of(advance, AdvanceState::Stopped, reached, None));
        head.clock.generation += u64::from(was_moving);
        head.clock_entry = head.frontier.size();
        let clock = ClockRecord::of(&head.clock);
        let paused = json(&ClockChanged {
            clock,
            changed: was_moving,
            duration: None,
            anchor_id: None,
            advance: None,
            ended: ended.clone(),
        });
        let position = draft.append(ledger, Action::PauseTime, "clock", paused, host);
        if let (Some(advance), Some(ended)) = (advance, ended) {
            forget(draft, ledger, &advance, &ended, position);
        }
        let set = PermissionsSet(permissions);
        let lists = json(&PermissionsTold::of(&set));
        permissions::apply(Arc::make_mut(&mut draft.state_mut(ledger).head.permissions), &set);
        let mut position = draft.append(ledger, Action::SetAccessControl, "permissions", lists, host);
        for later in &ready.later {
            position = tell_again(draft, ledger, later, host.max(later.recorded_at));
        }
        for (layer, payload) in erasures {
            let host = draft.host(ledger);
            position = draft.append(ledger, Action::LayerErased, layer.as_str(), payload.clone(), host);
        }
        Ok(draft.done(ledger, position, TimelineMade { expires_at: None }))
    }
}

/// Tells what an entry at the other service told after those that arrived. Its content is gone already.
fn tell_again(draft: &mut Draft<'_>, ledger: Ledger, later: &ToldLater, host: Host) -> u64 {
    match &later.told {
        Told::Erasure(erased) => {
            let head = &mut draft.state_mut(ledger).head;
            head.events_count = head.events_count.saturating_sub(u64::from(later.took_an_event()));
            let subject = erased.event_id.as_ref().or(erased.data_id.as_ref());
            draft.append(ledger, Action::EraseData, subject.map_or("", String::as_str), json(erased), host)
        }
        Told::Sweep(sweep) => {
            let sweep = Sweep { asked_by: Cow::Borrowed(draft.actor().name()), ..sweep.clone() };
            let payload = String::from_utf8_lossy(&sweep.encode()).into_owned();
            let position = draft.append(ledger, Action::Sweep, sweep.class.as_str(), payload, host);
            let mark = SweepMark { policy: sweep.policy, class: sweep.class, until: sweep.policy + 1 };
            draft.step_mut(ledger).sweeps.push(SweepRow { position, mark });
            position
        }
    }
}

impl Arrived {
    /// Refuses what may not be adopted here by what it says of itself, or by how much there is of it: another service may
    /// be configured to allow more.
    pub(crate) fn check(
        &self,
        (key, origin, id): (&VerifierKey, &str, &TimelineId),
        now: Host,
        options: &Options,
    ) -> Result<(), Refusal> {
        let max = options.data_records_per_timeline_max;
        for arrived in self.layers.iter().map(|(_, layer)| layer).chain([&self.own]) {
            decide_adoption(key, origin, id, arrived.recorded_at, now)
                .map_err(|refusal| Refusal::invalid("bundle", refusal.to_string()))?;
            if arrived.data_count > max as u64 {
                let what = "sealed records on a timeline of the bundle, erased ones among them";
                return Err(Refusal::LimitReached { what, max });
            }
        }
        Ok(())
    }
}

/// Returns who may do what here: whoever adopts the timeline, and the users here that were named, what those there might,
/// for as long as they might.
pub(crate) fn permissions_here(
    directory: &Directory,
    map: &BTreeMap<UserId, UserId>,
    before: &Permissions,
    adopter: &UserId,
) -> Result<Permissions, Refusal> {
    let mut permissions = Permissions::of_creator(adopter.clone());
    for (theirs, ours) in map {
        if !directory.users.contains_key(ours) {
            return Err(Refusal::invalid("map", format!("there is no user `{ours}` here")));
        }
        if !before.names(theirs) {
            let detail = format!("`{theirs}` had no role on the timeline there, so there is nothing to map");
            return Err(Refusal::invalid("map", detail));
        }
        for role in Role::ALL {
            // Whoever adopts it administers it for good. Where two become one, they have what lasts longest.
            let end = before.ends.of(role).get(theirs).copied();
            let here = permissions.list(role).contains(ours).then(|| permissions.ends.of(role).get(ours).copied());
            if before.list(role).contains(theirs) {
                let end = here.map_or(end, |here| here.zip(end).map(|(here, end)| here.max(end)));
                permissions.put(role, ours.clone(), end);
            }
        }
    }
    Ok(permissions)
}

impl Adopt {
    fn payload(&self) -> String {
        let adopted = Adopted {
            bundle_sha256: self.bundle_sha256,
            checkpoint: Cow::Borrowed(&self.checkpoint),
            layers: self.layers_told(),
            map: self.map.clone(),
            origin: Cow::Borrowed(&self.origin),
            root: self.root,
            size: self.arrived.own.frontier.size(),
        };
        String::from_utf8_lossy(&adopted.encode()).into_owned()
    }

    fn layers_told(&self) -> Vec<AdoptedLayer> {
        let told = |(timeline_id, layer): &(TimelineId, Ready)| AdoptedLayer {
            erased_later: layer.erased_later,
            root: layer.frontier.root(),
            size: layer.frontier.size(),
            timeline_id: timeline_id.clone(),
        };
        self.arrived.layers.iter().map(told).collect()
    }

    /// Keeps the timelines that the fork goes on from. From the start they are among those that have ended: nobody names
    /// them, writes to them or goes on from them, and what they hold goes once no timeline reads it. Returns what the fork
    /// goes on from.
    fn keep_layers(
        &self,
        draft: &mut Draft<'_>,
        keys: &[TimelineKey],
        fork: &TimelineId,
        ended_at: Host,
    ) -> Inheritance {
        let mut inherited = Inheritance::default();
        for (((name, ready), told), key) in self.arrived.layers.iter().zip(self.layers_told()).zip(keys.iter().copied())
        {
            let overrides = ready.overrides_count > 0;
            let id = TimelineId::layer_of(fork, name);
            draft.change_directory(DirectoryChange::EndTimeline(EndedTimeline {
                key,
                id: id.clone(),
                size: told.size,
                root: told.root,
                ended_at,
                fork: inherited.fork.map(|(fork, _)| fork),
                overrides,
                due_at: ended_at,
                is_let_go: false,
            }));
            inherited.ancestors.push(Layer { timeline: key, as_of: told.size, overrides });
            inherited.lineage.push(id);
            inherited.fork = Some((Fork { of: key, size: told.size }, told.root));
        }
        inherited
    }

    /// Returns the timeline as it arrives, up to the entry that says so.
    fn state(
        &self,
        (key, id): (TimelineKey, &TimelineId),
        inherited: Inheritance,
        created_by: UserId,
        clock: Clock,
    ) -> TimelineState {
        let ready = &self.arrived.own;
        let Inheritance { ancestors, lineage, fork } = inherited;
        let (fork, fork_root) = fork.unzip();
        let stood = ready.later.iter().filter(|later| later.took_an_event()).count() as u64;
        let frontier = ready.frontier.clone();
        let size = frontier.size();
        let own = Origin { end: size, origin: self.origin.clone() };
        let head = Head {
            key,
            id: id.clone(),
            created_at: ready.created_at,
            clock,
            permissions: Arc::new(Permissions::of_creator(created_by.clone())),
            frontier,
            carried_note: Arc::default(),
            recorded_at: ready.recorded_at,
            events_count: ready.events_count + stood,
            anchors_count: ready.anchors_count,
            clock_entry: ready.clock_entry,
            fork,
            overrides_count: ready.overrides_count,
            created_by,
            data_count: ready.data_count,
            directory: 0,
            statement: Arc::from([]),
            origins: ready.origins.iter().cloned().chain([own]).collect(),
            is_handed_over: false,
            expires_at: None,
            retention: Arc::new(ready.policies.clone()),
            timers: Arc::new(ready.timers.arrived(size)),
        };
        TimelineState {
            head,
            root: empty_root(),
            fork_root,
            ancestors: ancestors.into(),
            lineage: lineage.into(),
            events_changed_at: size,
            directory_root: None,
            note: OnceLock::new(),
        }
    }
}

/// What a fork goes on from: layers and their names, the oldest first, and the last of them with its root.
#[derive(Default)]
struct Inheritance {
    ancestors: Vec<Layer>,
    lineage: Vec<TimelineId>,
    fork: Option<(Fork, Hash)>,
}

/// Let a timeline go on at another service, and write nothing to it here any more.
pub(crate) struct HandOver;

impl Asking for HandOver {
    fn action(&self) -> Action {
        Action::HandedOver
    }

    fn aim(&self) -> Aim {
        Aim::Timeline
    }
}

impl Deciding for HandOver {
    type Change = TimelineMade;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimelineMade>, Refusal> {
        if *draft.timeline() == TimelineId::main() {
            let detail = "every service has its own `main`, so no other could adopt this one: fork it under another \
                          name, and hand over the fork";
            return Err(Refusal::invalid("timeline_id", detail));
        }
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let asked_by = draft.actor().name();
        let frontier = &draft.state(ledger).head.frontier;
        let (root, size) = (frontier.root(), frontier.size());
        let payload = HandedOver { asked_by: Cow::Borrowed(asked_by), root, size }.encode();
        let payload = String::from_utf8_lossy(&payload).into_owned();
        let timeline = draft.timeline();
        let position = draft.append(ledger, Action::HandedOver, timeline.as_str(), payload, host);
        draft.state_mut(ledger).head.is_handed_over = true;
        Ok(draft.done(ledger, position, TimelineMade { expires_at: None }))
    }
}
