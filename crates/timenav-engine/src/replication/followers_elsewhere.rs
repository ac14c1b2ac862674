//! Shares followers and their confirmations between services on one database.
//!
//! Each service reports its own open streams. A follower may confirm at any service, because a load balancer may send a
//! request to any of them. State of other services is read again before each decision based on it.

use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::followers::{Confirmed, Follower, FollowerPlace};
use timenav_core::ids::{FollowerId, TimelineId, UserId};
use tokio::runtime::Handle;

use crate::engine::Engine;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::replication::shared_followers::FollowerRow;
use crate::replication::sharing::Sharing;
use crate::requests::options::LEVEL_OF_SHARED_FOLLOWERS;
use crate::requests::refusal::Refusal;

impl Engine {
    async fn shares_followers(&self) -> Result<Option<&Sharing>, Refusal> {
        let Some(sharing) = self.timing().sharing() else { return Ok(None) };
        if !self.follower_registry().is_shared() {
            if self.store().feature_level().await? < LEVEL_OF_SHARED_FOLLOWERS {
                return Ok(None);
            }
            // Services that were killed have left rows behind.
            self.store().forget_followers().await?;
            if self.follower_registry().share() {
                // Followers that came before sharing began have not been reported yet.
                self.report_all_followers();
            }
        }
        Ok(Some(sharing))
    }

    /// Returns whether there may be followers at other services that this one does not know.
    #[must_use]
    pub fn misses_followers(&self) -> bool {
        self.has_others() && !self.follower_registry().is_shared()
    }

    /// Reports all followers again, because other services may have deleted them.
    pub(crate) fn report_all_followers(&self) {
        let followers = self.follower_registry().followers();
        let here = followers.followed_here().flat_map(|timeline| followers.there(timeline));
        let here = here.map(|follower| (follower.timeline.clone(), follower.follower_id.clone()));
        self.follower_registry().pending().extend(here);
    }

    /// Reports a follower to other services: it is new, has confirmed a change, or is gone.
    ///
    /// # Errors
    /// The store does not respond. The follower is reported later.
    pub(crate) async fn share_follower(&self, timeline: &TimelineId, follower_id: &FollowerId) -> Result<(), Refusal> {
        if !self.has_others() {
            return Ok(());
        }
        self.follower_registry().pending().insert((timeline.clone(), follower_id.clone()));
        self.share_followers().await
    }

    pub(crate) fn share_follower_later(&self, timeline: &TimelineId, follower_id: &FollowerId) {
        if !self.has_others() {
            return;
        }
        self.follower_registry().pending().insert((timeline.clone(), follower_id.clone()));
        // Without a runtime, the service has shut down.
        if let Ok(runtime) = Handle::try_current() {
            let engine = self.clone();
            runtime.spawn(async move {
                if let Err(refusal) = engine.share_followers().await {
                    tracing::debug!(%refusal, "the other services will detect later that a follower has disconnected");
                }
            });
        }
    }

    /// Reports all followers with unreported changes to other services.
    pub(crate) async fn share_followers(&self) -> Result<(), Refusal> {
        let Some(sharing) = self.shares_followers().await? else { return Ok(()) };
        if !sharing.is_present() {
            // Followers of a service without a heartbeat are ignored.
            self.report(sharing, Vec::new()).await?;
        }
        // Runs in a task of its own, because the caller may go away, and the report includes changes of others.
        let (engine, service) = (self.clone(), sharing.service.clone());
        let sharing_lock = tokio::spawn(async move { engine.share_pending(&service).await });
        sharing_lock.await.unwrap_or_else(|_| Err(Refusal::Unavailable("the service is stopping".to_owned())))
    }

    async fn share_pending(&self, service: &str) -> Result<(), Refusal> {
        let _telling = self.follower_registry().sharing_lock.lock().await;
        let pending = std::mem::take(&mut *self.follower_registry().pending());
        if pending.is_empty() {
            return Ok(());
        }
        let (mut there, mut removed) = (Vec::new(), Vec::new());
        for (timeline, follower_id) in &pending {
            let follower = self.follower_registry().followers().here(timeline, follower_id).cloned();
            match (follower, self.state(timeline)) {
                (Some(follower), Some(state)) => there.push(row_of(follower, service, state.head.key)),
                // A timeline that has ended has no followers.
                (None, _) | (_, None) => removed.push(follower_id.clone()),
            }
        }
        let shared = self.store().share_followers(there, removed).await;
        if shared.is_err() {
            self.follower_registry().pending().extend(pending);
        }
        Ok(shared?)
    }

