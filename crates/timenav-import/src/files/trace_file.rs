//! Traces: one event per span.
//!
//! A document is walked twice, because a span's causes are known only once the other spans of its trace are. Times stay
//! as written, even if a child begins before its parent.

mod halves;
mod jaeger;
mod otlp;
mod span;
mod zipkin;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::ControlFlow;

use timenav_core::event::EventDraft;

use crate::json::json_stream::{self, Part, Stopped};
use crate::limits::{TRACE_DOCUMENT_BYTES_MAX, TRACE_SPANS_MAX};
use crate::{Format, ImportError, Item, RecordError, RecordNote, Sink};
use halves::{Glance, Halves};
use jaeger::Jaeger;
use otlp::Otlp;
use zipkin::Zipkin;

const DOCUMENT: Part = Part { what: "a trace document", bytes_max: TRACE_DOCUMENT_BYTES_MAX };

type EachSpan<'e, 't, C> = &'e mut dyn FnMut(&C, &'t str) -> Result<(), Stopped>;

enum Unwalked {
    /// The callback wants no more spans.
    Enough,
    Shape(String),
}

impl Unwalked {
    /// Converts a stop: `what` is not an array, or the callback wants no more.
    fn of(stopped: Stopped, what: &str) -> Self {
        match stopped {
            Stopped::Enough => Self::Enough,
            Stopped::NoArray => Self::Shape(format!("`{what}` must be an array")),
        }
    }
}

type Drafted = (EventDraft, Vec<RecordNote>);

trait Dialect {
    /// Context of a span that is stored outside it.
    type Surroundings;
    const FORMAT: Format;

    fn walk<'t>(document: &'t str, each: EachSpan<'_, 't, Self::Surroundings>) -> Result<(), Unwalked>;

    /// What other spans need to know of this one, as far as it is readable.
    fn glance(around: &Self::Surroundings, span: &str) -> Option<Glance>;

    fn draft(around: &Self::Surroundings, halves: &Halves, span: &str) -> Result<Drafted, RecordError>;
}

pub(crate) fn read_zipkin(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    read::<Zipkin>(input, sink)
}

pub(crate) fn read_jaeger(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    read::<Jaeger>(input, sink)
}

pub(crate) fn read_otlp(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    read::<Otlp>(input, sink)
}

fn read<D: Dialect>(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let mut number = 0;
    json_stream::documents(DOCUMENT, input, &mut |document, line| {
        let halves = survey::<D>(document, line)?;
        let mut flow = ControlFlow::Continue(());
        let outcome = D::walk(document, &mut |around, span| {
            number += 1;
            let event = D::draft(around, &halves, span);
            let event = event.and_then(|(draft, notes)| Ok((crate::assembly::finish(draft)?, notes)));
            flow = sink(Item::noted(number, event));
            if flow.is_break() { Err(Stopped::Enough) } else { Ok(()) }
        });
        match outcome {
            Ok(()) | Err(Unwalked::Enough) => Ok(flow),
            Err(Unwalked::Shape(detail)) => Err(not_of_format::<D>(line, detail)),
        }
    })
}

/// First walk, before any span is handed over.
fn survey<D: Dialect>(document: &str, line: u64) -> Result<Halves, ImportError> {
    let mut halves = Halves::default();
    let mut spans = 0;
    let outcome = D::walk(document, &mut |around, span| {
        spans += 1;
        if spans > TRACE_SPANS_MAX {
            return Err(Stopped::Enough);
        }
        if let Some(glance) = D::glance(around, span) {
            halves.add(glance);
        }
        Ok(())
    });
    match outcome {
        Ok(()) => Ok(halves),
        Err(Unwalked::Enough) => Err(ImportError::TooManySpans { line }),
        Err(Unwalked::Shape(detail)) => Err(not_of_format::<D>(line, detail)),
    }
}

fn not_of_format<D: Dialect>(line: u64, detail: String) -> ImportError {
    ImportError::NotOfFormat { format: D::FORMAT.as_str(), line, detail }
}
