mod leap;
mod packet;
mod rates;

use std::net::{SocketAddr, UdpSocket};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context as _, anyhow, bail};
use timenav_core::time::{Instant, Virtual, Wall};

use crate::background::following;
use crate::background::following::faults::{FaultOptions, Wrong, show};
use crate::background::following::{ClockObserver, FollowOption, Known, Opening, Words};
use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::ports::counted;
use crate::wiring::surroundings::Surroundings;
use packet::{Kiss, Reading, Request, Trust};
use rates::{Rates, Verdict};

const PORTS_MAX: usize = 64;
/// Longer than any request with extension fields; the rest of a longer packet is ignored.
const REQUEST_BYTES: usize = 512;
/// Clients resolve timestamps to the era nearest to their own clock (RFC 5905, section 6).
const ERA_SECONDS_MAX: u64 = 1 << 31;
/// 1968 to 2104, in seconds since 1970, for clients that determine the era by the first bit (RFC 4330, section 3).
const BY_FIRST_BIT: std::ops::Range<i64> = -61_505_152..4_233_462_144;
const WORDS: Words = Words {
    lost: "timenav sntp: the service cannot be reached; responses mark the clock as unsynchronized",
    denied: "timenav sntp: the service denies access to the clock; responses have no usable time",
    back: "timenav sntp: the service can be reached again; responses have the time",
};

/// Serves clocks over SNTP, for devices and programs that set their clocks from the network.
///
/// Each port serves one timeline. While the clock is paused or the service is unreachable, responses mark the clock as
/// not synchronized. Times that clients would misread, because the protocol counts 136 years, are rejected. A fault
/// applies to all ports.
///
/// Clients need no key. By default the command listens on loopback only, because a virtual clock on a network sets
/// other machines wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct SntpCommand {
    /// The UDP address and the timeline. Port 0 picks a free port.
    #[arg(required = true, num_args = 1..=PORTS_MAX, value_name = "ADDRESS:PORT[=TIMELINE_ID]")]
    ports: Vec<Port>,
    /// Allow addresses that other machines can reach.
    #[arg(long)]
    allow_remote: bool,
    #[command(flatten)]
    follow: FollowOption,
    #[command(flatten)]
    fault: FaultOptions,
    #[command(flatten)]
    service: ServiceOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Port {
    address: SocketAddr,
    timeline: Option<String>,
}

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, timeline) = match text.split_once('=') {
            Some((_, "")) => return Err("write the timeline after `=`, such as 127.0.0.1:1123=main".to_owned()),
            Some((address, timeline)) => (address, Some(timeline.to_owned())),
            None => (text, None),
        };
        let example = "write an address and a port, such as 127.0.0.1:1123=main";
        let address = address.parse().map_err(|_| format!("`{address}` is not an address with a port; {example}"))?;
        Ok(Self { address, timeline })
    }
}

/// Serves until the process is ended.
pub(crate) fn run(command: &SntpCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let mut threads = Vec::new();
    for port in &command.ports {
        if !command.allow_remote {
            check(port.address)?;
        }
        let socket = UdpSocket::bind(port.address).with_context(|| format!("cannot listen on {} (UDP)", port.address));
        let socket = socket?;
        let address = socket.local_addr().context("the address cannot be read")?;
        let client = Client::new(&command.service, surroundings)?;
        let timeline = TimelineOptions { timeline: port.timeline.clone() };
        let begun = following::begin(&client, &timeline)?;
        let wrong = Wrong::new(command.fault.fault(), &begun);
        let face = Arc::new(ClockHandle::new(wrong.displayed()));
        let answering = Arc::clone(&face);
        let displayed = show(wrong, face, command.follow.is_named()).context("the clock error cannot be applied")?;
        let name = command.follow.clone();
        let opening = Opening::of(&name);
        let opened = opening.clone();
        threads.push(thread::spawn(move || {
            let whose = (&timeline, &name, &opened);
            let Err(error) = following::follow(&client, whose, &displayed, &WORDS, begun.known);
            output::note(&format!("timenav sntp: the clock is no longer followed: {error}"));
        }));
        opening.wait();
        output::write(&format!("serving SNTP on {address}: timeline {}\n", begun.timeline))?;
        threads.push(thread::spawn(move || answer_all(&socket, &answering)));
    }
    for thread in threads {
        // Neither thread ends normally.
        thread.join().map_err(|_| anyhow!("a server thread has ended"))?;
    }
    Ok(())
}

/// Prevents setting clocks of other machines by accident.
fn check(address: SocketAddr) -> anyhow::Result<()> {
    if !address.ip().is_loopback() {
        bail!(
            "other machines can reach {address}, and a virtual clock would set their clocks wrong: listen on \
             127.0.0.1, or add --allow-remote to allow it"
        );
    }
    Ok(())
}

