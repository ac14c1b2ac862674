//! Traces: one event a span.
//!
//! A document is read as a whole and walked through twice: which event a span hangs on is known
//! only when the other spans of its trace are. Times stay as they are written; a child that begins
//! before its parent is recorded so.

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

use crate::json_stream::{self, Part, Stopped};
use crate::limits::{TRACE_DOCUMENT_BYTES_MAX, TRACE_SPANS_MAX};
use crate::{Format, ImportError, Item, RecordError, RecordNote, Sink};
use halves::{Glance, Halves};
use jaeger::Jaeger;
use otlp::Otlp;
use zipkin::Zipkin;

const DOCUMENT: Part = Part { what: "a trace document", bytes_max: TRACE_DOCUMENT_BYTES_MAX };

/// Takes the spans of a document one by one, each with what stands around it.
type EachSpan<'e, 't, C> = &'e mut dyn FnMut(&C, &'t str) -> Result<(), Stopped>;

/// Why a document could not be walked through.
enum Unwalked {
    /// No more is wanted.
    Enough,
    /// It is not of the format.
    Shape(String),
}

impl Unwalked {
    /// Returns what the end of a walk through an array means: `what` is no array, or enough was seen.
    fn of(stopped: Stopped, what: &str) -> Self {
        match stopped {
            Stopped::Enough => Self::Enough,
            Stopped::NoArray => Self::Shape(format!("`{what}` must be an array")),
        }
    }
}

/// The event of a span, and the notes on it.
type Drafted = (EventDraft, Vec<RecordNote>);

/// A way of writing traces.
trait Dialect {
    /// What a span does not say itself.
    type Surroundings;
    const FORMAT: Format;

    /// Hands over every span of a document.
    fn walk<'t>(document: &'t str, each: EachSpan<'_, 't, Self::Surroundings>) -> Result<(), Unwalked>;

    /// Returns what others need to know of a span, as far as it can be read.
    fn glance(around: &Self::Surroundings, span: &str) -> Option<Glance>;

    /// Returns the event of a span.
    fn draft(around: &Self::Surroundings, halves: &Halves, span: &str) -> Result<Drafted, RecordError>;
}

/// Reads documents of Zipkin that stand one after the other.
pub(crate) fn read_zipkin(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    read::<Zipkin>(input, sink)
}

/// Reads documents of Jaeger that stand one after the other.
pub(crate) fn read_jaeger(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    read::<Jaeger>(input, sink)
}

/// Reads documents of OTLP/JSON that stand one after the other.
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

/// Walks through a document once, before a span of it is handed over.
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
