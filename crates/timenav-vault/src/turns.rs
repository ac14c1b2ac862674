//! Whose turn it is to do what takes memory and a core.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_core::ids::UserId;
use timenav_core::limits::{KEY_DERIVATIONS_MAX, KEY_DERIVATIONS_WAITING_MAX, KEY_DERIVATIONS_WAITING_PER_USER_MAX};
use timenav_engine::VaultError;
use tokio::sync::oneshot;

/// The most that a thread can step back by (nice(2)).
#[cfg(target_os = "linux")]
const NICE_MOST: i32 = 19;

/// Turns at what is slow on purpose: so many at a time, of each user one, and so many that wait. Users have their turns
/// one after the other, however much each of them asks for. Whatever shares them, shares them all.
#[derive(Clone, Default)]
pub struct Turns(Arc<Mutex<Line>>);

/// Who works, and who waits for it.
#[derive(Default)]
struct Line {
    working: usize,
    waiting: usize,
    users: HashMap<UserId, OfUser>,
    /// Users with somebody who waits and nobody who works, the one who has waited longest first.
    next: VecDeque<UserId>,
}

/// What is asked for in one user's name.
#[derive(Default)]
struct OfUser {
    works: bool,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

/// A turn that somebody has. It goes on to the next one when it is dropped.
pub(crate) struct Turn {
    turns: Turns,
    user: UserId,
}

impl Turns {
    /// Does the work in its turn, on a thread of its own that gives way to all others: an answer
    /// that takes nothing but a moment must not wait for somebody's passphrase.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        user: &UserId,
        work: impl FnOnce() -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let turn = self.wait(user)?.await.map_err(|_| VaultError::Failed)?;
        let (answer, done) = oneshot::channel();
        let working = std::thread::Builder::new().name("sealing".to_owned()).spawn(move || {
            // Held until the work is done, even if nobody waits for it any more.
            let _held = turn;
            give_way();
            let _ = answer.send(work());
        });
        working.map_err(|_| VaultError::Failed)?;
        done.await.map_err(|_| VaultError::Failed)?
    }

    /// Queues up, and returns what gives the turn.
    pub(crate) fn wait(&self, user: &UserId) -> Result<oneshot::Receiver<Turn>, VaultError> {
        let (sender, receiver) = oneshot::channel();
        let mut line = self.0.lock();
        line.enter(user, sender)?;
        let turns = line.give(self);
        drop(line);
        hand_over(turns);
        Ok(receiver)
    }
}

impl Line {
    fn enter(&mut self, user: &UserId, waiting: oneshot::Sender<Turn>) -> Result<(), VaultError> {
        let is_full = |line: &Self| {
            let of_user = line.users.get(user).map_or(0, |of_user| of_user.waiting.len());
            line.waiting >= KEY_DERIVATIONS_WAITING_MAX || of_user >= KEY_DERIVATIONS_WAITING_PER_USER_MAX
        };
        if is_full(self) {
            self.forget_those_who_left();
            if is_full(self) {
                return Err(VaultError::Busy);
            }
        }
        let of_user = self.users.entry(user.clone()).or_default();
        if of_user.waiting.is_empty() && !of_user.works {
            self.next.push_back(user.clone());
        }
        of_user.waiting.push_back(waiting);
        self.waiting += 1;
        Ok(())
    }

    /// Frees the places of those whose request has ended.
    fn forget_those_who_left(&mut self) {
        for of_user in self.users.values_mut() {
            of_user.waiting.retain(|waiting| !waiting.is_closed());
        }
        self.users.retain(|_, of_user| of_user.works || !of_user.waiting.is_empty());
        self.next.retain(|user| self.users.contains_key(user));
        self.waiting = self.users.values().map(|of_user| of_user.waiting.len()).sum();
    }

    /// Gives turns to those who are next, as many as there are.
    fn give(&mut self, turns: &Turns) -> Vec<(oneshot::Sender<Turn>, Turn)> {
        let mut given = Vec::new();
        while self.working < KEY_DERIVATIONS_MAX
            && let Some(user) = self.next.pop_front()
        {
            let Some(of_user) = self.users.get_mut(&user) else { continue };
            let Some(waiting) = of_user.waiting.pop_front() else { continue };
            of_user.works = true;
            self.waiting -= 1;
            self.working += 1;
            given.push((waiting, Turn { turns: turns.clone(), user }));
        }
        given
    }

    fn end(&mut self, user: &UserId) {
        self.working -= 1;
        let Some(of_user) = self.users.get_mut(user) else { return };
        of_user.works = false;
        if of_user.waiting.is_empty() {
            self.users.remove(user);
        } else {
            self.next.push_back(user.clone());
        }
    }
}

/// Hands turns over. That of somebody who has left ends at once, which gives the next ones theirs; so nothing may be
/// locked here.
fn hand_over(turns: Vec<(oneshot::Sender<Turn>, Turn)>) {
    for (waiting, turn) in turns {
        let _ = waiting.send(turn);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut line = self.turns.0.lock();
        line.end(&self.user);
        let turns = line.give(&self.turns);
        drop(line);
        hand_over(turns);
    }
}

/// Lets every other thread go first from now on. Only Linux can do that for one thread.
fn give_way() {
    // Refused or not known here, the work takes the time it takes.
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
    fn users_have_their_turns_one_after_the_other() {
        let turns = Turns::default();
        // One asks for much, before all others.
        let mut greedy: Vec<_> =
            (0..KEY_DERIVATIONS_WAITING_PER_USER_MAX).map(|_| turns.wait(&user("greedy")).unwrap()).collect();
        let first = is_given(&mut greedy[0]).expect("nobody else is there");
        assert!(is_given(&mut greedy[1]).is_none(), "one of each user at a time");
        let mut others: Vec<_> =
            (1..KEY_DERIVATIONS_MAX + 2).map(|number| turns.wait(&user(&format!("u{number}"))).unwrap()).collect();
        let mut held: Vec<Turn> = Vec::new();
        for other in &mut others[..KEY_DERIVATIONS_MAX - 1] {
            held.push(is_given(other).expect("there are turns left"));
        }
        let last = KEY_DERIVATIONS_MAX - 1;
        assert!(is_given(&mut others[last]).is_none(), "so many at a time");
        // Those who wait come before more of the same user.
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
        assert!(line.users.is_empty() && line.next.is_empty() && (line.working, line.waiting) == (0, 0));
    }

    #[test]
    fn those_who_left_hold_no_place() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for number in 0..KEY_DERIVATIONS_MAX {
            held.push(is_given(&mut turns.wait(&user(&format!("u{number}"))).unwrap()).unwrap());
        }
        let per_user = KEY_DERIVATIONS_WAITING_PER_USER_MAX;
        let mut waiting: Vec<_> = (0..per_user).map(|_| turns.wait(&user("one")).unwrap()).collect();
        assert!(turns.wait(&user("one")).is_err(), "so many of one user");
        for number in per_user..KEY_DERIVATIONS_WAITING_MAX {
            waiting.push(turns.wait(&user(&format!("w{}", number / per_user))).unwrap());
        }
        assert!(turns.wait(&user("another")).is_err(), "so many in all");
        waiting.drain(..per_user);
        let mut one = turns.wait(&user("one")).unwrap();
        let mut another = turns.wait(&user("another")).unwrap();
        // Everybody else leaves while they wait, and those who stay have their turns.
        waiting.clear();
        drop(held.pop());
        let _one = is_given(&mut one).expect("a turn");
        drop(held);
        is_given(&mut another).expect("a turn");
    }
}
