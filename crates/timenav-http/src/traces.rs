//! What is said of each request to whoever collects traces, and which trace a request belongs to.

use std::fmt::Debug;

use http::HeaderMap;
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

/// Where what is said of requests goes. It never makes a request wait.
pub trait Traces: Debug + Send + Sync {
    /// Takes what is said of a request that was answered.
    fn answered(&self, request: TracedRequest);

    /// Returns how many spans were sent, and how many nobody will see.
    fn counts(&self) -> TraceCounts;
}

/// What became of spans since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// Spans that a collector took.
    pub sent: u64,
    /// Spans that it was not there for, or too slow.
    pub dropped: u64,
}

/// A request that was answered. It holds no value of a parameter but the name of the timeline, and nothing that was sent.
#[derive(Clone, Debug)]
pub struct TracedRequest {
    /// The span that caused it, if the client said so.
    pub parent: Option<TraceParent>,
    /// The method, of a fixed set.
    pub method: &'static str,
    /// The path as it was registered, if anything is there.
    pub route: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// The timeline that it names, or else that of the key, if the caller is known.
    pub timeline_id: Option<TimelineId>,
    /// The id of the request.
    pub request_id: String,
    /// When it came, in host time.
    pub began: Instant<Wall>,
    /// When the head of its answer was ready, in host time.
    pub ended: Instant<Wall>,
}

/// The span that caused a request (W3C Trace Context, `traceparent`). It is trusted for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace that it belongs to.
    pub trace_id: u128,
    /// The span within it.
    pub span_id: u64,
    /// Whether the trace is kept.
    pub is_sampled: bool,
}

impl TraceParent {
    /// Reads the field of a request's head, where there is a valid one (§3.2).
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut fields = headers.get_all("traceparent").iter();
        let text = fields.next()?.to_str().ok()?;
        if fields.next().is_some() {
            return None;
        }
        let mut parts = text.splitn(5, '-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = hex(version, 2)?;
        // Later versions may have more after this; the first one has not, and the last number is none.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let (trace_id, span_id, flags) = (hex(trace, 32)?, u64::try_from(hex(span, 16)?).ok()?, hex(flags, 2)?);
        (trace_id != 0 && span_id != 0).then_some(Self { trace_id, span_id, is_sampled: flags & 1 == 1 })
    }
}

/// Reads so many hexadecimal digits, of which letters are small.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let fits = text.len() == digits && text.bytes().all(is_hex);
    fits.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// Marks a request that is traced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsTraced;

/// The timeline that a traced request is about.
#[derive(Clone, Debug)]
pub(crate) struct TracedTimeline(pub(crate) TimelineId);

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_parent_is_read_as_the_standard_says() {
        let read = |text: &'static str| {
            TraceParent::of(&HeaderMap::from_iter([("traceparent".parse().unwrap(), HeaderValue::from_static(text))]))
        };
        let parent = |is_sampled| TraceParent {
            trace_id: 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c,
            span_id: 0xb7ad_6b71_6920_3331,
            is_sampled,
        };
        for (text, expected) in [
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Some(parent(true))),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", Some(parent(false))),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03", Some(parent(true))),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later", Some(parent(true))),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later", None),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", None),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", None),
            ("00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let mut twice = HeaderMap::new();
        for _ in 0..2 {
            twice.append("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap());
        }
        assert_eq!(TraceParent::of(&twice), None);
    }
}
