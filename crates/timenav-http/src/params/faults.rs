//! Everything that is wrong with the parameters of a request, in one answer.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use super::{PathError, fault, from_map, merged, query_map};
use crate::problem::{Failure, FaultKind, ParameterFault};

/// Most faults that are told in one answer.
const FAULTS_MAX: usize = 20;
/// Longest request of which more than the first fault is looked for, in bytes: each costs another reading.
const LOOKED_THROUGH_BYTES_MAX: usize = 64 * 1024;

/// Returns a failure together with whatever else is wrong with the parameters.
pub(super) fn all<T: DeserializeOwned + PartialSchema>(query: &str, body: &[u8], first: Failure) -> Failure {
    looked_for(query, body, first, &Kind { refusal: |given| from_map::<T>(given).err(), schema: T::schema })
}

/// What has to be known of a type of parameters. Not the type itself: there are as many as operations, and for each of
/// them the compiler would make everything here anew.
struct Kind {
    /// Returns why the type cannot be read from a map.
    refusal: fn(Map<String, Value>) -> Option<PathError>,
    schema: fn() -> RefOr<Schema>,
}

fn looked_for(query: &str, body: &[u8], first: Failure, kind: &Kind) -> Failure {
    let Failure::Parameter(first) = first else { return first };
    if query.len() + body.len() > LOOKED_THROUGH_BYTES_MAX || first.kind == FaultKind::Conflicting {
        return Failure::Parameter(first);
    }
    let Ok(given) = query_map(query).and_then(|of_query| merged(of_query, body)) else {
        return Failure::Parameter(first);
    };
    let mut faults = wrong(&given, kind);
    // What was sent under another name is not told as missing as well.
    let meant: Vec<String> =
        faults.iter().filter(|fault| fault.kind == FaultKind::Unknown).filter_map(suggested).collect();
    let is_told = |name: &String| given.contains_key(name) || meant.contains(name);
    faults.extend(required(kind).into_iter().filter(|name| !is_told(name)).map(|name| missing(&name)));
    // What was found first is told first: clients branch on its code.
    faults.retain(|fault| fault.path != first.path);
    faults.insert(0, first);
    faults.truncate(FAULTS_MAX);
    if faults.len() == 1 { Failure::Parameter(faults.remove(0)) } else { Failure::Parameters(faults) }
}

/// Returns what is wrong with what is there: each parameter that is refused is left out, and the others read again.
fn wrong(given: &Map<String, Value>, kind: &Kind) -> Vec<ParameterFault> {
    let (mut left, mut faults) = (given.clone(), Vec::new());
    while faults.len() < FAULTS_MAX {
        let Some(error) = (kind.refusal)(left.clone()) else { break };
        let Failure::Parameter(found) = fault(&error) else { break };
        // A name in a path has its tildes and slashes written otherwise (RFC 6901 §3).
        let name = found.path.split('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        if left.remove(&name).is_none() {
            break;
        }
        faults.push(found);
    }
    faults
}

/// Returns the names of parameters that must be there.
fn required(kind: &Kind) -> BTreeSet<String> {
    match (kind.schema)() {
        RefOr::T(Schema::Object(object)) => object.required.into_iter().collect(),
        _ => BTreeSet::new(),
    }
}

/// Returns the name that is suggested in the place of an unknown one.
fn suggested(fault: &ParameterFault) -> Option<String> {
    fault.detail.split_once("did you mean `")?.1.split('`').next().map(str::to_owned)
}

fn missing(name: &str) -> ParameterFault {
    ParameterFault { kind: FaultKind::Missing, path: name.to_owned(), detail: format!("`{name}` is required") }
}
