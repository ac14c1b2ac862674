//! Clients that write as fast as possible until the service is killed.

use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::support::dice::Dice;
use crate::support::http::{Connection, Request};
use crate::support::service::Service;

pub(super) const TIMELINES: [&str; 3] = ["main", "one", "two"];
const WRITERS: u64 = 5;

/// The effect of a request.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Records events with these names.
    Events(Vec<String>),
    /// Travels to this time. Only one writer moves the clock of a timeline.
    Travel(String),
}

/// A request of one writer.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) timeline: &'static str,
    pub(super) kind: Kind,
    /// The place of its events.
    place: String,
    /// Its idempotency key.
    key: String,
}

/// The outcome, as far as the writer knows.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) write: Write,
    pub(super) answer: Option<Value>,
}

impl Write {
    fn of(round: u64, writer: u64, number: u64, dice: &mut Dice) -> Self {
        let timeline = TIMELINES[usize::try_from(writer).expect("few writers") % TIMELINES.len()];
        let key = format!("round-{round}-writer-{writer}-{number}");
        let moves = writer < 3 && dice.below(3) == 0;
        let kind = if moves {
            // Each time is used once in all rounds, so it identifies the request.
            Kind::Travel(format!("{:04}-01-01T{:02}:{:02}:00Z", 3000 + round, number / 60, number % 60))
        } else {
            let count = [1, 1, 3, 20][usize::try_from(dice.below(4)).expect("less than four")];
            Kind::Events((0..count).map(|index| format!("{key}-{index}")).collect())
        };
        Self { timeline, kind, place: format!("round {round}"), key }
    }

    pub(super) fn request(&self) -> Request {
        let request = match &self.kind {
            Kind::Travel(to) => {
                Request::post("/v1/travel").json(&json!({ "timeline_id": self.timeline, "destination_time": to }))
            }
            Kind::Events(names) => {
                let event =
                    |name: &String| json!({ "time": "1999-12-31T23:59:59Z", "name": name, "location": self.place });
                let events: Vec<Value> = names.iter().map(event).collect();
                Request::post(&format!("/v1/events?timeline_id={}", self.timeline)).json(&Value::Array(events))
            }
        };
        request.idempotent(&self.key)
    }
}

/// Running writers.
pub(super) struct Load {
    steps: Receiver<()>,
    writers: Vec<JoinHandle<Vec<Outcome>>>,
}

impl Load {
    pub(super) fn start(service: &Service, round: u64) -> Self {
        let (sender, steps) = mpsc::channel();
        let writers = (0..WRITERS).map(|writer| {
            let (address, admin, sender) = (service.address(), service.admin.clone(), sender.clone());
            std::thread::spawn(move || write(address, &admin, round, writer, &sender))
        });
        Self { writers: writers.collect(), steps }
    }

    /// Waits until the writers have taken `steps` steps.
    pub(super) fn wait_for(&self, steps: u64) {
        for _ in 0..steps {
            self.steps.recv().expect("the writers go on until the service is gone");
        }
    }

    /// Waits until the writers notice that the service is gone.
    pub(super) fn end(self) -> Vec<Outcome> {
        self.writers.into_iter().flat_map(|writer| writer.join().expect("a writer does not fail")).collect()
    }
}

fn write(address: SocketAddr, admin: &str, round: u64, writer: u64, steps: &Sender<()>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut dice = Dice::new(round * WRITERS + writer);
    let Ok(mut connection) = Connection::open(address) else { return outcomes };
    for number in 0.. {
        let write = Write::of(round, writer, number, &mut dice);
        let request = write.request().key(admin);
        // The receiver is dropped once the kill is under way.
        let _ = steps.send(());
        let Ok(answer) = connection.exchange(&request) else {
            outcomes.push(Outcome { write, answer: None });
            break;
        };
        assert!(matches!(answer.status, 200 | 201), "{write:?}: {answer}");
        outcomes.push(Outcome { write, answer: Some(answer.json()) });
        let _ = steps.send(());
    }
    outcomes
}
