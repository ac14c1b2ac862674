//! Fair scheduling of work that takes memory and a core.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::ids::UserId;
use timenav_core::limits::{KEY_DERIVATIONS_MAX, KEY_DERIVATIONS_WAITING_MAX, KEY_DERIVATIONS_WAITING_PER_USER_MAX};
use timenav_engine::VaultError;
use tokio::sync::oneshot;

/// The lowest priority of a thread (nice(2)).
#[cfg(target_os = "linux")]
const NICE_MOST: i32 = 19;

/// Turns for deliberately slow work. Total concurrency and queue length are limited, and each user has one turn at a
/// time. Users are served round-robin, regardless of how much each of them requests. Clones share the same limits.
#[derive(Clone, Default)]
pub struct Turns(Arc<Mutex<Line>>);

#[derive(Default)]
struct Line {
    working: usize,
    waiting: usize,
    askers: HashMap<Asker, WaitQueue>,
    /// Users with waiting but no running work, the one that has waited longest first.
    next: VecDeque<Asker>,
    /// Number of requests without a user so far.
    strangers: u64,
}

/// On whose behalf work is requested.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asker {
    User(UserId),
    /// A login, where the user is not known yet. Each one counts separately; logins are rate-limited elsewhere.
    Stranger(u64),
}

#[derive(Default)]
struct WaitQueue {
    works: bool,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

/// A turn. It passes to the next one when dropped.
pub(crate) struct Turn {
    turns: Turns,
    asker: Asker,
}

impl Turns {
    /// Runs the work on a separate thread with the lowest priority: fast requests must not wait for a derivation.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        user: Option<&UserId>,
        work: impl FnOnce() -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let turn = self.wait(user)?.await.map_err(|_| VaultError::Failed)?;
        let (answer, done) = oneshot::channel();
        let working = std::thread::Builder::new().name("sealing".to_owned()).spawn(move || {
            // Held until the work is done, even if the caller has gone.
            let _held = turn;
            give_way();
            let _ = answer.send(work());
        });
        working.map_err(|_| VaultError::Failed)?;
        done.await.map_err(|_| VaultError::Failed)?
    }

    /// Joins the queue, and returns the receiver of the turn.
    pub(crate) fn wait(&self, user: Option<&UserId>) -> Result<oneshot::Receiver<Turn>, VaultError> {
        let (sender, receiver) = oneshot::channel();
        let mut line = self.0.lock();
        let asker = match user {
            Some(user) => Asker::User(user.clone()),
            None => Asker::Stranger(line.strangers),
        };
        line.strangers += u64::from(user.is_none());
        line.enter(asker, sender)?;
        let turns = line.give(self);
        drop(line);
        hand_over(turns);
        Ok(receiver)
    }
}

impl Line {
    fn enter(&mut self, asker: Asker, waiting: oneshot::Sender<Turn>) -> Result<(), VaultError> {
        let is_full = |line: &Self| {
            let own = line.askers.get(&asker).map_or(0, |own| own.waiting.len());
            line.waiting >= KEY_DERIVATIONS_WAITING_MAX || own >= KEY_DERIVATIONS_WAITING_PER_USER_MAX
        };
        if is_full(self) {
            self.forget_departed_callers();
            if is_full(self) {
                return Err(VaultError::Busy);
            }
        }
        let own = self.askers.entry(asker.clone()).or_default();
        if own.waiting.is_empty() && !own.works {
            self.next.push_back(asker);
        }
        own.waiting.push_back(waiting);
        self.waiting += 1;
        Ok(())
    }

    /// Removes requests whose callers have gone.
    fn forget_departed_callers(&mut self) {
        for own in self.askers.values_mut() {
            own.waiting.retain(|waiting| !waiting.is_closed());
        }
        self.askers.retain(|_, own| own.works || !own.waiting.is_empty());
        self.next.retain(|asker| self.askers.contains_key(asker));
        self.waiting = self.askers.values().map(|own| own.waiting.len()).sum();
    }

    fn give(&mut self, turns: &Turns) -> Vec<(oneshot::Sender<Turn>, Turn)> {
        let mut given = Vec::new();
        while self.working < KEY_DERIVATIONS_MAX
            && let Some(asker) = self.next.pop_front()
        {
            let Some(own) = self.askers.get_mut(&asker) else { continue };
            let Some(waiting) = own.waiting.pop_front() else { continue };
            own.works = true;
            self.waiting -= 1;
            self.working += 1;
            given.push((waiting, Turn { turns: turns.clone(), asker }));
        }
        given
    }

