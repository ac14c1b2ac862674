//! What other services have written to the same database, for those who are about to look into memory.
//!
//! Whatever becomes an entry is decided under the lock of its head, with what all have written before. Memory alone is
//! looked into where somebody is refused, where a read is answered before it is an entry, and where many timelines are
//! listed: there this comes first.

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;

use crate::caller::{AuthFailure, Caller};
use crate::deciding::catching_up::CatchUp;
use crate::engine::Engine;
use crate::hint::Hint;
use crate::options::ReadLog;
use crate::refusal::Refusal;

impl Engine {
    /// Returns whether a caller is let on by what is known here, and what they ask for is decided again where it becomes an
    /// entry, before it is answered.
    pub(crate) fn is_admitted_later(&self, caller: &Caller, timeline: &TimelineId, demand: Demand) -> bool {
        self.options().read_log == ReadLog::Durable
            && self.check_live(caller).is_ok()
            && self.state(timeline).is_some()
            && self.decide(caller, timeline, demand).is_ok()
    }

    /// Has readers see what other services had committed on a timeline, and of the directory, before this was called.
    ///
    /// # Errors
    /// The store does not answer, or what is in it is not what went on from here.
    #[boxed]
    pub async fn hear_of(&self, timeline: &TimelineId) -> Result<(), Refusal> {
        self.hear(timeline, CatchUp::Aimed).await
    }

    /// As [`Engine::hear_of`], on all timelines.
    ///
    /// # Errors
    /// As those of [`Engine::hear_of`].
    #[boxed]
    pub async fn hear_of_all(&self) -> Result<(), Refusal> {
        self.hear(&TimelineId::system(), CatchUp::All).await
    }

    async fn hear(&self, timeline: &TimelineId, what: CatchUp) -> Result<(), Refusal> {
        if !self.store().has_others() {
            return Ok(());
        }
        match self.submit_service(timeline.clone(), what).await {
            Ok(_) | Err(Refusal::ChangedMeanwhile) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns whether other services may be at work on the same database.
    #[must_use]
    pub fn has_others(&self) -> bool {
        self.store().has_others()
    }

    /// Waits until another service may have written something, and returns where. It is a hint, which may get lost.
    #[boxed]
    pub async fn hint(&self) -> Hint {
        self.store().hint().await
    }

    /// As [`Engine::hear_of`], on the timelines that a hint names, and on those that are new.
    ///
    /// # Errors
    /// As those of [`Engine::hear_of`].
    #[boxed]
    pub async fn hear_of_hinted(&self, hint: Hint) -> Result<(), Refusal> {
        match hint {
            Hint::All => self.hear_of_all().await,
            Hint::Some(named) if named.is_empty() => Ok(()),
            Hint::Some(named) => self.hear(&TimelineId::system(), CatchUp::Some(named.into_iter().collect())).await,
        }
    }

    /// As [`Engine::authenticate`], also of a key that another service has made.
    ///
    /// # Errors
    /// As those of [`Engine::authenticate`], or it cannot be found out.
    #[boxed]
    pub async fn identify(&self, text: &str) -> Result<Result<Caller, AuthFailure>, Refusal> {
        self.identify_by(|| self.authenticate(text)).await
    }

    /// As [`Engine::authenticate_session`], also of a session that began at another service.
    ///
    /// # Errors
    /// As those of [`Engine::authenticate_session`], or it cannot be found out.
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
        self.hear_of(&TimelineId::system()).await?;
        Ok(look())
    }
}
