use super::{Directory, DirectoryRefusal, Happened, Times, key};
use crate::access::RestrictionLevel;
use crate::ids::{TimelineId, UserId};
use crate::time::{Instant, Wall};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub user_id: UserId,
    pub operator: bool,
    pub restriction: RestrictionLevel,
    pub created_at: Instant<Wall>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserCommand {
    Create {
        user_id: UserId,
        operator: bool,
    },
    /// Remove a user and revoke their keys.
    Remove {
        user_id: UserId,
    },
    Restrict {
        user_id: UserId,
        level: RestrictionLevel,
    },
}

impl UserCommand {
    #[must_use]
    pub const fn user_id(&self) -> &UserId {
        match self {
            Self::Create { user_id, .. } | Self::Remove { user_id } | Self::Restrict { user_id, .. } => user_id,
        }
    }
}

/// Decides what a command does, given the limit on users. Has no side effects.
///
/// # Errors
/// [`DirectoryRefusal`]; nothing changes.
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
