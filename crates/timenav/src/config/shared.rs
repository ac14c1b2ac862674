use std::path::PathBuf;

use anyhow::bail;

use super::{CheckpointSource, ServeOptions};

pub(super) struct Shared {
    pub(super) replicas: bool,
    pub(super) join: bool,
    pub(super) trusted_checkpoint: Vec<CheckpointSource>,
    pub(super) accept_rollback: bool,
    pub(super) signing_key: Option<PathBuf>,
}

impl Shared {
    /// Fails if two settings contradict each other.
    pub(super) fn of(options: &ServeOptions, has_store: bool) -> anyhow::Result<Self> {
        let replicas = options.replicas.unwrap_or(false);
        let join = options.join.unwrap_or(false);
        if replicas && !has_store {
            bail!("`replicas` needs a PostgreSQL database: give --store too");
        }
        if join && !replicas {
            bail!("`join` is for one of several services on a database: give --replicas too");
        }
        if !options.trusted_checkpoint.is_empty() && !join {
            bail!(
                "`trusted_checkpoint` is for a data folder that has no checkpoints yet: give --join too, or leave it out"
            );
        }
        let accept_rollback = options.accept_rollback.unwrap_or(false);
        if accept_rollback && replicas {
            bail!(
                "`accept_rollback` is for a single service: with --replicas, accept the loss once for all services \
                 with `timenav accept-rollback`"
            );
        }
        let signing_key = options.signing_key.clone();
        if signing_key.is_some() && !has_store {
            bail!(
                "`signing_key` is for a service with a PostgreSQL database: give --store too, or leave it out; with a \
                 SQLite file, the signing key is `signing.key` in the data folder"
            );
        }
        Ok(Self {
            replicas,
            join,
            trusted_checkpoint: options.trusted_checkpoint.clone(),
            accept_rollback,
            signing_key,
        })
    }
}
