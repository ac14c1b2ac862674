//! Frames per second of the console while 100,000 events are dragged and zoomed, against a line that follows the
//! pointer on an otherwise empty page. Also the cost of each view on four histories.

mod histories;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::measure::interrupt;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::Service;

const SCRIPT: &str = "console/bench/drag.mjs";
const NEEDED: &str = "console/node_modules/playwright-core";

#[derive(Deserialize)]
struct Rendering {
    /// For a line that follows the pointer and the wheel.
    empty: Pace,
    turned: Pace,
    whole: Pace,
    near: Pace,
    zoomed: Pace,
}

#[derive(Deserialize)]
struct Pace {
    fps: f64,
    /// The 5th percentile.
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

fn dragged(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let data = setting.empty_folder("console")?;
    let service = Service::start(setting, &data, &[])?;
    let names = ["whole", "near", "zoomed"];
    let (mut median, mut slow) = (names.map(|_| Rounds::default()), names.map(|_| Rounds::default()));
    for _ in 0..setting.rounds_count {
        interrupt::check()?;
        let rendering: Rendering = script(&service, SCRIPT, &[])?;
        let paces = [
            (&rendering.empty, rendering.whole),
            (&rendering.empty, rendering.near),
            (&rendering.turned, rendering.zoomed),
        ];
        for (index, (most, pace)) in paces.into_iter().enumerate() {
            median[index].floor.push(most.fps);
            median[index].subject.push(pace.fps);
            slow[index].floor.push(most.slow);
            slow[index].subject.push(pace.slow);
        }
    }
    service.stop()?;
    let finding = |name: String, rounds, own_goal| Finding {
        own_goal,
        ..Finding::new(
            name,
            Unit::FramesPerSecond,
            rounds,
            Goal::AtLeast(0.9),
            "a line that follows the pointer, in the same browser",
        )
    };
    // The display has 60 frames per second. A median below that means delayed frames.
    let medians = names.iter().zip(median);
    let medians = medians.map(|(name, rounds)| finding(format!("console-{name}"), rounds, Some(Goal::AtLeast(59.0))));
    let slowest = names.iter().zip(slow).map(|(name, rounds)| finding(format!("console-{name}-p5"), rounds, None));
    Ok(medians.chain(slowest).collect())
}

/// Runs a script with the service's address and further arguments, and parses its output.
fn script<T: DeserializeOwned>(service: &Service<'_>, name: &str, arguments: &[&str]) -> anyhow::Result<T> {
    let output = run_script(service, name, arguments)?;
    serde_json::from_slice(&output).with_context(|| format!("{name} printed something else than its figures"))
}

fn run_script(service: &Service<'_>, name: &str, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut node = Command::new("node");
    node.arg(name).arg(service.url()).args(arguments).env("TIMENAV_API_KEY", service.key()?);
    let output = node.output().context("Node cannot be started; the console is driven with it")?;
    if !output.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}
