//! Batches submissions for which no caller waits.
//!
//! A read with a buffered entry is answered before the writer receives it. The writer can therefore wait for more: a
//! large commit costs little more than a small one, and each commit makes readers of the store read its pages again.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::sync::mpsc;

/// How long the writer waits for more submissions if no caller waits. This delays the entry of a buffered read.
pub(crate) const LINGER: Duration = Duration::from_millis(20);

/// Signals that a caller waits for the writer, or that the queue is full.
#[derive(Default)]
pub(crate) struct BatchDelay {
    is_rung: Mutex<bool>,
    rings: Condvar,
}

impl BatchDelay {
    pub(crate) fn ring(&self) {
        *self.is_rung.lock() = true;
        self.rings.notify_one();
    }

    /// Waits for a signal since the last wait, for at most `most`.
    fn wait(&self, most: Duration) {
        let mut is_rung = self.is_rung.lock();
        let _ = self.rings.wait_while_for(&mut is_rung, |is_rung| !*is_rung, most);
        *is_rung = false;
    }
}

/// Puts an item into a queue. Signals if a caller waits for it, or if the queue is full.
pub(crate) async fn hand_over<T>(
    queue: &mpsc::Sender<T>,
    one: T,
    (is_awaited, delay): (bool, &BatchDelay),
) -> Result<(), mpsc::error::SendError<T>> {
    if queue.capacity() == 0 {
        delay.ring();
    }
    queue.send(one).await?;
    if is_awaited {
        delay.ring();
    }
    Ok(())
}

/// Takes the items of a queue, up to `most`, and then those added in the meantime; nothing if the queue is closed. If
/// no caller waits for any of them, waits for more until the signal, for at most `linger`.
pub(crate) fn collect<T>(
    queue: &mut mpsc::Receiver<T>,
    most: usize,
    is_awaited: impl Fn(&T) -> bool,
    (delay, linger): (&BatchDelay, Duration),
) -> Vec<T> {
    let mut taken = Vec::new();
    let count = queue.blocking_recv_many(&mut taken, most);
    if count > 0 && count < most && !queue.is_closed() && !taken.iter().any(is_awaited) {
        delay.wait(linger);
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
    fn buffered_items_wait_for_an_awaited_one() {
        let (sender, mut queue) = mpsc::channel(9);
        let delay = BatchDelay::default();
        let taken = std::thread::scope(|scope| {
            let taking = scope.spawn(|| collect(&mut queue, 9, |number| number % 2 == 0, (&delay, EVER)));
            for number in [1, 3, 5] {
                sender.blocking_send(number).unwrap();
            }
            sender.blocking_send(2).unwrap();
            delay.ring();
            taking.join().unwrap()
        });
        // The first items may have been taken together with the awaited one, but none is left behind.
        assert_eq!(taken, [1, 3, 5, 2]);
    }

    #[test]
    fn awaited_items_are_collected_without_delay() {
        let (sender, mut queue) = mpsc::channel(9);
        let delay = BatchDelay::default();
        for number in [1, 2, 3] {
            sender.blocking_send(number).unwrap();
        }
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&delay, EVER)), [1, 2, 3]);
        // This many items are enough.
        for number in [1, 3, 5] {
            sender.blocking_send(number).unwrap();
        }
        assert_eq!(collect(&mut queue, 2, |number| number % 2 == 0, (&delay, EVER)), [1, 3]);
        // The signal came before the wait.
        delay.ring();
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&delay, EVER)), [5]);
        // No signal comes, and the time is over.
        sender.blocking_send(7).unwrap();
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&delay, Duration::from_millis(1))), [7]);
        // A closed queue ends the wait.
        sender.blocking_send(9).unwrap();
        drop(sender);
        assert_eq!(collect(&mut queue, 9, |number| number % 2 == 0, (&delay, EVER)), [9]);
        assert!(collect(&mut queue, 9, |number| number % 2 == 0, (&delay, EVER)).is_empty());
    }
}
