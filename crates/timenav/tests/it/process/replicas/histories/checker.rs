//! Checks whether one order of all requests explains what clients were told, in which no request precedes one that was
//! answered before it was sent.
//!
//! The order covers two objects at once, a timeline and `system`: a revoked key writes nothing that a reader after the
//! acknowledged revocation does not see, and the same holds for a withdrawn permission. The search is that of Wing and
//! Gong with Lowe's memoization: each combination of completed operations and state is visited once.

use std::collections::HashSet;
use std::fmt;

/// Maximum number of events per history.
pub(super) const EVENTS_MAX: u8 = 64;
/// Maximum number of operations per history.
pub(super) const OPERATIONS_MAX: usize = 1_024;
/// States to visit before a history counts as undecidable.
const EXAMINED_MAX: usize = 1_000_000;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// Move the clock forward.
    Move,
    /// Record an event.
    Record(u8),
    /// Read the number of clock moves.
    Clock,
    /// Read whether an event exists.
    Find(u8),
    /// Read all events.
    All,
    /// Revoke a key.
    Revoke(u8),
    /// Grant a user reading and writing.
    Grant(u8),
    /// Withdraw both permissions of a user.
    Withdraw(u8),
}

/// The caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// An operator with permanent access.
    Operator,
    /// An operator with a key that may be revoked.
    Key(u8),
    /// A user whose permission may be withdrawn. It exists initially.
    User(u8),
}

/// The response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    /// Done.
    Done,
    /// Number of clock moves, including this one.
    Generation(u64),
    /// Whether the event exists.
    IsThere(bool),
    /// The existing events, one bit each.
    Events(u64),
    /// The key is invalid.
    Refused,
    /// The user lacks the permission.
    Forbidden,
    /// The outcome is unknown.
    Unknown,
}

/// A request and its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) by: By,
    pub(super) request: RequestKind,
    pub(super) response: Response,
    /// When it was sent and answered, by a shared clock.
    pub(super) begun: u64,
    pub(super) ended: u64,
    /// Whether it was retried without a response: an earlier attempt may have been carried out.
    pub(super) was_repeated: bool,
}

/// Why there is no order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Violation {
    /// A key was rejected before anyone tried to revoke it.
    RefusedTooEarly(usize),
    /// No order exists. The longest prefix ends before one of these.
    NoOrder(Vec<usize>),
    /// Too many states to decide.
    Undecided,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RefusedTooEarly(number) => write!(f, "operation {number} was refused for a key that was good"),
            Self::NoOrder(next) => write!(f, "there is no order of all; none of {next:?} can come next"),
            Self::Undecided => f.write_str("the history is too wide to be decided"),
        }
    }
}

/// A timeline and `system`, as seen by clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) generation: u64,
    pub(super) events: u64,
    pub(super) revoked: u8,
    pub(super) withdrawn: u8,
}

/// An operation that must be in the order, because it was answered or its effect was seen, or that may be left out.
struct Step {
    number: usize,
    operation: Operation,
    is_optional: bool,
}

/// Searches for an order.
///
/// # Errors
/// There is none, or it cannot be decided.
pub(super) fn check(operations: &[Operation], first: State) -> Result<(), Violation> {
    assert!(operations.len() <= OPERATIONS_MAX, "a history of {} operations", operations.len());
    let revocations = || operations.iter().filter(|one| matches!(one.request, RequestKind::Revoke(_)));
    let mut steps = Vec::new();
    for (number, operation) in operations.iter().copied().enumerate() {
        let is_read = matches!(operation.request, RequestKind::Clock | RequestKind::Find(_) | RequestKind::All);
        match operation.response {
            Response::Refused => {
                let is_begun = |one: &Operation| {
                    matches!(one.request, RequestKind::Revoke(key) if By::Key(key) == operation.by)
                        && one.begun < operation.ended
                };
                if !revocations().any(is_begun) {
                    return Err(Violation::RefusedTooEarly(number));
                }
                steps.extend(earlier_try(number, operation).filter(|_| !is_read));
            }
            // A key stays revoked. A permission may be granted again, so the order determines when it was missing.
            Response::Forbidden => {
                steps.push(Step { number, operation, is_optional: false });
                steps.extend(earlier_try(number, operation).filter(|_| !is_read));
            }
            Response::Unknown if is_read => {}
            // An unseen write with an unknown outcome can be left out: no response depends on it.
            Response::Unknown if matches!(operation.request, RequestKind::Record(event) if !is_seen(operations, event)) =>
                {}
            Response::Unknown => {
                let operation = Operation { ended: u64::MAX, ..operation };
                steps.push(Step { number, operation, is_optional: true });
            }
            _ => steps.push(Step { number, operation, is_optional: false }),
        }
    }
    // Operations answered first are tried first, which finds an order sooner.
    steps.sort_by_key(|step| (step.is_optional, step.operation.ended));
    Search::of(&steps).run(first)
}

