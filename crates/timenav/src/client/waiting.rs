//! Requests that are answered late, and such that Ctrl-C ends.

use std::future::Future;
use std::time::Duration;

use serde_json::Value;
use timenav_client::Method;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Answer, Client, CreateOption, asking, posting};
use crate::exit::Failure;

/// Ctrl-C, and the signal that asks a process to end.
pub(crate) struct Interrupt {
    interrupted: Signal,
    terminated: Signal,
}

impl Interrupt {
    async fn pressed(&mut self) {
        tokio::select! {
            _ = self.interrupted.recv() => {}
            _ = self.terminated.recv() => {}
        }
    }
}

impl Client {
    /// Sends a POST as [`Client::write`] does, whose answer may take so much longer than others.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn write_and_wait(
        &self,
        path: &[&str],
        body: &str,
        create: CreateOption,
        longer: Duration,
    ) -> Result<Answer, Failure> {
        create.explain(self.ask(posting(path, &[], body)?.headers(create.if_match()).longer(longer)))
    }

    /// Sends a POST that happens once, whose answer may take so much longer than others.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn post_and_wait(&self, path: &[&str], body: &str, longer: Duration) -> Result<Answer, Failure> {
        self.ask(posting(path, &[], body)?.longer(longer))
    }

    /// Takes Ctrl-C away from the system: from now on it ends what waits for it, and nothing else.
    ///
    /// # Errors
    /// Signals cannot be received.
    pub(crate) fn interrupt(&self) -> Result<Interrupt, Failure> {
        let _inside = self.runtime.enter();
        let of = |kind| signal(kind).map_err(anyhow::Error::new);
        Ok(Interrupt { interrupted: of(SignalKind::interrupt())?, terminated: of(SignalKind::terminate())? })
    }

    /// Waits for something, or returns `None` at Ctrl-C.
    pub(crate) fn unless<T>(&self, interrupt: &mut Interrupt, awaited: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = interrupt.pressed() => None,
                done = awaited => Some(done),
            }
        })
    }

    /// Waits for so long, and returns whether Ctrl-C was pressed meanwhile.
    pub(crate) fn is_interrupted_within(&self, interrupt: &mut Interrupt, patience: Duration) -> bool {
        self.runtime.block_on(async { tokio::time::timeout(patience, interrupt.pressed()).await.is_ok() })
    }

    /// Sends a POST that is new each time and is answered when there is something to say. Ctrl-C closes the connection; then
    /// there is no answer.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub(crate) fn post_unless(
        &self,
        interrupt: &mut Interrupt,
        path: &[&str],
        body: &Value,
    ) -> Result<Option<Answer>, Failure> {
        let request = asking(Method::POST, path, &[]).body("application/json", body.to_string())?;
        let answered = async { self.api.send(request).await?.text().await };
        match self.unless(interrupt, answered) {
            None => Ok(None),
            Some(text) => self.read(text?).map(Some),
        }
    }
}
