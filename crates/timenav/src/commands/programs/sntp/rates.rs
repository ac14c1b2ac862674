use std::collections::HashMap;
use std::net::IpAddr;

/// Requests per address and second. Clients send one a minute, or a few when they start.
pub(super) const REQUESTS_PER_SECOND_MAX: u32 = 16;
/// Addresses per second. Above that, new addresses get no response until the next second.
pub(super) const ADDRESSES_PER_SECOND_MAX: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Answer,
    /// The first request above the limit: the client is notified.
    Tell,
    Drop,
}

#[derive(Debug, Default)]
pub(super) struct Rates {
    second: u64,
    counts: HashMap<IpAddr, u32>,
}

impl Rates {
    /// Counts a request. Loopback is unlimited.
    pub(super) fn count(&mut self, address: IpAddr, second: u64) -> Verdict {
        if address.to_canonical().is_loopback() {
            return Verdict::Answer;
        }
        if self.second != second {
            self.second = second;
            self.counts.clear();
        }
        if self.counts.len() >= ADDRESSES_PER_SECOND_MAX && !self.counts.contains_key(&address) {
            return Verdict::Drop;
        }
        let counts = self.counts.entry(address).or_default();
        *counts = counts.saturating_add(1);
        match (*counts).cmp(&(REQUESTS_PER_SECOND_MAX + 1)) {
            std::cmp::Ordering::Less => Verdict::Answer,
            std::cmp::Ordering::Equal => Verdict::Tell,
            std::cmp::Ordering::Greater => Verdict::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn rate_limited_address_is_notified_once_a_second() {
        let (mut rates, address) = (Rates::default(), IpAddr::from([192, 0, 2, 1]));
        for second in [7, 8] {
            for _ in 0..REQUESTS_PER_SECOND_MAX {
                assert_eq!(rates.count(address, second), Verdict::Answer);
            }
            assert_eq!(rates.count(address, second), Verdict::Tell);
            assert_eq!(rates.count(address, second), Verdict::Drop);
            assert_eq!(rates.count(IpAddr::from([192, 0, 2, 2]), second), Verdict::Answer);
        }
    }

    #[test]
    fn rate_limiter_memory_is_bounded() {
        let mut rates = Rates::default();
        let address = |n: u32| IpAddr::from(Ipv4Addr::from(0x0a00_0000 + n));
        let max = u32::try_from(ADDRESSES_PER_SECOND_MAX).unwrap();
        for n in 0..max {
            assert_eq!(rates.count(address(n), 1), Verdict::Answer);
        }
        assert_eq!(rates.count(address(max), 1), Verdict::Drop);
        assert_eq!(rates.count(address(0), 1), Verdict::Answer, "who is known is answered on");
        assert_eq!(rates.counts.len(), ADDRESSES_PER_SECOND_MAX);
        assert_eq!(rates.count(address(max), 2), Verdict::Answer);
    }

    #[test]
    fn loopback_is_not_rate_limited() {
        let mut rates = Rates::default();
        for _ in 0..1_000 {
            assert_eq!(rates.count(IpAddr::from([127, 0, 0, 1]), 1), Verdict::Answer);
        }
        assert!(rates.counts.is_empty());
    }
}
