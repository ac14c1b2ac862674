use std::fmt::Debug;

use http::HeaderMap;
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

/// Receives trace data of requests. It must not block.
pub trait Traces: Debug + Send + Sync {
    fn answered(&self, request: TracedRequest);

    fn counts(&self) -> TraceCounts;
}

/// Span counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// Spans accepted by the collector.
    pub sent: u64,
    /// Spans dropped because the collector was unavailable or too slow.
    pub dropped: u64,
}

/// A completed request. It contains no request content and no parameter value except the timeline id.
#[derive(Clone, Debug)]
pub struct TracedRequest {
    pub parent: Option<TraceParent>,
    /// The method, from a fixed set.
    pub method: &'static str,
    pub route: Option<String>,
    pub status: u16,
    /// The timeline that the request names, or else the default of the key, if the caller is known.
    pub timeline_id: Option<TimelineId>,
    pub request_id: String,
    pub began: Instant<Wall>,
    /// When the response head was ready, in host time.
    pub ended: Instant<Wall>,
}

/// The parent span of a request (W3C Trace Context, `traceparent`). It is untrusted input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub trace_id: u128,
    pub span_id: u64,
    pub is_sampled: bool,
}

impl TraceParent {
    /// Parses the header if it is valid (§3.2).
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut fields = headers.get_all("traceparent").iter();
        let text = fields.next()?.to_str().ok()?;
        if fields.next().is_some() {
            return None;
        }
        let mut parts = text.splitn(5, '-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = hex(version, 2)?;
        // Only later versions may have more fields, and 0xff is not a valid version.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let (trace_id, span_id, flags) = (hex(trace, 32)?, u64::try_from(hex(span, 16)?).ok()?, hex(flags, 2)?);
        (trace_id != 0 && span_id != 0).then_some(Self { trace_id, span_id, is_sampled: flags & 1 == 1 })
    }
}

/// Parses exactly `digits` lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let fits = text.len() == digits && text.bytes().all(is_hex);
    fits.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct IsTraced;

#[derive(Clone, Debug)]
pub(crate) struct TracedTimeline(pub(crate) TimelineId);

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn traceparent_is_parsed_as_in_the_standard() {
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
