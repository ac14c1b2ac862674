//! Loads entries that other services have written to the same database before memory is read.
//!
//! Every entry is decided under the lock of its head, on top of all earlier entries. Only memory is used when a caller
//! is rejected, when a read is answered before it has an entry, and when many timelines are listed. These cases catch
//! up first.

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;

use crate::engine::Engine;
use crate::ports::hint::Hint;
use crate::requests::caller::{AuthFailure, Caller};
use crate::requests::options::ReadLog;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::catching_up::CatchUp;

impl Engine {
    /// Returns whether a caller is authorized according to memory, and their request will be decided again under the
    /// lock before the response is sent.
    pub(crate) fn is_admitted_later(&self, caller: &Caller, timeline: &TimelineId, demand: Demand) -> bool {
        self.options().read_log == ReadLog::Durable
            && self.check_live(caller).is_ok()
            && self.state(timeline).is_some()
            && self.decide(caller, timeline, demand).is_ok()
    }

    /// Makes everything that other services have committed so far on a timeline and in the directory visible to
    /// readers.
    ///
    /// # Errors
    /// The store does not respond, or does not continue the known state.
    #[boxed]
    pub async fn catch_up_with(&self, timeline: &TimelineId) -> Result<(), Refusal> {
        self.catch_up_by(timeline, CatchUp::Aimed).await
    }

    /// Like [`Engine::catch_up_with`], for all timelines.
    ///
    /// # Errors
    /// As those of [`Engine::catch_up_with`].
    #[boxed]
    pub async fn catch_up_all(&self) -> Result<(), Refusal> {
        self.catch_up_by(&TimelineId::system(), CatchUp::All).await
    }

    async fn catch_up_by(&self, timeline: &TimelineId, what: CatchUp) -> Result<(), Refusal> {
        if !self.store().has_others() {
            return Ok(());
        }
        match self.submit_service(timeline.clone(), what).await {
            Ok(_) | Err(Refusal::ChangedMeanwhile) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    #[must_use]
    pub fn has_others(&self) -> bool {
        self.store().has_others()
    }

    #[boxed]
    pub async fn hint(&self) -> Hint {
        self.store().hint().await
    }

    /// Like [`Engine::catch_up_with`], for the timelines of a hint and all new ones.
    ///
    /// # Errors
    /// As those of [`Engine::catch_up_with`].
    #[boxed]
    pub async fn catch_up_hinted(&self, hint: Hint) -> Result<(), Refusal> {
        match hint {
            Hint::All => self.catch_up_all().await,
            Hint::Some(named) if named.is_empty() => Ok(()),
            Hint::Some(named) => {
                self.catch_up_by(&TimelineId::system(), CatchUp::Some(named.into_iter().collect())).await
            }
        }
    }

    /// Like [`Engine::authenticate`], including keys that another service has created.
    ///
    /// # Errors
    /// As those of [`Engine::authenticate`], or the store cannot be read.
    #[boxed]
    pub async fn identify(&self, text: &str) -> Result<Result<Caller, AuthFailure>, Refusal> {
        self.identify_by(|| self.authenticate(text)).await
    }

    /// Like [`Engine::authenticate_session`], including sessions that began at another service.
    ///
    /// # Errors
    /// As those of [`Engine::authenticate_session`], or the store cannot be read.
    #[boxed]
    pub async fn identify_session(&self, secret: &str) -> Result<Result<Caller, AuthFailure>, Refusal> {
        self.identify_by(|| self.authenticate_session(secret)).await
    }

    async fn identify_by(
        &self,
        look: impl Fn() -> Result<Caller, AuthFailure>,
    ) -> Result<Result<Caller, AuthFailure>, Refusal> {
        let found = look();
        if found.is_ok() || !self.has_others() {
            return Ok(found);
        }
        self.catch_up_with(&TimelineId::system()).await?;
        Ok(look())
    }
}