/// Returns the possible earlier attempt of a rejected operation.
fn earlier_try(number: usize, operation: Operation) -> Option<Step> {
    let operation = Operation { response: Response::Unknown, ..operation };
    operation.was_repeated.then_some(Step { number, operation, is_optional: true })
}

/// Returns whether any client has seen an event.
fn is_seen(operations: &[Operation], event: u8) -> bool {
    operations.iter().any(|one| match (one.request, one.response) {
        (RequestKind::Find(found), Response::IsThere(is_there)) => found == event && is_there,
        (RequestKind::All, Response::Events(events)) => events & (1 << event) != 0,
        _ => false,
    })
}

struct Search<'a> {
    steps: &'a [Step],
    seen: HashSet<(Vec<u64>, State)>,
    /// The longest prefix found, and the operations that could follow it.
    furthest: (usize, Vec<usize>),
}

impl<'a> Search<'a> {
    fn of(steps: &'a [Step]) -> Self {
        Self { steps, seen: HashSet::new(), furthest: (0, Vec::new()) }
    }

    fn run(mut self, first: State) -> Result<(), Violation> {
        let to_do = self.steps.iter().filter(|step| !step.is_optional).count();
        // The completed operations, how many of them are mandatory, and the state.
        let mut open = vec![(vec![0_u64; self.steps.len().div_ceil(64)], 0_usize, first)];
        while let Some((done, count, state)) = open.pop() {
            if count == to_do {
                return Ok(());
            }
            if self.seen.len() > EXAMINED_MAX {
                return Err(Violation::Undecided);
            }
            let next = self.next(&done);
            if count > self.furthest.0 || self.furthest.1.is_empty() {
                self.furthest = (count, next.iter().map(|index| self.steps[*index].number).collect());
            }
            // The last one pushed is visited first.
            for index in next.into_iter().rev() {
                let step = &self.steps[index];
                let Some(after) = apply(state, &step.operation) else { continue };
                let mut done = done.clone();
                done[index / 64] |= 1 << (index % 64);
                if self.seen.insert((done.clone(), after)) {
                    open.push((done, count + usize::from(!step.is_optional), after));
                }
            }
        }
        Err(Violation::NoOrder(self.furthest.1))
    }

    /// Returns the operations that may come next: no remaining one was answered before they were sent.
    fn next(&self, done: &[u64]) -> Vec<usize> {
        let is_left = |index: &usize| done[index / 64] & (1 << (index % 64)) == 0;
        let left: Vec<usize> = (0..self.steps.len()).filter(is_left).collect();
        let ended = left.iter().map(|index| &self.steps[*index]);
        let first_end = ended.filter(|step| !step.is_optional).map(|step| step.operation.ended).min();
        let may_be_next = |index: &usize| first_end.is_none_or(|end| self.steps[*index].operation.begun < end);
        left.into_iter().filter(may_be_next).collect()
    }
}

/// Returns the state after an operation, or `None` if the response is impossible.
fn apply(state: State, Operation { by, request, response, .. }: &Operation) -> Option<State> {
    let is_withdrawn = matches!(by, By::User(user) if state.withdrawn & (1 << user) != 0);
    if *response == Response::Forbidden {
        return is_withdrawn.then_some(state);
    }
    if is_withdrawn || matches!(by, By::Key(key) if state.revoked & (1 << key) != 0) {
        return None;
    }
    match (*request, *response) {
        (RequestKind::Move, response) => {
            let generation = state.generation + 1;
            let is_so = matches!(response, Response::Unknown) || response == Response::Generation(generation);
            is_so.then_some(State { generation, ..state })
        }
        (RequestKind::Record(event), _) => {
            // An event can only be recorded once.
            let is_new = state.events & (1 << event) == 0;
            is_new.then_some(State { events: state.events | 1 << event, ..state })
        }
        (RequestKind::Clock, response) => (response == Response::Generation(state.generation)).then_some(state),
        (RequestKind::Find(event), response) => {
            (response == Response::IsThere(state.events & (1 << event) != 0)).then_some(state)
        }
        (RequestKind::All, response) => (response == Response::Events(state.events)).then_some(state),
        (RequestKind::Revoke(key), _) => Some(State { revoked: state.revoked | 1 << key, ..state }),
        (RequestKind::Grant(user), _) => Some(State { withdrawn: state.withdrawn & !(1 << user), ..state }),
        (RequestKind::Withdraw(user), _) => Some(State { withdrawn: state.withdrawn | 1 << user, ..state }),
    }
}

