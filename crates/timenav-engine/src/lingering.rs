//! Waiting a moment for company, where nobody waits for an answer.
//!
//! A read whose entry is only buffered is answered before the writer has it. So the writer may wait for more of them: one
//! commit of many costs little more than one of one, and each commit makes readers of the store read its pages anew.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::sync::mpsc;

/// How long the writer waits for more where nobody waits for it: so long may the entry of a buffered read take to be
/// written, besides the commit itself.
pub(crate) const LINGER: Duration = Duration::from_millis(20);

/// Is rung when somebody waits for the writer, or the queue is full.
#[derive(Default)]
pub(crate) struct Bell {
    is_rung: Mutex<bool>,
    rings: Condvar,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.is_rung.lock() = true;
        self.rings.notify_one();
    }

    /// Waits until it rings, or has rung since the last time; at most so long.
    fn wait(&self, most: Duration) {
        let mut is_rung = self.is_rung.lock();
        let _ = self.rings.wait_while_for(&mut is_rung, |is_rung| !*is_rung, most);
        *is_rung = false;
    }
}

/// Puts something into a queue, and rings where somebody waits for it or the queue is full.
pub(crate) async fn hand_over<T>(
    queue: &mpsc::Sender<T>,
    one: T,
    (is_awaited, bell): (bool, &Bell),
) -> Result<(), mpsc::error::SendError<T>> {
    if queue.capacity() == 0 {
        bell.ring();
    }
    queue.send(one).await?;
    if is_awaited {
        bell.ring();
    }
    Ok(())
}

/// Takes what waits in a queue, `most` at a time and once more what came meanwhile; nothing where the queue has ended.
/// Where nobody waits for any of it, more is waited for until the bell rings, at most for `linger`.
pub(crate) fn collect<T>(
    queue: &mut mpsc::Receiver<T>,
    most: usize,
    is_awaited: impl Fn(&T) -> bool,
    (bell, linger): (&Bell, Duration),
) -> Vec<T> {
    let mut taken = Vec::new();
    let count = queue.blocking_recv_many(&mut taken, most);
    if count > 0 && count < most && !queue.is_closed() && !taken.iter().any(is_awaited) {
        bell.wait(linger);
        while let Ok(one) = queue.try_recv() {
            taken.push(one);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVER: Duration = Duration::from_hours(1);

    #[test]
    fn what_nobody_waits_for_waits_for_more() {
        let (sender, mut queue) = mpsc::channel(9);
        let bell = Bell::default();
        let taken = std::thread::scope(|scope| {
            let taking = scope.spawn(|| collect(&mut queue, 9, |number| number % 2 == 0, (&bell, EVER)));
            for number in [1, 3, 5] {
                sender.blocking_send(number).unwrap();
            }
            sender.blocking_send(2).unwrap();
            bell.ring();
            taking.join().unwrap()
        });
        // The first ones may have come together with the one that somebody waits for, but none is left behind.
        assert_eq!(taken, [1, 3, 5, 2]);
    }

    #[test]
    fn what_somebody_waits_for_waits_for_nothing() {
        let (sender, mut queue) = mpsc::channel(9);
        let bell = Bell::default();
        for number in [1, 2, 3] {
            sender.blocking_send(number).unwrap();
        }
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&bell, EVER)), [1, 2, 3]);
        // So many are enough.
        for number in [1, 3, 5] {
            sender.blocking_send(number).unwrap();
        }
        assert_eq!(collect(&mut queue, 2, |number| number % 2 == 0, (&bell, EVER)), [1, 3]);
        // It was rung before anybody listened.
        bell.ring();
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&bell, EVER)), [5]);
        // Nobody comes, and the moment is over.
        sender.blocking_send(7).unwrap();
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&bell, Duration::from_millis(1))), [7]);
        // The end of the queue is waited for by nobody.
        sender.blocking_send(9).unwrap();
        drop(sender);
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&bell, EVER)), [9]);
        assert!(collect(&mut queue, 9, |number| number % 2 == 0, (&bell, EVER)).is_empty());
    }
}
