//! SNTP packets as a server uses them (RFC 4330, whose format RFC 5905 keeps).

use timenav_core::time::{Instant, Virtual};

use super::leap::leap_ahead;

/// The header without extension fields and authentication: the minimum of a request and the whole of a response.
pub(super) const PACKET_BYTES: usize = 48;
/// From 1900, the NTP epoch, to 1970.
const SECONDS_1900_TO_1970: i64 = 2_208_988_800;
const MICROS: i64 = 1_000_000;
/// Microseconds, as log2 seconds.
const PRECISION: i8 = -20;
/// The server has no upstream clock.
const STRATUM_PRIMARY: u8 = 1;
/// The server is not synchronized (RFC 5905, section 7.3, figure 11).
const STRATUM_UNSYNCHRONIZED: u8 = 16;
/// The reference id. Ids that start with X are for private use.
const REFERENCE: [u8; 4] = *b"XTNV";
/// The alarm condition: clients must not use this time.
const LEAP_UNKNOWN: u8 = 3;
const MODE_SYMMETRIC_ACTIVE: u8 = 1;
const MODE_SYMMETRIC_PASSIVE: u8 = 2;
const MODE_CLIENT: u8 = 3;
const MODE_SERVER: u8 = 4;
const VERSION_MAX: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    version: u8,
    mode: u8,
    poll: u8,
    transmit: [u8; 8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// When the clock was last set or changed its rate.
    pub(super) set: Instant<Virtual>,
    pub(super) received: Instant<Virtual>,
    pub(super) sent: Instant<Virtual>,
    pub(super) trust: Trust,
}

/// Whether clients may set their clocks by this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It runs, and the service was reached recently.
    Current,
    /// It is paused, so clients that follow it would be wrong at once.
    Synchronized,
    /// The service was not reached recently, so the time is not confirmed.
    Unsynchronized,
}

/// The reason for a response without a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kiss {
    Rate,
    /// Clients would resolve the time to another era.
    Era,
    Deny,
}

impl Request {
    /// Parses a request; `None` if a server does not respond to it. Data after the header is ignored.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..PACKET_BYTES)?;
        let (version, mode) = (header[0] >> 3 & 7, header[0] & 7);
        let is_request = matches!(mode, MODE_CLIENT | MODE_SYMMETRIC_ACTIVE) && (1..=VERSION_MAX).contains(&version);
        let transmit = header[40..].try_into().ok()?;
        is_request.then_some(Self { version, mode, poll: header[2], transmit })
    }

    /// Returns a response with the time. A jump of the clock sends no kiss code `STEP`: that code tells clients to wait
    /// for a new synchronization, which this server never loses.
    pub(super) fn answer(&self, reading: &Reading) -> [u8; PACKET_BYTES] {
        let (leap, stratum) = match reading.trust {
            Trust::Current => (leap_ahead(reading.sent), STRATUM_PRIMARY),
            Trust::Synchronized => (LEAP_UNKNOWN, STRATUM_PRIMARY),
            Trust::Unsynchronized => (LEAP_UNKNOWN, STRATUM_UNSYNCHRONIZED),
        };
        let mut packet = self.begun(leap, stratum, REFERENCE);
        packet[16..24].copy_from_slice(&timestamp(reading.set));
        packet[32..40].copy_from_slice(&timestamp(reading.received));
        packet[40..].copy_from_slice(&timestamp(reading.sent));
        packet
    }

    /// Returns a response without a time, a "kiss of death".
    pub(super) fn refuse(&self, kiss: Kiss) -> [u8; PACKET_BYTES] {
        let code = match kiss {
            Kiss::Rate => *b"RATE",
            Kiss::Era => *b"XERA",
            Kiss::Deny => *b"DENY",
        };
        self.begun(LEAP_UNKNOWN, 0, code)
    }

    /// Returns a response with no times but that of the request, which lets the client match it.
    fn begun(&self, leap: u8, stratum: u8, reference: [u8; 4]) -> [u8; PACKET_BYTES] {
        let mode = if self.mode == MODE_CLIENT { MODE_SERVER } else { MODE_SYMMETRIC_PASSIVE };
        let mut packet = [0; PACKET_BYTES];
        packet[0] = leap << 6 | self.version << 3 | mode;
        packet[1] = stratum;
        packet[2] = self.poll;
        packet[3] = PRECISION.to_be_bytes()[0];
        packet[12..16].copy_from_slice(&reference);
        packet[24..32].copy_from_slice(&self.transmit);
        packet
    }
}

