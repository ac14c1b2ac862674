//! Stands in for traces in a program that is built without the feature `otel`.

#![expect(
    clippy::unused_async,
    clippy::unused_self,
    reason = "the methods are those of the module for which this one stands in"
)]

use std::sync::Arc;

use anyhow::bail;
use timenav_core::time::{Instant, Wall};
use timenav_engine::Engine;
use timenav_http::Traces;

use crate::config::Settings;

/// Traces that are sent: never.
pub(crate) enum Sending {}

/// Checks that no traces are asked for.
///
/// # Errors
/// The settings name a collector.
pub(crate) fn start(_: &Engine, settings: &Settings) -> anyhow::Result<Option<Sending>> {
    if settings.otlp_endpoint.is_some() {
        bail!(
            "`otlp-endpoint`: this program was built without traces; build it with `--features otel`, or use a released \
             program"
        );
    }
    Ok(None)
}

/// Returns where work leaves its spans: nowhere.
pub(crate) const fn of_background(_: &Engine, _: Option<&Sending>) -> Spans {
    Spans {}
}

impl Sending {
    pub(crate) fn line(&self) -> Arc<dyn Traces> {
        match *self {}
    }

    pub(crate) async fn stop(self) {
        match self {}
    }
}

/// Where work leaves its spans: nowhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {}

/// Work that is under way.
pub(crate) struct Begun;

/// An attribute of a span.
pub(crate) struct KeyValue;

impl KeyValue {
    pub(crate) fn new<V>(_: &'static str, _: V) -> Self {
        Self
    }
}

impl Spans {
    pub(crate) const fn begin(&self, _: Instant<Wall>) -> Begun {
        Begun
    }
}

impl Begun {
    pub(crate) const fn traceparent(&self) -> Option<String> {
        None
    }

    pub(crate) fn sent(self, _: &'static str, _: impl FnOnce() -> Vec<KeyValue>, _: Instant<Wall>, _: bool) {}
}
