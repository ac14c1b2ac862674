//! Creation and reuse of pooled connections.
//!
//! A connection is not reused after its server has failed to respond. From then on, every other connection is tested
//! before its next use, because a frozen server keeps its connections open.

use std::future::pending;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadpool::managed::{self, Manager, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use tokio::runtime::Handle;
use tokio_postgres::AsyncMessage;
use tokio_util::task::AbortOnDropHandle;

use crate::postgres::connection::address::Address;
use crate::postgres::values::Failed;

pub(in crate::postgres) type Hook = managed::Hook<Sessions>;
pub(in crate::postgres) type HookError = managed::HookError<Failed>;
pub(in crate::postgres) type Object = managed::Object<Sessions>;
pub(in crate::postgres) type Pool = managed::Pool<Sessions>;
pub(in crate::postgres) type PoolError = managed::PoolError<Failed>;

/// Creates sessions on one runtime, because other runtimes may have no I/O driver.
pub(in crate::postgres) struct Sessions {
    pub(in crate::postgres) address: Arc<Address>,
    pub(in crate::postgres) runtime: Handle,
    pub(in crate::postgres) warnings: Arc<AtomicU64>,
    /// How often a server has failed to respond, on any connection of the service.
    pub(in crate::postgres) unanswered: Arc<AtomicU64>,
}

/// A pooled connection, and whether it can be reused.
pub(in crate::postgres) struct Session {
    client: ClientWrapper,
    is_given_up: AtomicBool,
    /// The value of `unanswered` when this connection was last known to work.
    known: u64,
    unanswered: Arc<AtomicU64>,
}

impl Session {
    /// Records that the server did not respond on this connection, which is not reused.
    pub(in crate::postgres) fn give_up(&self) {
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
        let receive = move |message: AsyncMessage| {
            if let AsyncMessage::Notice(notice) = message {
                tracing::warn!(code = notice.code().code(), "PostgreSQL: {}", notice.message());
                warnings.fetch_add(1, Ordering::AcqRel);
            }
        };
        // Aborted if the caller is canceled.
        let connecting = self.runtime.spawn(async move { address.connect(&runtime, receive).await });
        let Ok(connected) = AbortOnDropHandle::new(connecting).await else {
            // The runtime is shutting down, and with it every caller.
            return pending().await;
        };
        let (client, driver) = connected?;
        let (client, unanswered) = (ClientWrapper::new(client, driver), Arc::clone(&self.unanswered));
        Ok(Session { client, is_given_up: AtomicBool::new(false), known, unanswered })
    }

    async fn recycle(&self, session: &mut Session, _: &Metrics) -> RecycleResult<Failed> {
        if session.client.is_closed() || session.is_given_up.load(Ordering::Acquire) {
            return Err(RecycleError::message("its server is gone or does not respond"));
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
