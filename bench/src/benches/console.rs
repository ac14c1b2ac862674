//! How many pictures a second the console draws while 100 000 events are dragged and zoomed, against a line that follows
//! the pointer on a page with nothing else; and what each view costs on four histories.

mod histories;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::interrupt;
use crate::report::{Finding, Goal, Unit};
use crate::rounds::Rounds;
use crate::service::Service;
use crate::setting::Setting;

/// What drives the browser, from the root of the repository.
const SCRIPT: &str = "console/bench/drag.mjs";
/// What it needs to be installed.
const NEEDED: &str = "console/node_modules/playwright-core";

/// What the script prints.
#[derive(Deserialize)]
struct Shown {
    /// What a line shows that follows the pointer, and the wheel.
    empty: Pace,
    turned: Pace,
    whole: Pace,
    near: Pace,
    zoomed: Pace,
}

/// How fast pictures came.
#[derive(Deserialize)]
struct Pace {
    fps: f64,
    /// All but five of a hundred came at least so fast.
    slow: f64,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    if !Path::new(NEEDED).exists() {
        bail!("{NEEDED} is missing; run `npm ci` in console/ first");
    }
    let mut findings = dragged(setting)?;
    findings.extend(histories::run(setting)?);
    Ok(findings)
}

/// Drags 100 000 events.
fn dragged(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let data = setting.empty_folder("console")?;
    let service = Service::start(setting, &data, &[])?;
    let names = ["whole", "near", "zoomed"];
    let (mut median, mut slow) = (names.map(|_| Rounds::default()), names.map(|_| Rounds::default()));
    for _ in 0..setting.rounds_count {
        interrupt::check()?;
        let shown: Shown = script(&service, SCRIPT, &[])?;
        let paces = [(&shown.empty, shown.whole), (&shown.empty, shown.near), (&shown.turned, shown.zoomed)];
        for (index, (most, pace)) in paces.into_iter().enumerate() {
            median[index].floor.push(most.fps);
            median[index].subject.push(pace.fps);
            slow[index].floor.push(most.slow);
            slow[index].subject.push(pace.slow);
        }
    }
    service.stop()?;
    let finding = |name: String, rounds, own_goal| Finding {
        name,
        unit: Unit::FramesPerSecond,
        rounds,
        ratio_goal: Goal::AtLeast(0.9),
        own_goal,
        floor: "a line that follows the pointer, in the same browser",
    };
    // A picture is shown at the next tick of sixty a second, or later: less than that many is one that came late.
    let medians = names.iter().zip(median);
    let medians = medians.map(|(name, rounds)| finding(format!("console-{name}"), rounds, Some(Goal::AtLeast(59.0))));
    let slowest = names.iter().zip(slow).map(|(name, rounds)| finding(format!("console-{name}-p5"), rounds, None));
    Ok(medians.chain(slowest).collect())
}

/// Runs a script beside a service, with more arguments than its address, and returns what it prints.
fn script<T: DeserializeOwned>(service: &Service<'_>, name: &str, arguments: &[&str]) -> anyhow::Result<T> {
    let told = run_script(service, name, arguments)?;
    serde_json::from_slice(&told).with_context(|| format!("{name} printed something else than its figures"))
}

/// Runs a script beside a service, and returns what it prints as it stands there.
fn run_script(service: &Service<'_>, name: &str, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut node = Command::new("node");
    node.arg(name).arg(service.url()).args(arguments).env("TIMENAV_API_KEY", service.key()?);
    let told = node.output().context("Node cannot be started; the console is driven with it")?;
    if !told.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&told.stderr).trim());
    }
    Ok(told.stdout)
}
