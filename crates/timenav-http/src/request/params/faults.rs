//! Collects all faults in the parameters of a request into one response.

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::reader::ReadError;
use super::{as_json, fault, merged, query_map};
use crate::response::problem::{Failure, FaultKind, ParameterFault};

const FAULTS_MAX: usize = 20;
/// Largest request for which more than the first fault is searched, in bytes: each fault costs another parse.
const EXAMINED_BYTES_MAX: usize = 64 * 1024;

/// Why JSON text does not deserialize into a type. Not generic, so that this module is compiled once for all types.
type Refusal<'a> = dyn Fn(&RawValue) -> Option<ReadError> + 'a;

pub(super) fn all(
    query: &str,
    body: &[u8],
    first: Failure,
    refusal: &Refusal<'_>,
    required: &dyn Fn() -> BTreeSet<String>,
) -> Failure {
    let Failure::Parameter(first) = first else { return first };
    if query.len() + body.len() > EXAMINED_BYTES_MAX || first.kind == FaultKind::Conflicting {
        return Failure::Parameter(first);
    }
    let Ok(given) = query_map(query).and_then(|of_query| merged(of_query, body)) else {
        return Failure::Parameter(first);
    };
    let mut faults = wrong(&given, refusal);
    // A parameter that was sent under a misspelled name is not reported as missing too.
    let canonical: Vec<String> =
        faults.iter().filter(|fault| fault.kind == FaultKind::Unknown).filter_map(suggested).collect();
    let is_reported = |name: &String| given.contains_key(name) || canonical.contains(name);
    faults.extend(required().into_iter().filter(|name| !is_reported(name)).map(|name| missing(&name)));
    // The fault that was found first stays first: clients branch on its code.
    faults.retain(|fault| fault.path != first.path);
    faults.insert(0, first);
    faults.truncate(FAULTS_MAX);
    if faults.len() == 1 { Failure::Parameter(faults.remove(0)) } else { Failure::Parameters(faults) }
}

/// Returns the faults in the given parameters: each rejected parameter is removed and the rest parsed again.
fn wrong(given: &Map<String, Value>, refusal: &Refusal<'_>) -> Vec<ParameterFault> {
    let (mut left, mut faults) = (given.clone(), Vec::new());
    while faults.len() < FAULTS_MAX {
        let Some(error) = as_json(&left).ok().and_then(|json| refusal(&json)) else { break };
        let Failure::Parameter(found) = fault(&error) else { break };
        // JSON pointers escape tildes and slashes (RFC 6901 §3).
        let name = found.path.split('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        if left.remove(&name).is_none() {
            break;
        }
        faults.push(found);
    }
    faults
}

fn suggested(fault: &ParameterFault) -> Option<String> {
    fault.detail.split_once("did you mean `")?.1.split('`').next().map(str::to_owned)
}

fn missing(name: &str) -> ParameterFault {
    ParameterFault { kind: FaultKind::Missing, path: name.to_owned(), detail: format!("`{name}` is required") }
}
