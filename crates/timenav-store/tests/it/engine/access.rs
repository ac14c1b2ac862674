pub(in crate::engine) mod expiring;
pub(in crate::engine) mod identity;
pub(in crate::engine) mod limited_access;
pub(in crate::engine) mod rights;
pub(in crate::engine) mod sessions;