mod tests {
    use super::*;

    /// An operation with a permanent key.
    fn one(request: RequestKind, response: Response, (begun, ended): (u64, u64)) -> Operation {
        Operation { by: By::Operator, request, response, begun, ended, was_repeated: false }
    }

    fn moved(generation: u64, at: (u64, u64)) -> Operation {
        one(RequestKind::Move, Response::Generation(generation), at)
    }

    fn clock(generation: u64, at: (u64, u64)) -> Operation {
        one(RequestKind::Clock, Response::Generation(generation), at)
    }

    fn recorded(event: u8, at: (u64, u64)) -> Operation {
        one(RequestKind::Record(event), Response::Done, at)
    }

    fn all(events: u64, at: (u64, u64)) -> Operation {
        one(RequestKind::All, Response::Events(events), at)
    }

    fn revoked(key: u8, at: (u64, u64)) -> Operation {
        one(RequestKind::Revoke(key), Response::Done, at)
    }

    fn granted(at: (u64, u64)) -> Operation {
        one(RequestKind::Grant(0), Response::Done, at)
    }

    fn withdrawn(at: (u64, u64)) -> Operation {
        one(RequestKind::Withdraw(0), Response::Done, at)
    }

    fn by(key: u8, operation: Operation) -> Operation {
        Operation { by: By::Key(key), ..operation }
    }

    fn by_user(operation: Operation) -> Operation {
        Operation { by: By::User(0), ..operation }
    }

    fn checked(operations: &[Operation]) -> Result<(), Violation> {
        check(operations, State::default())
    }

    #[track_caller]
    fn has_no_order(operations: &[Operation]) {
        let checked = checked(operations);
        assert!(matches!(checked, Err(Violation::NoOrder(_))), "{checked:?}");
    }

    #[test]
    fn overlapping_operations_may_be_in_any_order() {
        // A read concurrent with a write may see it or not.
        for response in [Response::Generation(0), Response::Generation(1)] {
            let both = [moved(1, (0, 9)), one(RequestKind::Clock, response, (1, 8))];
            assert_eq!(checked(&both), Ok(()));
        }
        let two = [moved(2, (0, 9)), moved(1, (1, 8))];
        assert_eq!(checked(&two), Ok(()));
    }

    #[test]
    fn stale_read_is_detected() {
        has_no_order(&[moved(1, (0, 1)), clock(0, (2, 3))]);
        has_no_order(&[recorded(3, (0, 1)), one(RequestKind::Find(3), Response::IsThere(false), (2, 3))]);
        // A value that was seen is seen by all later readers.
        has_no_order(&[recorded(3, (0, 9)), all(8, (1, 2)), all(0, (3, 4))]);
    }

    #[test]
    fn lost_and_duplicated_writes_are_detected() {
        has_no_order(&[recorded(0, (0, 1)), all(0, (2, 3))]);
        has_no_order(&[moved(1, (0, 1)), moved(1, (2, 3))]);
        has_no_order(&[moved(1, (0, 1)), clock(2, (2, 3))]);
    }

    #[test]
    fn operation_with_unknown_outcome_may_apply_late_or_never() {
        let unknown = one(RequestKind::Move, Response::Unknown, (0, 1));
        for (before, after) in [(0, 0), (0, 1), (1, 1)] {
            let seen = [unknown, clock(before, (2, 3)), clock(after, (4, 5))];
            assert_eq!(checked(&seen), Ok(()), "{before} {after}");
        }
        // But not the old value again, and not two moves.
        for (before, after) in [(1, 0), (1, 2)] {
            has_no_order(&[unknown, clock(before, (2, 3)), clock(after, (4, 5))]);
        }
    }

    #[test]
    fn key_use_after_revocation_is_detected() {
        let revoked = revoked(0, (0, 1));
        has_no_order(&[revoked, by(0, recorded(0, (2, 3)))]);
        has_no_order(&[revoked, by(0, clock(0, (2, 3)))]);
        // Requests sent before the response may precede it, and another key is valid.
        assert_eq!(checked(&[revoked, by(0, recorded(0, (0, 3)))]), Ok(()));
        assert_eq!(checked(&[revoked, by(1, recorded(0, (2, 3)))]), Ok(()));
    }

