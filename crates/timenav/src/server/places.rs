use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use timenav_http::{ConnectionEnd, Network};
use tokio_util::sync::CancellationToken;

use super::activity::{Activity, Order};

/// Connections that are closing to make room. Their descriptors are part of the reserve.
const LEAVING_MAX: usize = 32;

pub(super) struct Places {
    all_max: usize,
    per_address_max: usize,
    order: Arc<Order>,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    by_number: HashMap<u64, Held>,
    by_address: HashMap<Network, usize>,
    leaving: usize,
}

struct Held {
    activity: Arc<Activity>,
    gives_way: CancellationToken,
}

/// The slot of one connection; released on drop.
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    address: Network,
    pub(super) activity: Arc<Activity>,
    /// Canceled when another connection needs the slot.
    pub(super) gives_way: CancellationToken,
}

impl Places {
    pub(super) fn new(all_max: u32, per_address_max: u32) -> Arc<Self> {
        let (order, taken) = (Arc::default(), Mutex::default());
        Arc::new(Self { all_max: all_max as usize, per_address_max: per_address_max as usize, order, taken })
    }

    /// Takes a slot for a connection from an address. If all are taken, the connection that has been idle longest is
    /// closed. Fails if the limit of connections, or that of the address, is reached.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Result<Place, ConnectionEnd> {
        let address = Network::of(address);
        let mut taken = self.taken.lock();
        let of_address = taken.by_address.get(&address).copied().unwrap_or(0);
        if of_address >= self.per_address_max {
            return Err(ConnectionEnd::AddressFull);
        }
        if taken.by_number.len() - taken.leaving >= self.all_max && !taken.one_gives_way() {
            return Err(ConnectionEnd::Full);
        }
        let number = self.order.next();
        let activity = Arc::new(Activity::begun(number));
        let gives_way = CancellationToken::new();
        taken.by_number.insert(number, Held { activity: Arc::clone(&activity), gives_way: gives_way.clone() });
        taken.by_address.insert(address, of_address + 1);
        Ok(Place { places: Arc::clone(self), number, address, activity, gives_way })
    }
}

impl Taken {
    fn one_gives_way(&mut self) -> bool {
        if self.leaving >= LEAVING_MAX {
            return false;
        }
        let idle = self.by_number.values().filter(|held| held.activity.is_idle() && !held.gives_way.is_cancelled());
        let Some(spared) = idle.min_by_key(|held| held.activity.last_use()) else { return false };
        spared.gives_way.cancel();
        self.leaving += 1;
        true
    }
}

impl Place {
    pub(super) fn order(&self) -> Arc<Order> {
        Arc::clone(&self.places.order)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        taken.by_number.remove(&self.number);
        if self.gives_way.is_cancelled() {
            taken.leaving -= 1;
        }
        if let Some(of_address) = taken.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::activity::Turn;
    use super::*;

    fn from(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn connections_per_address_are_limited_and_released() {
        let places = Places::new(10, 2);
        let check = |text: &str, expected: bool| match places.take(from(text)) {
            Ok(place) if expected => Some(place),
            Err(ConnectionEnd::AddressFull) if !expected => None,
            other => panic!("{text}: {:?}", other.err()),
        };
        let first = check("192.0.2.1", true);
        let _second = check("::ffff:192.0.2.1", true);
        check("192.0.2.1", false);
        let _others = [check("192.0.2.2", true), check("2001:db8::1", true), check("2001:db8::ffff:1", true)];
        check("2001:db8:0:0:5::", false);
        check("2001:db8:0:1::", true);
        drop(first);
        check("192.0.2.1", true);
    }

    #[test]
    fn longest_idle_connection_is_closed_if_full() {
        let places = Places::new(3, 3);
        let take = |text: &str| places.take(from(text));
        let [first, second, third] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|text| take(text).ok().unwrap());
        let gives_way = || [&first, &second, &third].map(|place| place.gives_way.is_cancelled());
        let ask = |place: &Place| Turn::begin(Arc::clone(&place.activity), place.order());
        drop(ask(&first));
        let fourth = take("192.0.2.4").ok().unwrap();
        assert_eq!(gives_way(), [false, true, false], "the first was used after it");
        let busy = ask(&third);
        let fifth = take("192.0.2.5").ok().unwrap();
        assert_eq!(gives_way(), [true, true, false], "it is busy, and the others are newer");
        let turns = [ask(&fourth), ask(&fifth)];
        assert_eq!(take("192.0.2.6").err(), Some(ConnectionEnd::Full), "those that give way already make no more room");
        drop(second);
        assert_eq!(take("192.0.2.6").err(), Some(ConnectionEnd::Full));
        drop((busy, turns));
        take("192.0.2.6").ok().unwrap();
        assert!(third.gives_way.is_cancelled());
    }

    #[test]
    fn concurrently_closing_connections_are_limited() {
        let places = Places::new(1, 100);
        let here = from("192.0.2.1");
        let mut all = Vec::new();
        while let Ok(place) = places.take(here) {
            all.push(place);
        }
        assert_eq!(all.len(), 1 + LEAVING_MAX);
        all.clear();
        assert!(places.take(here).is_ok());
        let taken = places.taken.lock();
        assert_eq!((taken.leaving, taken.by_number.len(), taken.by_address.len()), (0, 0, 0));
    }
}
