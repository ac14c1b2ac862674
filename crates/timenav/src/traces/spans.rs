use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::trace::SpanKind;
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Background, BackgroundTraces, BackgroundWork, Entropy as _};

use super::{Ids, Line, SpanRecord};

/// Records spans of background work; does nothing if traces are off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans(Option<Arc<Line>>);

pub(crate) struct Begun {
    line: Option<Arc<Line>>,
    ids: Ids,
    began: Instant<Wall>,
}

impl Spans {
    pub(super) const fn to(line: Arc<Line>) -> Self {
        Self(Some(line))
    }

    pub(crate) fn begin(&self, began: Instant<Wall>) -> Begun {
        let mut ids = Ids::default();
        if let Some(line) = &self.0 {
            line.entropy.fill(&mut ids.trace);
            line.entropy.fill(&mut ids.span);
        }
        Begun { line: self.0.clone(), ids, began }
    }
}

impl Begun {
    /// Returns the `traceparent` header (W3C Trace Context) if the span is exported.
    pub(crate) fn traceparent(&self) -> Option<String> {
        let Ids { trace, span } = self.ids;
        let (trace, span) = (u128::from_be_bytes(trace), u64::from_be_bytes(span));
        self.line.as_ref().map(|_| format!("00-{trace:032x}-{span:016x}-01"))
    }

    /// Records the span of an outgoing request. It has failed if an operator should act on it.
    pub(crate) fn sent(
        self,
        name: &'static str,
        attributes: impl FnOnce() -> Vec<KeyValue>,
        ended: Instant<Wall>,
        has_failed: bool,
    ) {
        self.end(name, SpanKind::Client, attributes, (ended, has_failed));
    }

    fn end(
        self,
        name: &'static str,
        kind: SpanKind,
        attributes: impl FnOnce() -> Vec<KeyValue>,
        (ended, has_failed): (Instant<Wall>, bool),
    ) {
        let Some(line) = self.line else { return };
        line.leave_behind(|| {
            let record =
                SpanRecord { kind, name: name.into(), attributes: attributes(), began: self.began, ended, has_failed };
            line.data(self.ids, None, record)
        });
    }
}

impl BackgroundTraces for Spans {
    fn done(&self, work: BackgroundWork) {
        let BackgroundWork { what, timeline_id, began, ended, has_failed } = work;
        let name = match what {
            Background::FireTimers => "fire timers",
            Background::Sweep => "sweep",
            Background::KeepCheckpoints => "keep checkpoints",
        };
        let timeline = || timeline_id.map(|id| KeyValue::new("timenav.timeline_id", id.as_str().to_owned()));
        self.begin(began).end(name, SpanKind::Internal, || timeline().into_iter().collect(), (ended, has_failed));
    }
}
