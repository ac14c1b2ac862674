//! How the service shares its database with others.

use anyhow::bail;

use super::ServeOptions;

/// How the service shares its database with others.
pub(super) struct Shared {
    pub(super) replicas: bool,
    pub(super) join: bool,
    pub(super) accept_rollback: bool,
}

impl Shared {
    /// Settles it.
    ///
    /// # Errors
    /// Two settings do not go together.
    pub(super) fn of(options: &ServeOptions, file: &ServeOptions) -> anyhow::Result<Self> {
        let replicas = options.replicas.or(file.replicas).unwrap_or(false);
        let join = options.join.unwrap_or(false);
        if replicas && options.store.is_none() && file.store.is_none() {
            bail!("`replicas` needs a PostgreSQL database: give --store too");
        }
        if join && !replicas {
            bail!("`join` is for one of several services on a database: give --replicas too");
        }
        let accept_rollback = options.accept_rollback.unwrap_or(false);
        if accept_rollback && replicas {
            bail!(
                "`accept_rollback` is for a service that is alone: with --replicas, what was lost is accepted once for \
                 all, with `timenav accept-rollback`"
            );
        }
        Ok(Self { replicas, join, accept_rollback })
    }
}
