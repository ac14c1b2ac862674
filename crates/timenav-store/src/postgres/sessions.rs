//! The connections of a pool: how each is made, and which go back to it. One whose server has not answered does not, and
//! after that the others are asked first whether they still answer: a server that stands still keeps its connections open.

use std::future::pending;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadpool::managed::{self, Manager, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use tokio::runtime::Handle;
use tokio_postgres::AsyncMessage;
use tokio_util::task::AbortOnDropHandle;

use super::address::Address;
use super::values::Failed;

pub(super) type Hook = managed::Hook<Sessions>;
pub(super) type HookError = managed::HookError<Failed>;
pub(super) type Object = managed::Object<Sessions>;
pub(super) type Pool = managed::Pool<Sessions>;
pub(super) type PoolError = managed::PoolError<Failed>;

/// Makes sessions on one runtime, whichever asks for them: others may be there for work that takes long, and know no network.
pub(super) struct Sessions {
    pub(super) address: Arc<Address>,
    pub(super) runtime: Handle,
    /// Counts what the server warned of.
    pub(super) warnings: Arc<AtomicU64>,
    /// How often a server has not answered, on whichever connection of the service.
    pub(super) unanswered: Arc<AtomicU64>,
}

/// A connection, and whether it is still good.
pub(super) struct Session {
    client: ClientWrapper,
    is_given_up: AtomicBool,
    /// How often a server had not answered when this one last did.
    known: u64,
    unanswered: Arc<AtomicU64>,
}

impl Session {
    /// Says that the server has not answered here. Nobody gets this connection any more.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Release);
        self.unanswered.fetch_add(1, Ordering::AcqRel);
    }
}

impl Deref for Session {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut ClientWrapper {
        &mut self.client
    }
}

impl Manager for Sessions {
    type Type = Session;
    type Error = Failed;

    async fn create(&self) -> Result<Session, Failed> {
        let known = self.unanswered.load(Ordering::Acquire);
        let (address, runtime, warnings) =
            (Arc::clone(&self.address), self.runtime.clone(), Arc::clone(&self.warnings));
        let hear = move |told: AsyncMessage| {
            if let AsyncMessage::Notice(notice) = told {
                tracing::warn!(code = notice.code().code(), "PostgreSQL: {}", notice.message());
                warnings.fetch_add(1, Ordering::AcqRel);
            }
        };
        // What nobody waits for any more ends.
        let connecting = self.runtime.spawn(async move { address.connect(&runtime, hear).await });
        let Ok(connected) = AbortOnDropHandle::new(connecting).await else {
            // The runtime ends, and with it everything that could wait for this.
            return pending().await;
        };
        let (client, driver) = connected?;
        let (client, unanswered) = (ClientWrapper::new(client, driver), Arc::clone(&self.unanswered));
        Ok(Session { client, is_given_up: AtomicBool::new(false), known, unanswered })
    }

    async fn recycle(&self, session: &mut Session, _: &Metrics) -> RecycleResult<Failed> {
        if session.client.is_closed() || session.is_given_up.load(Ordering::Acquire) {
            return Err(RecycleError::message("its server has gone, or does not answer"));
        }
        let known = self.unanswered.load(Ordering::Acquire);
        if session.known != known {
            // The pool limits how long this may take.
            session.client.simple_query("").await.map_err(|error| RecycleError::Backend(error.into()))?;
            session.known = known;
        }
        Ok(())
    }
}
