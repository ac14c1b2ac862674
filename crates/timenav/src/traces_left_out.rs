//! Replaces traces in builds without the feature `otel`.

#![expect(clippy::unused_async, clippy::unused_self, reason = "same methods as the module that this one replaces")]

use std::sync::Arc;

use anyhow::bail;
use timenav_core::time::{Instant, Wall};
use timenav_engine::Engine;
use timenav_http::Traces;

use crate::config::Settings;

/// The exporter, which cannot exist.
pub(crate) enum Sending {}

/// Fails if the settings name a collector.
pub(crate) fn start(_: &Engine, settings: &Settings) -> anyhow::Result<Option<Sending>> {
    if settings.otlp_endpoint.is_some() {
        bail!(
            "`otlp-endpoint`: this program was built without traces; build it with `--features otel`, or use a released \
             program"
        );
    }
    Ok(None)
}

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

#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {}

pub(crate) struct Begun;

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