/// Returns the seconds since 1900 within their era of 2^32, and the fraction in 2^-32. All zero bits mean that there is
/// no time, so the start of an era is sent as one fraction later.
fn timestamp(instant: Instant<Virtual>) -> [u8; 8] {
    let micros = instant.micros();
    let seconds = micros.div_euclid(MICROS) + SECONDS_1900_TO_1970;
    let within = micros.rem_euclid(MICROS);
    let fraction = (within << 32) / MICROS;
    let era_seconds = seconds.rem_euclid(1 << 32);
    let bits = era_seconds.cast_unsigned() << 32 | fraction.cast_unsigned();
    bits.max(1).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unix: i64, micros: i64) -> Instant<Virtual> {
        Instant::from_micros(unix * MICROS + micros).unwrap()
    }

    fn request_packet(first: u8) -> [u8; PACKET_BYTES] {
        let mut packet = [0; PACKET_BYTES];
        packet[0] = first;
        packet[2] = 6;
        packet[40..].copy_from_slice(&[0xfe, 1, 2, 3, 0, 0, 7, 0x80]);
        packet
    }

    fn reading(unix: i64) -> Reading {
        Reading { set: at(unix - 5, 0), received: at(unix, 0), sent: at(unix, 1), trust: Trust::Current }
    }

    #[test]
    fn ntp_timestamp_wraps_at_era_boundaries() {
        // RFC 5905, figure 4: 2036-02-07T06:28:16Z is the first second of era 1.
        assert_eq!(timestamp(at(2_085_978_495, 0)), [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        assert_eq!(timestamp(at(2_085_978_496, 0)), [0, 0, 0, 0, 0, 0, 0, 1], "all zero would be no time");
        assert_eq!(timestamp(at(2_085_978_497, 500_000)), [0, 0, 0, 1, 0x80, 0, 0, 0]);
        assert_eq!(timestamp(at(-SECONDS_1900_TO_1970, 0)), [0, 0, 0, 0, 0, 0, 0, 1], "1900");
        assert_eq!(timestamp(at(-SECONDS_1900_TO_1970 - 1, 0)), [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0], "era -1");
        // 1999-12-31T00:00:00Z is 3 155 587 200 in the same table.
        assert_eq!(timestamp(at(946_598_400, 0))[..4], 3_155_587_200_u32.to_be_bytes());
    }

    #[test]
    fn response_echoes_the_client_transmit_timestamp() {
        for version in 1..=VERSION_MAX {
            let request = Request::read(&request_packet(version << 3 | MODE_CLIENT)).unwrap();
            let answer = request.answer(&reading(1_700_000_000));
            assert_eq!(answer[0], version << 3 | MODE_SERVER);
            assert_eq!((answer[1], answer[2], answer[3].cast_signed(), &answer[12..16]), (1, 6, -20, &b"XTNV"[..]));
            assert_eq!(answer[24..32], request_packet(0)[40..]);
            assert_eq!(answer[16..24], timestamp(at(1_699_999_995, 0)));
            assert_eq!(answer[32..40], timestamp(at(1_700_000_000, 0)));
            assert_eq!(answer[40..], timestamp(at(1_700_000_000, 1)));
        }
        let peer = Request::read(&request_packet(4 << 3 | MODE_SYMMETRIC_ACTIVE)).unwrap();
        assert_eq!(peer.answer(&reading(0))[0] & 7, MODE_SYMMETRIC_PASSIVE);
    }

    #[test]
    fn packets_other_than_requests_are_ignored() {
        for mode in [0, 2, 4, 5, 6, 7] {
            assert_eq!(Request::read(&request_packet(4 << 3 | mode)), None, "mode {mode}");
        }
        for version in [0, 5, 6, 7] {
            assert_eq!(Request::read(&request_packet(version << 3 | MODE_CLIENT)), None, "version {version}");
        }
        assert_eq!(Request::read(&request_packet(4 << 3 | MODE_CLIENT)[..47]), None);
        let longer = [&request_packet(4 << 3 | MODE_CLIENT)[..], &[1; 20]].concat();
        assert!(Request::read(&longer).is_some(), "what follows is not looked at");
    }

    #[test]
    fn untrusted_clock_is_marked_unsynchronized() {
        let request = Request::read(&request_packet(4 << 3 | MODE_CLIENT)).unwrap();
        for (trust, stratum) in [(Trust::Synchronized, 1), (Trust::Unsynchronized, 16)] {
            let answer = request.answer(&Reading { trust, ..reading(0) });
            assert_eq!((answer[0] >> 6, answer[1]), (LEAP_UNKNOWN, stratum), "{trust:?}");
        }
        // 2016-12-31 was the last day that had a leap second.
        assert_eq!(request.answer(&reading(1_483_228_799))[0] >> 6, 1);
        for (kiss, code) in [(Kiss::Rate, b"RATE"), (Kiss::Era, b"XERA"), (Kiss::Deny, b"DENY")] {
            let answer = request.refuse(kiss);
            assert_eq!((answer[0] >> 6, answer[1], &answer[12..16]), (LEAP_UNKNOWN, 0, &code[..]));
            assert_eq!(answer[24..32], request_packet(0)[40..]);
            assert_eq!(answer[32..], [0; 16], "no time");
        }
    }
}
