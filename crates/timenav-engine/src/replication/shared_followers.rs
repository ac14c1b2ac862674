//! Storage interface for followers of clocks at services that share a database.
//!
//! None of this is in a ledger. If it is lost, each service reports its open streams again.

use async_trait::async_trait;
use timenav_core::followers::Confirmed;
use timenav_core::ids::{FollowerId, FollowerName, UserId};
use timenav_core::time::{Instant, Wall};

use crate::ledger::head::TimelineKey;
use crate::ports::store_error::StoreError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowerRow {
    pub follower_id: FollowerId,
    /// The service that holds the stream, by the id of its start.
    pub service: String,
    pub timeline: TimelineKey,
    pub user_id: UserId,
    pub name: FollowerName,
    pub steps: bool,
    /// Host time at which the stream was opened.
    pub since: Instant<Wall>,
    pub confirmed: Option<Confirmed>,
}

/// Storage for followers at services that share a database. A store that is not shared implements none of it.
#[async_trait]
pub trait SharedFollowers: Send + Sync + 'static {
    /// Stores open streams of a service, and deletes closed ones. A stored confirmation never goes back.
    async fn share_followers(&self, _there: Vec<FollowerRow>, _left: Vec<FollowerId>) -> Result<(), StoreError> {
        Err(not_shared())
    }

    /// The stream may be open at any live service. Returns the follower; `None` if it does not exist.
    async fn confirm_follower(
        &self,
        _follower_id: &FollowerId,
        _whose: (TimelineKey, &UserId),
        _confirmed: Confirmed,
    ) -> Result<Option<FollowerRow>, StoreError> {
        Err(not_shared())
    }

    /// Returns the followers of some clocks at all live services.
    async fn followers_of(&self, _timelines: Vec<TimelineKey>) -> Result<Vec<FollowerRow>, StoreError> {
        Err(not_shared())
    }

    /// Deletes the followers of services that are gone.
    async fn forget_followers(&self) -> Result<(), StoreError> {
        Err(not_shared())
    }
}

fn not_shared() -> StoreError {
    StoreError::Unavailable("followers are kept in memory here".to_owned())
}
