//! A run that follows the clock under a name: clock changes can wait until its programs are current.

use std::process::Stdio;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use timenav_client::Client;

use super::agreeing::between;
use super::{DAY, PATH, Teller, children, notice, service};
use crate::cli::command;
use crate::support::service::{Service, run};
use crate::support::waiting::{Patience, until};

/// Firings wait for followers for longer than this.
const STEP_WAIT: Duration = Duration::from_secs(4);
/// Maximum delay of a stream request: longer than the start of a program.
const SLOW: Duration = Duration::from_millis(500);
const SHELL: &str = "while read -r word; do printf '%(%s)T\\n' -1; done; exit 5";
const LATER: (&str, i64) = ("2041-01-01T00:00:00Z", 2_240_611_200);
const LAST: (&str, i64) = ("2000-02-29T12:00:00Z", 951_825_600);

#[test]
fn change_waits_for_followers_and_names_unconfirmed_ones() {
    let Some(service) = service() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client =
        Client::builder().base_url(service.url()).api_key(service.admin.as_str()).timeline_id("main").build().unwrap();
    let clock = runtime.block_on(client.follow_clock("client")).unwrap();
    let mut follower = command(&service, &["exec", "--follow", "shell", "--", "bash", "-c", SHELL]);
    let mut teller = Teller::of(follower.env("PATH", PATH).stderr(Stdio::inherit()));
    assert_eq!(teller.ask(), DAY.1);
    // Both are waited for by name, even if the stream of one is just opening.
    let travel = |to: &str, wait: &str| {
        run(&mut command(&service, &["clock", "travel", to, "--followers=client,shell", "--wait", wait]), "")
    };
    let (code, stdout, stderr) = travel(LATER.0, "10m");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains("All 2 followers have confirmed it."), "{stdout}");
    assert_eq!(teller.ask(), LATER.1, "the programs are there when the command ends");
    assert_eq!(clock.now().unwrap().to_string(), LATER.0);

    // The supervisor is stopped: it applies no change, and its connection stays open.
    let supervisor = Pid::from_raw(children(teller.child.id())[0].cast_signed()).unwrap();
    kill_process(supervisor, Signal::STOP).unwrap();
    let (code, stdout, stderr) = travel(DAY.0, "4s");
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stderr.contains("did not confirm it in time: shell (lagging)"), "{stderr}");
    assert!(stdout.contains("client") && stdout.contains("confirmed"), "{stdout}");
    assert_eq!(service.get("/v1/clock", &[])["current_time"], DAY.0, "the change stays");
    let (_, listed, _) = run(&mut command(&service, &["followers"]), "");
    let state = |name: &str| listed.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().nth(1);
    assert_eq!((state("client"), state("shell")), (Some("up_to_date"), Some("lagging")), "{listed}");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let listed = service.get("/v1/followers", &[]);
    for (name, process) in [("client", std::process::id()), ("shell", children(teller.child.id())[0])] {
        let of_name = |follower: &&serde_json::Value| follower["name"] == name;
        let follower = listed["followers"].as_array().unwrap().iter().find(of_name).unwrap();
        assert_eq!((&follower["host"], &follower["process"]), (&host.trim().into(), &process.into()), "{follower}");
    }

    kill_process(supervisor, Signal::CONT).unwrap();
    let (code, stdout, stderr) = travel(LAST.0, "10m");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert_eq!(teller.ask(), LAST.1);
    teller.end();
    clock.close();
    // No follower is connected, and `all` does not wait for disconnected ones.
    until("two streams that have ended", || {
        let listed = service.get("/v1/followers", &[]);
        let followers = listed["followers"].as_array().unwrap();
        followers.iter().all(|follower| follower["state"] == "disconnected").then_some(())
    });
    let answer = service.post("/v1/pause-time", &json!({ "followers": "all", "wait": "10m" }));
    assert_eq!(answer["followers"]["state"], "confirmed", "{answer}");
    service.audit();
}

/// Returns the states of all followers.
fn states(service: &Service) -> Vec<String> {
    let listed = service.get("/v1/followers", &[]);
    let state = |follower: &serde_json::Value| follower["state"].as_str().unwrap().to_owned();
    listed["followers"].as_array().unwrap().iter().map(state).collect()
}