    #[test]
    fn commit_after_revocation_and_later_read_is_detected() {
        // Each object alone has an order: `system` contains only the revocation, and in the timeline the event is
        // unknown before it is recorded.
        let late = by(0, recorded(0, (0, 9)));
        let late_read = all(0, (4, 5));
        has_no_order(&[late, revoked(0, (1, 3)), late_read]);
        has_no_order(&[
            Operation { response: Response::Unknown, ..late },
            revoked(0, (1, 3)),
            late_read,
            all(1, (10, 11)),
        ]);
        // During the revocation, both are possible.
        assert_eq!(checked(&[late, revoked(0, (1, 6)), late_read]), Ok(()));
    }

    #[test]
    fn rejection_needs_revocation_and_permits_an_earlier_attempt() {
        let refused = by(0, one(RequestKind::Record(0), Response::Refused, (0, 5)));
        assert_eq!(checked(&[refused]), Err(Violation::RefusedTooEarly(0)));
        assert_eq!(checked(&[refused, revoked(1, (1, 2))]), Err(Violation::RefusedTooEarly(0)));
        let (revoked, seen) = (revoked(0, (1, 2)), all(1, (6, 7)));
        has_no_order(&[refused, revoked, seen]);
        assert_eq!(checked(&[Operation { was_repeated: true, ..refused }, revoked, seen]), Ok(()));
        // The earlier attempt may still precede the revocation.
        let late_read = all(0, (3, 4));
        has_no_order(&[Operation { was_repeated: true, ..refused }, revoked, late_read, seen]);
    }

    #[test]
    fn permission_use_after_withdrawal_is_detected() {
        let before = withdrawn((0, 1));
        has_no_order(&[before, by_user(recorded(0, (2, 3)))]);
        has_no_order(&[before, by_user(clock(0, (2, 3)))]);
        assert_eq!(checked(&[before, by_user(recorded(0, (0, 3)))]), Ok(()));
        assert_eq!(checked(&[before, by_user(one(RequestKind::Clock, Response::Forbidden, (2, 3)))]), Ok(()));
        // A cycle: the read after the withdrawal lacks an event written with the permission.
        let late = by_user(recorded(0, (0, 9)));
        let late_read = all(0, (4, 5));
        has_no_order(&[late, withdrawn((1, 3)), late_read]);
        // It may be granted again in between.
        let granted = granted((6, 7));
        assert_eq!(checked(&[late, withdrawn((1, 3)), late_read, granted]), Ok(()));
    }

    #[test]
    fn forbidden_response_needs_a_missing_permission() {
        let forbidden = |at| by_user(one(RequestKind::Clock, Response::Forbidden, at));
        let (withdrawn, granted) = (withdrawn((2, 3)), granted((6, 7)));
        has_no_order(&[forbidden((0, 1))]);
        has_no_order(&[forbidden((0, 1)), withdrawn]);
        has_no_order(&[withdrawn, granted, forbidden((8, 9))]);
        assert_eq!(checked(&[withdrawn, forbidden((4, 5)), granted]), Ok(()));
        assert_eq!(checked(&[withdrawn, granted, by_user(clock(0, (8, 9)))]), Ok(()));
        // A forbidden write has no effect, unless an earlier attempt had.
        let write = by_user(one(RequestKind::Record(0), Response::Forbidden, (0, 5)));
        let seen = all(1, (8, 9));
        has_no_order(&[write, withdrawn, seen]);
        assert_eq!(checked(&[Operation { was_repeated: true, ..write }, withdrawn, seen]), Ok(()));
        // A withdrawal with an unknown outcome may have happened or not, but does not undo itself.
        let unknown = Operation { response: Response::Unknown, ..withdrawn };
        assert_eq!(checked(&[unknown, forbidden((4, 5))]), Ok(()));
        has_no_order(&[unknown, forbidden((4, 5)), by_user(clock(0, (6, 7)))]);
    }

    #[test]
    fn long_history_with_unknown_outcomes_is_decided() {
        let mut operations = Vec::new();
        for number in 0_u64..60 {
            let at = 10 * number;
            operations.push(moved(number + 1, (at, at + 9)));
            operations.push(clock(number, (at + 1, at + 8)));
            let event = u8::try_from(number).unwrap();
            let response = if number % 4 == 0 { Response::Unknown } else { Response::Done };
            operations.push(one(RequestKind::Record(event), response, (at + 2, at + 7)));
        }
        assert_eq!(checked(&operations), Ok(()));
        let all = operations.len() as u64 * 10;
        operations.push(clock(59, (all, all + 1)));
        has_no_order(&operations);
    }
}