    fn end(&mut self, asker: &Asker) {
        self.working -= 1;
        let Some(own) = self.askers.get_mut(asker) else { return };
        own.works = false;
        if own.waiting.is_empty() {
            self.askers.remove(asker);
        } else {
            self.next.push_back(asker.clone());
        }
    }
}

/// Sends turns to their receivers. The turn of a caller that has gone is dropped at once, which assigns the next ones.
/// Therefore the lock must not be held here.
fn hand_over(turns: Vec<(oneshot::Sender<Turn>, Turn)>) {
    for (waiting, turn) in turns {
        let _ = waiting.send(turn);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut line = self.turns.0.lock();
        line.end(&self.asker);
        let turns = line.give(&self.turns);
        drop(line);
        hand_over(turns);
    }
}

/// Gives the current thread the lowest priority. Only Linux supports this for a single thread.
fn give_way() {
    // On failure the work runs with normal priority.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICE_MOST);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> UserId {
        UserId::new(name).unwrap()
    }

    fn is_given(waiting: &mut oneshot::Receiver<Turn>) -> Option<Turn> {
        waiting.try_recv().ok()
    }

    #[test]
    fn users_derive_keys_in_turns() {
        let turns = Turns::default();
        // One user requests much, before all others.
        let mut greedy: Vec<_> =
            (0..KEY_DERIVATIONS_WAITING_PER_USER_MAX).map(|_| turns.wait(Some(&user("greedy"))).unwrap()).collect();
        let first = is_given(&mut greedy[0]).expect("nobody else is there");
        assert!(is_given(&mut greedy[1]).is_none(), "one of each user at a time");
        let mut others: Vec<_> = (1..KEY_DERIVATIONS_MAX + 2)
            .map(|number| turns.wait(Some(&user(&format!("u{number}")))).unwrap())
            .collect();
        let mut held: Vec<Turn> = Vec::new();
        for other in &mut others[..KEY_DERIVATIONS_MAX - 1] {
            held.push(is_given(other).expect("there are turns left"));
        }
        let last = KEY_DERIVATIONS_MAX - 1;
        assert!(is_given(&mut others[last]).is_none(), "so many at a time");
        // Waiting users come before more work of the same user.
        drop(first);
        let next = is_given(&mut others[last]).expect("the next one's turn");
        assert!(is_given(&mut greedy[1]).is_none());
        drop(next);
        let again = is_given(&mut others[last + 1]).expect("the one after");
        assert!(is_given(&mut greedy[1]).is_none());
        drop(again);
        drop(is_given(&mut greedy[1]).expect("its turn has come"));
        drop(held);
        for rest in &mut greedy[2..] {
            drop(is_given(rest).expect("one after the other"));
        }
        let line = turns.0.lock();
        assert!(line.askers.is_empty() && line.next.is_empty() && (line.working, line.waiting) == (0, 0));
    }

    #[test]
    fn turns_without_a_user_are_given_in_arrival_order() {
        let turns = Turns::default();
        let mut all: Vec<_> =
            (0..KEY_DERIVATIONS_MAX + KEY_DERIVATIONS_WAITING_MAX).map(|_| turns.wait(None).unwrap()).collect();
        assert!(turns.wait(None).is_err(), "so many in all");
        for waiting in &mut all {
            drop(is_given(waiting).expect("in the order in which they came"));
        }
        assert!(turns.0.lock().askers.is_empty());
    }

    #[test]
    fn dropped_waiters_free_their_places() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for number in 0..KEY_DERIVATIONS_MAX {
            held.push(is_given(&mut turns.wait(Some(&user(&format!("u{number}")))).unwrap()).unwrap());
        }
        let per_user = KEY_DERIVATIONS_WAITING_PER_USER_MAX;
        let mut waiting: Vec<_> = (0..per_user).map(|_| turns.wait(Some(&user("one"))).unwrap()).collect();
        assert!(turns.wait(Some(&user("one"))).is_err(), "so many of one user");
        for number in per_user..KEY_DERIVATIONS_WAITING_MAX {
            waiting.push(turns.wait(Some(&user(&format!("w{}", number / per_user)))).unwrap());
        }
        assert!(turns.wait(Some(&user("another"))).is_err(), "so many in all");
        waiting.drain(..per_user);
        let mut one = turns.wait(Some(&user("one"))).unwrap();
        let mut another = turns.wait(Some(&user("another"))).unwrap();
        // All other callers leave, and the remaining ones get their turns.
        waiting.clear();
        drop(held.pop());
        let _one = is_given(&mut one).expect("a turn");
        drop(held);
        is_given(&mut another).expect("a turn");
    }
}