/// Once a program has shown output, the clock may be changed, and the change waits for the run. Here its stream is
/// opened late, as on a busy machine.
#[test]
fn program_starts_after_its_run_is_registered_as_follower() {
    let Some(service) = service() else { return };
    for via in ["exec", "trace", "preload"] {
        if notice(&service, via).is_none() {
            continue;
        }
        let (sender, is_looked) = mpsc::channel::<()>();
        let is_looked = Arc::new(Mutex::new(is_looked));
        let late = move |request: &mut [u8]| {
            if request.starts_with(b"GET /v1/clock/stream") {
                // Until a program has run, or certainly would have.
                let _ = is_looked.lock().unwrap().recv_timeout(SLOW);
            }
        };
        let elsewhere = between(&service, late, |_| {});
        let mut follower = command(&service, &["exec", "--via", via, "--follow", "shell", "--", "bash", "-c", SHELL]);
        follower.env("PATH", PATH).env("TIMENAV_URL", &elsewhere);
        let mut teller = Teller::of(follower.stderr(Stdio::null()));
        assert_eq!(teller.ask(), DAY.1);
        let there = states(&service).into_iter().filter(|state| state != "disconnected").count();
        let _ = sender.send(());
        assert_eq!(there, 1, "by {via}");
        teller.end();
        until("a stream that has ended", || states(&service).iter().all(|state| state == "disconnected").then_some(()));
    }
    service.audit();
}

/// A firing handler that asks a program for the time always gets the time of the firing.
#[test]
fn handlers_never_see_a_program_at_earlier_time() {
    let Some(service) = service() else { return };
    let mut follower = command(&service, &["exec", "--follow", "shell", "--", "bash", "-c", SHELL]);
    let mut teller = Teller::of(follower.env("PATH", PATH).stderr(Stdio::inherit()));
    assert_eq!(teller.ask(), DAY.1);
    let every = json!({ "rule": "FREQ=MINUTELY;COUNT=60", "starts": DAY.0 });
    service.post("/v1/timers", &json!({ "every": every }));
    let claim = |wait: &str| service.post("/v1/queues/default/claim", &json!({ "max": 1, "wait": wait }));
    assert_eq!(claim("0s")["firings"], json!([]), "from here on somebody listens");
    std::thread::scope(|scope| {
        // It starts before the awaited time.
        let mut patience = Patience::of(STEP_WAIT);
        let moving = scope.spawn(|| service.post("/v1/fast-forward", &json!({ "duration": "2h", "wait": "10m" })));
        for minute in 1..60 {
            let firing = claim("60s")["firings"][0].clone();
            let reply = teller.ask();
            if patience.lasts() {
                assert_eq!(reply, DAY.1 + 60 * minute, "{firing}");
            } else {
                // If the machine stalled that long, the follower was not waited for, and is not until it has confirmed
                // something.
                until("a run that goes on", || (states(&service) == ["up_to_date"]).then_some(()));
                teller.ask_until("the instant", |answer| answer == DAY.1 + 60 * minute);
            }
            patience = Patience::of(STEP_WAIT);
            service.post("/v1/firings/ack", &json!({ "firing_ids": [firing["firing_id"]] }));
        }
        let settled = moving.join().unwrap()["receipt"].clone();
        assert_eq!((&settled["state"], &settled["acknowledged"]), (&json!("settled"), &json!(59)), "{settled}");
    });
    teller.end();
    service.audit();
}

/// Even if the last message of the run was its confirmation, on a connection that was idle from then on.
#[test]
fn named_run_reconnects_after_service_restart() {
    let Some(mut service) = service() else { return };
    let mut follower = command(&service, &["exec", "--follow", "shell", "--", "bash", "-c", SHELL]);
    let mut teller = Teller::of(follower.env("PATH", PATH).stderr(Stdio::inherit()));
    assert_eq!(teller.ask(), DAY.1);
    let words = ["clock", "travel", LATER.0, "--followers=shell", "--wait", "10m"];
    let (code, stdout, stderr) = run(&mut command(&service, &words), "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let address = service.address().to_string();
    service.arguments(&["--listen", &address]);
    service.kill();
    service.start_again();
    service.post("/v1/travel", &json!({ "destination_time": LAST.0 }));
    teller.ask_until("a run that follows again", |answer| answer == LAST.1);
    teller.end();
    service.audit();
}
