//! Who follows clocks at which service, where several share one database: what is kept of that, and what can be asked.
//!
//! None of it is in a ledger, and nothing is lost with it: each service tells anew whose streams are open at it.

use async_trait::async_trait;
use timenav_core::followers::Confirmed;
use timenav_core::ids::{FollowerId, FollowerName, UserId};
use timenav_core::time::{Instant, Wall};

use crate::head::TimelineKey;
use crate::store_error::StoreError;

/// Somebody who follows a clock at a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowerRow {
    /// Names the stream.
    pub follower_id: FollowerId,
    /// At which service the stream is open, by the id of its start.
    pub service: String,
    /// Whose clock.
    pub timeline: TimelineKey,
    /// Who follows.
    pub user_id: UserId,
    /// What it is called.
    pub name: FollowerName,
    /// Whether it confirms each step of an advance.
    pub steps: bool,
    /// Host time since which the stream is open.
    pub since: Instant<Wall>,
    /// The newest change that it has confirmed.
    pub confirmed: Option<Confirmed>,
}

/// Where services that share a database keep who follows clocks. A store that nobody shares keeps nothing of it.
#[async_trait]
pub trait SharedFollowers: Send + Sync + 'static {
    /// Keeps whose streams are open at a service, and forgets those that have ended. What somebody has confirmed is never
    /// taken back.
    async fn tell_followers(&self, _there: Vec<FollowerRow>, _gone: Vec<FollowerId>) -> Result<(), StoreError> {
        Err(not_shared())
    }

    /// Keeps what a follower of a user has confirmed, whose stream is open at any service that is there. Returns what is
    /// known of it then; `None` if there is no such follower.
    async fn confirm_follower(
        &self,
        _follower_id: &FollowerId,
        _whose: (TimelineKey, &UserId),
        _confirmed: Confirmed,
    ) -> Result<Option<FollowerRow>, StoreError> {
        Err(not_shared())
    }

    /// Returns who follows some clocks, at all services that are there.
    async fn followers_of(&self, _timelines: Vec<TimelineKey>) -> Result<Vec<FollowerRow>, StoreError> {
        Err(not_shared())
    }

    /// Forgets the followers of services that are not there any more.
    async fn forget_followers(&self) -> Result<(), StoreError> {
        Err(not_shared())
    }
}

fn not_shared() -> StoreError {
    StoreError::Unavailable("who follows clocks is kept in memory here".to_owned())
}
