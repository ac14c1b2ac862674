//! Several services on one database.

pub(crate) mod shared_followers;
pub(crate) mod following;
pub(crate) mod sharing;
pub(crate) mod comparing;
pub(crate) mod catching_up;
pub(crate) mod replica;
pub(crate) mod followers_elsewhere;
pub(crate) mod leasing;
pub(crate) mod shared_timekeeping;
pub(crate) mod shared_witnessing;