    pub(crate) async fn confirm_elsewhere(
        &self,
        (state, user_id): (&TimelineState, &UserId),
        follower_id: &FollowerId,
        confirmed: Confirmed,
    ) -> Result<Option<Follower>, Refusal> {
        if self.shares_followers().await?.is_none() {
            return Ok(None);
        }
        let whose = (state.head.key, user_id);
        let Some(row) = self.store().confirm_follower(follower_id, whose, confirmed).await? else { return Ok(None) };
        let timeline = state.head.id.clone();
        if let Some(confirmed) = row.confirmed {
            self.follower_registry().followers().learn_confirmation(&timeline, follower_id, confirmed);
        }
        Ok(Some(follower_of(row, timeline)))
    }

    /// Loads the followers of a clock at other services, and their confirmations.
    pub(crate) async fn learn_followers(&self, timeline: &TimelineId) -> Result<(), Refusal> {
        self.learn_followers_of(from_ref(timeline)).await
    }

    /// Like `Engine::learn_followers`, for all timelines whose followers are awaited here.
    ///
    /// # Errors
    /// The store does not respond.
    #[boxed]
    pub async fn learn_awaited_followers(&self) -> Result<(), Refusal> {
        if !self.follower_registry().is_shared() {
            return Ok(());
        }
        let mut timelines: BTreeSet<TimelineId> = self.follower_registry().waiting().into_iter().collect();
        {
            let followers = self.follower_registry().followers();
            let followed = followers.followed_here().chain(followers.followed_elsewhere());
            let advances = |timeline: &&TimelineId| {
                self.state(timeline).is_some_and(|state| state.head.timers.advance.is_some())
                    && followers.any_confirms_steps(timeline)
            };
            timelines.extend(followed.filter(advances).cloned());
        }
        self.learn_followers_of(&timelines.into_iter().collect::<Vec<_>>()).await
    }

    /// Like [`Engine::learn_followers`], for all timelines with known followers elsewhere.
    pub(crate) async fn learn_known_followers(&self) -> Result<(), Refusal> {
        let timelines: Vec<TimelineId> = self.follower_registry().followers().followed_elsewhere().cloned().collect();
        self.learn_followers_of(&timelines).await
    }

    async fn learn_followers_of(&self, timelines: &[TimelineId]) -> Result<(), Refusal> {
        if timelines.is_empty() {
            return Ok(());
        }
        let Some(sharing) = self.shares_followers().await? else { return Ok(()) };
        let _asking = self.follower_registry().asking.lock().await;
        let states: Vec<Option<Arc<TimelineState>>> = timelines.iter().map(|timeline| self.state(timeline)).collect();
        let keys: Vec<TimelineKey> = states.iter().flatten().map(|state| state.head.key).collect();
        let mut rows = self.store().followers_of(keys).await?;
        let (host, mut is_new) = (self.now(), false);
        for (timeline, state) in timelines.iter().zip(states) {
            let key = state.map(|state| state.head.key);
            let of_it: Vec<FollowerRow> = rows.extract_if(.., |row| Some(row.timeline) == key).collect();
            let (here, elsewhere): (Vec<_>, Vec<_>) = of_it.into_iter().partition(|row| row.service == sharing.service);
            let mut followers = self.follower_registry().followers();
            for row in here {
                // It may have confirmed at another service.
                if let Some(confirmed) = row.confirmed
                    && let Some(known) = followers.here(timeline, &row.follower_id)
                    && !known.has_come_to(confirmed.step)
                {
                    followers.confirm((timeline, &row.user_id), &row.follower_id, confirmed);
                    is_new = true;
                }
            }
            let elsewhere = elsewhere.into_iter().map(|row| follower_of(row, timeline.clone())).collect();
            is_new |= followers.learn_others(timeline, elsewhere, host);
        }
        if is_new {
            self.follower_registry().notify();
            self.timing().wake_claims();
        }
        Ok(())
    }
}

/// The place where the follower runs is not shared.
fn row_of(follower: Follower, service: &str, timeline: TimelineKey) -> FollowerRow {
    let Follower { follower_id, user_id, name, since, confirmed, steps, .. } = follower;
    FollowerRow { follower_id, service: service.to_owned(), timeline, user_id, name, steps, since, confirmed }
}

fn follower_of(row: FollowerRow, timeline: TimelineId) -> Follower {
    let FollowerRow { follower_id, user_id, name, steps, since, confirmed, service: _, timeline: _ } = row;
    let (place, shows_faults) = (FollowerPlace::default(), None);
    let (left, is_late) = (None, false);
    Follower { follower_id, timeline, user_id, name, place, since, confirmed, left, steps, shows_faults, is_late }
}
