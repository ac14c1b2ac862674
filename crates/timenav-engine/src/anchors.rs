pub(crate) mod anchored;
pub(crate) mod returning;
pub(crate) mod commands;
