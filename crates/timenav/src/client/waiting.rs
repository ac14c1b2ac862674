//! Long-running requests, and waits that Ctrl-C interrupts.

use std::future::Future;
use std::time::Duration;

use serde_json::Value;
use timenav_client::Method;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Answer, Client, CreateOption, asking, posting};
use crate::exit::Failure;

/// SIGINT and SIGTERM.
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
    /// Like [`Client::write`], with an extended timeout.
    pub(crate) fn write_and_wait(
        &self,
        path: &[&str],
        body: &str,
        create: CreateOption,
        longer: Duration,
    ) -> Result<Answer, Failure> {
        create.explain(self.ask(posting(path, &[], body)?.headers(create.if_match()).extend_timeout(longer)))
    }

    /// Sends a POST with an idempotency key and an extended timeout.
    pub(crate) fn post_and_wait(&self, path: &[&str], body: &str, longer: Duration) -> Result<Answer, Failure> {
        self.ask(posting(path, &[], body)?.extend_timeout(longer))
    }

    /// Replaces the default action of Ctrl-C: from now on it only interrupts waits.
    pub(crate) fn interrupt(&self) -> Result<Interrupt, Failure> {
        let _inside = self.runtime.enter();
        let of = |kind| signal(kind).map_err(anyhow::Error::new);
        Ok(Interrupt { interrupted: of(SignalKind::interrupt())?, terminated: of(SignalKind::terminate())? })
    }

    /// Awaits a future; returns `None` on Ctrl-C.
    pub(crate) fn unless<T>(&self, interrupt: &mut Interrupt, awaited: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = interrupt.pressed() => None,
                done = awaited => Some(done),
            }
        })
    }

    /// Sleeps for `patience`. Returns whether Ctrl-C was pressed.
    pub(crate) fn is_interrupted_within(&self, interrupt: &mut Interrupt, patience: Duration) -> bool {
        self.runtime.block_on(async { tokio::time::timeout(patience, interrupt.pressed()).await.is_ok() })
    }

    /// Sends a long-polling POST without an idempotency key. Ctrl-C closes the connection; the result is then `None`.
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
