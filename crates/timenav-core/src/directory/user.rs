//! Users: who is one, who administers the service, and whose time travel is restricted.

use super::{Directory, DirectoryRefusal, Happened, Times, key};
use crate::access::RestrictionLevel;
use crate::ids::{TimelineId, UserId};
use crate::time::{Instant, Wall};

/// One user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub user_id: UserId,
    /// Whether the user administers the service.
    pub operator: bool,
    /// The user's restriction level.
    pub restriction: RestrictionLevel,
    /// Since when the user is known, by the host.
    pub created_at: Instant<Wall>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserCommand {
    /// Make a user.
    Create {
        /// The name.
        user_id: UserId,
        /// Whether the user is to administer the service.
        operator: bool,
    },
    /// Remove a user, and stop their keys.
    Remove {
        /// Who.
        user_id: UserId,
    },
    /// Restrict a user's time travel, or lift the restriction.
    Restrict {
        /// Who.
        user_id: UserId,
        /// From now on.
        level: RestrictionLevel,
    },
}

impl UserCommand {
    /// Returns the user that it is about.
    #[must_use]
    pub const fn user_id(&self) -> &UserId {
        match self {
            Self::Create { user_id, .. } | Self::Remove { user_id } | Self::Restrict { user_id, .. } => user_id,
        }
    }
}

/// Decides what a command does, where there may be so many users. Changes nothing.
///
/// # Errors
/// [`DirectoryRefusal`]; all stays as it is.
pub fn decide<P>(
    directory: &Directory<P>,
    command: &UserCommand,
    users_max: usize,
    times: Times,
) -> Result<Vec<Happened<P>>, DirectoryRefusal> {
    match command {
        UserCommand::Create { user_id, operator } => {
            if [UserId::UNKNOWN, TimelineId::SYSTEM].contains(&user_id.as_str()) {
                return Err(DirectoryRefusal::Reserved(user_id.clone()));
            }
            if directory.users.contains_key(user_id) {
                return Err(DirectoryRefusal::UserExists(user_id.clone()));
            }
            if directory.users.len() >= users_max {
                return Err(DirectoryRefusal::TooManyUsers { max: users_max });
            }
            let restriction = RestrictionLevel::FullAccess;
            let user = User { user_id: user_id.clone(), operator: *operator, restriction, created_at: times.recorded };
            Ok(vec![Happened::UserMade(user)])
        }
        UserCommand::Remove { user_id } => {
            let user = directory.user(user_id)?;
            if user.operator && directory.users.values().filter(|user| user.operator).count() == 1 {
                return Err(DirectoryRefusal::LastOperator(user_id.clone()));
            }
            let live = directory.keys.of_user(user_id).filter(|key| key.is_live(times.now));
            let stopped = live.map(|key| key::stopped(key, times));
            Ok(stopped.chain([Happened::UserRemoved(user.clone())]).collect())
        }
        UserCommand::Restrict { user_id, level } => {
            let user = directory.user(user_id)?;
            Ok(vec![Happened::UserRestricted(User { restriction: *level, ..user.clone() })])
        }
    }
}