fn answer_all(socket: &UdpSocket, face: &ClockHandle) {
    let (mut buffer, mut rates) = ([0; REQUEST_BYTES], Rates::default());
    loop {
        // The error concerns a client that has gone, not the next one.
        let Ok((length, client)) = socket.recv_from(&mut buffer) else { continue };
        let Some(request) = buffer.get(..length).and_then(Request::read) else { continue };
        let packet = match rates.count(client.ip(), counted().as_secs()) {
            Verdict::Answer => face.answer(&request),
            Verdict::Tell => request.refuse(Kiss::Rate),
            Verdict::Drop => continue,
        };
        let _ = socket.send_to(&packet, client);
    }
}

struct ClockHandle(Mutex<State>);

struct State {
    known: Known,
    service: Service,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    There,
    Lost,
    Refuses,
}

impl ClockHandle {
    const fn new(known: Known) -> Self {
        Self(Mutex::new(State { known, service: Service::There }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Updates under the lock never panic halfway, so a poisoned state is consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) -> [u8; packet::PACKET_BYTES] {
        let state = self.state();
        if state.service == Service::Refuses {
            return request.refuse(Kiss::Deny);
        }
        let host = state.known.host_now();
        let clock = &state.known.clock;
        let received = clock.now(host);
        if !is_understood(received, host) {
            return request.refuse(Kiss::Era);
        }
        let trust = match state.service {
            Service::There if clock.is_running() => Trust::Current,
            Service::There => Trust::Synchronized,
            Service::Lost | Service::Refuses => Trust::Unsynchronized,
        };
        let sent = clock.now(state.known.host_now()).max(received);
        request.answer(&Reading { set: clock.origin().1, received, sent, trust })
    }
}

impl ClockObserver for Arc<ClockHandle> {
    fn change(&self, known: &Known) {
        self.state().known = known.clone();
    }

    fn reachable(&self) {
        self.state().service = Service::There;
    }

    fn lost(&self) {
        let mut state = self.state();
        // A rejection is more specific than a lost connection, so it is kept during retries.
        if state.service == Service::There {
            state.service = Service::Lost;
        }
    }

    fn refused(&self) {
        self.state().service = Service::Refuses;
    }
}

/// Whether clients resolve the era right: with a correct clock of their own, or by the first bit.
fn is_understood(displayed: Instant<Virtual>, host: Instant<Wall>) -> bool {
    let (displayed, host) = (displayed.micros().div_euclid(1_000_000), host.micros().div_euclid(1_000_000));
    displayed.abs_diff(host) < ERA_SECONDS_MAX || BY_FIRST_BIT.contains(&displayed)
}

#[cfg(test)]
mod tests {
    use timenav_core::time::parse_timestamp;

    use super::*;

    #[test]
    fn port_argument_has_an_optional_timeline() {
        let port = |text: &str| text.parse::<Port>();
        let address = SocketAddr::from(([127, 0, 0, 1], 1_123));
        assert_eq!(port("127.0.0.1:1123"), Ok(Port { address, timeline: None }));
        assert_eq!(port("127.0.0.1:1123=test"), Ok(Port { address, timeline: Some("test".to_owned()) }));
        assert_eq!(port("[::1]:0=a=b").unwrap().timeline.as_deref(), Some("a=b"));
        assert!(port("127.0.0.1:1123=").unwrap_err().contains("after `=`"));
        assert!(port("1123=main").unwrap_err().contains("127.0.0.1:1123=main"));
    }

    #[test]
    fn address_beyond_loopback_requires_a_flag() {
        let error = check("0.0.0.0:1123".parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("--allow-remote"), "{error}");
        for address in ["127.0.0.1:0", "127.0.0.1:123", "[::1]:1123"] {
            check(address.parse().unwrap()).unwrap();
        }
    }

    #[test]
    fn time_outside_the_client_era_is_not_served() {
        let text_of = |displayed: &str, host: &str| {
            is_understood(parse_timestamp(displayed).unwrap(), parse_timestamp(host).unwrap())
        };
        let host = "2026-01-01T00:00:00Z";
        for (displayed, is_reported) in [
            ("1957-12-13T20:45:51Z", false),
            ("1957-12-13T20:45:53Z", true),
            ("1968-01-20T03:14:07Z", true),
            ("2036-02-07T06:28:16Z", true),
            ("2104-02-26T09:42:23Z", true),
            ("2104-02-26T09:42:24Z", false),
            ("-000044-03-15T12:00:00Z", false),
        ] {
            assert_eq!(text_of(displayed, host), is_reported, "{displayed}");
        }
        assert!(text_of("2104-02-26T09:42:24Z", "2040-01-01T00:00:00Z"));
    }
}
