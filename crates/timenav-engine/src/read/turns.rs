//! A fair semaphore: the next turn goes to the caller with the fewest running ones. A caller with a hundred requests
//! therefore does not delay a caller with two.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Clones share the same turns.
#[derive(Clone)]
pub(crate) struct Turns<K: Clone + Eq>(Arc<Mutex<Board<K>>>);

/// A turn, which is released when it is dropped.
pub(crate) struct Turn<K: Clone + Eq>(Option<(K, Arc<Mutex<Board<K>>>)>);

struct Board<K: Clone + Eq> {
    free: usize,
    /// Callers with running or waiting requests; the one served last is at the end.
    callers: VecDeque<Queue<K>>,
}

struct Queue<K: Clone + Eq> {
    of: K,
    running: usize,
    waiting: VecDeque<oneshot::Sender<Turn<K>>>,
}

impl<K: Clone + Eq> Turns<K> {
    pub(crate) fn new(turns_max: usize) -> Self {
        Self(Arc::new(Mutex::new(Board { free: turns_max, callers: VecDeque::new() })))
    }

    /// Dropping the future gives up the place in the queue.
    pub(crate) async fn take(&self, of: K) -> Turn<K> {
        let (hand, handed) = oneshot::channel();
        {
            let mut board = self.0.lock();
            board.queue(of).waiting.push_back(hand);
            board.hand_out(&self.0);
        }
        // The sender is only dropped after it has sent a turn.
        handed.await.unwrap_or(Turn(None))
    }

    /// Takes a turn immediately, if one is free and the caller has fewer than `own_max`.
    pub(crate) fn try_take(&self, of: K, own_max: usize) -> Option<Turn<K>> {
        let mut board = self.0.lock();
        if board.free == 0 || board.queue(of.clone()).running >= own_max {
            board.tidy();
            return None;
        }
        board.free -= 1;
        board.queue(of.clone()).running += 1;
        Some(Turn(Some((of, Arc::clone(&self.0)))))
    }

    pub(crate) fn free(&self) -> usize {
        self.0.lock().free
    }
}

impl<K: Clone + Eq> Board<K> {
    fn queue(&mut self, of: K) -> &mut Queue<K> {
        let known = self.callers.iter().position(|queue| queue.of == of);
        let at = known.unwrap_or_else(|| {
            self.callers.push_back(Queue { of, running: 0, waiting: VecDeque::new() });
            self.callers.len() - 1
        });
        &mut self.callers[at]
    }

    fn hand_out(&mut self, board: &Arc<Mutex<Self>>) {
        while self.free > 0 {
            let waiting = self.callers.iter().enumerate().filter(|(_, queue)| !queue.waiting.is_empty());
            let Some((at, _)) = waiting.min_by_key(|(_, queue)| queue.running) else { break };
            let Some(mut queue) = self.callers.remove(at) else { break };
            if let Some(hand) = queue.waiting.pop_front() {
                match hand.send(Turn(Some((queue.of.clone(), Arc::clone(board))))) {
                    Ok(()) => {
                        self.free -= 1;
                        queue.running += 1;
                    }
                    // The receiver is gone. The turn was not counted, so it must not be released.
                    Err(mut unwanted) => unwanted.0 = None,
                }
            }
            self.callers.push_back(queue);
        }
        self.tidy();
    }

    fn tidy(&mut self) {
        self.callers.retain(|queue| queue.running > 0 || !queue.waiting.is_empty());
    }
}

impl<K: Clone + Eq> Drop for Turn<K> {
    fn drop(&mut self) {
        let Some((of, shared)) = self.0.take() else { return };
        let mut board = shared.lock();
        board.free += 1;
        board.queue(of).running -= 1;
        board.hand_out(&shared);
    }
}

impl<K: Clone + Eq> std::fmt::Debug for Turn<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<K: Clone + Eq>(future: &mut std::pin::Pin<&mut impl Future<Output = Turn<K>>>) -> Option<Turn<K>> {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn every_caller_gets_one_turn_before_another_gets_two() {
        let turns = Turns::new(1);
        let held = poll(&mut pin!(turns.take("a"))).expect("one is free");
        let (mut a1, mut a2, mut b) = (pin!(turns.take("a")), pin!(turns.take("a")), pin!(turns.take("b")));
        for waiter in [&mut a1, &mut a2] {
            assert!(poll(waiter).is_none());
        }
        assert!(poll(&mut b).is_none());
        drop(held);
        let first = poll(&mut a1).expect("a stands first: nobody works, and b came later");
        assert!(poll(&mut a2).is_none() && poll(&mut b).is_none());
        drop(first);
        let second = poll(&mut b).expect("b has had none");
        assert!(poll(&mut a2).is_none());
        drop(second);
        assert!(poll(&mut a2).is_some());
        assert_eq!(turns.free(), 1);
    }

    #[test]
    fn busy_caller_waits_for_an_idle_one() {
        let turns = Turns::new(2);
        let _held = poll(&mut pin!(turns.take("a"))).expect("two are free");
        let other = poll(&mut pin!(turns.take("a"))).expect("one is free");
        let (mut a, mut b) = (pin!(turns.take("a")), pin!(turns.take("b")));
        assert!(poll(&mut a).is_none() && poll(&mut b).is_none());
        drop(other);
        assert!(poll(&mut a).is_none(), "a works already");
        assert!(poll(&mut b).is_some());
    }

    #[test]
    fn dropped_waiter_keeps_no_turn() {
        let turns = Turns::new(1);
        let held = poll(&mut pin!(turns.take("a"))).expect("one is free");
        {
            let mut dropped = pin!(turns.take("b"));
            assert!(poll(&mut dropped).is_none());
        }
        {
            // A turn is granted, and dropped before it is taken.
            let mut late = pin!(turns.take("c"));
            assert!(poll(&mut late).is_none());
            drop(held);
        }
        assert_eq!(turns.free(), 1);
        assert!(turns.0.lock().callers.is_empty());
    }

    #[test]
    fn concurrent_turns_per_caller_are_limited() {
        let turns = Turns::new(3);
        let one = turns.try_take("a", 2).expect("three are free");
        let _two = turns.try_take("a", 2).expect("two are free");
        assert!(turns.try_take("a", 2).is_none());
        let _other = turns.try_take("b", 2).expect("one is free");
        assert!(turns.try_take("c", 2).is_none(), "none is free");
        drop(one);
        assert!(turns.try_take("c", 2).is_some());
    }
}
