//! kill -9 of one of three services during many advances, mostly of the timekeeper: every firing time has exactly one
//! outcome, and receipts agree.

use std::net::SocketAddr;
use std::thread;

use serde_json::json;

use super::super::postgres::Cluster;
use super::send;
use super::three::{Three, keepers};
use crate::support::http::Request;
use crate::v1::timers::kills::{At, Crew, Driver, finish, kill, kills_wanted};

/// The killed service.
struct Struck {
    number: usize,
    /// Whether it was the timekeeper during an advance.
    was_in_advance: bool,
}

/// Kills the timekeeper, or a given service.
fn strike(addresses: [SocketAddr; 3], pids: [u32; 3], admin: &str, any: Option<usize>) -> Struck {
    let keeper = keepers(&addresses).first().copied();
    let number = any.or(keeper).unwrap_or_default();
    kill(pids[number]);
    // The clock stays where it is until another service takes over, seconds later.
    let request = Request::get("/v1/clock").key(admin);
    let clock = send(addresses[(number + 1) % 3], &request).unwrap().json_or_null();
    Struck { number, was_in_advance: keeper == Some(number) && clock["advance"].is_object() }
}

/// Drives the clock until a service is killed, and replaces it immediately or after the others have finished. Returns
/// whether an advance was interrupted.
fn round(three: &mut Three, url: &str, driver: &mut Driver, crew: &Crew) -> bool {
    let (addresses, pids, admin) = (three.addresses(), three.pids(), three.first.admin.clone());
    let at = At { addresses: &addresses, admin: &admin };
    let killer = driver.killer();
    let number = usize::try_from(driver.dice.below(3)).expect("one of three");
    let any = (driver.dice.below(4) == 0).then_some(number);
    let is_alone = driver.dice.below(2) == 0;
    let struck = thread::scope(|scope| {
        let _ends = crew.ends();
        let (steps, killing) = killer.start(scope, || strike(addresses, pids, &admin, any));
        crew.start(scope, at, &steps);
        driver.drive_on(at, &steps);
        let struck = killing.join().expect("somebody is killed");
        if is_alone {
            let others = [addresses[(struck.number + 1) % 3], addresses[(struck.number + 2) % 3]];
            driver.drive(At { addresses: &others, admin: &admin }, &steps).expect("the others go on");
        }
        struck
    });
    three.start_again(struck.number, url);
    three.first.remember("main");
    struck.was_in_advance
}

#[test]
fn firing_times_have_one_outcome_despite_killed_replicas() {
    let cluster = Cluster::start();
    let mut three = Three::start(&cluster);
    three.first.post("/v1/pause-time", &json!({}));
    three.first.post("/v1/travel", &json!({ "destination_time": "2000-01-01T00:00:00Z" }));
    let (mut driver, crew) = (Driver::new(57), Crew::default());
    let (mut kills, mut in_advance) = (0, 0);
    while in_advance < kills_wanted() {
        in_advance += u64::from(round(&mut three, &cluster.url, &mut driver, &crew));
        kills += 1;
    }
    finish(&three.first, &three.addresses(), &mut driver, &crew);
    println!("{kills} kills, {in_advance} of them of the one that kept the time of an advance");
    three.audit();
}
