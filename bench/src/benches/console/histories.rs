//! The cost of the console with the demo, all hurricanes, a year of flights, and ten million generated events
//! (`--large`): first paint, requests and bytes, heap, processor time of an idle view, and frames per second. Also over
//! a 400 kbit/s connection.
//!
//! Views with events are compared with the Explorer of the same timeline, which has none, so that its cost is that of
//! the console itself.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

use super::{run_script, script};
use crate::measure::interrupt;
use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::service::Service;

/// Scripts that open each view, fill a timeline, and open it over a slow connection, relative to the repository root.
const VIEWS: &str = "console/bench/views.mjs";
const FILL: &str = "console/bench/fill.mjs";
const SLOW: &str = "console/bench/slow.mjs";
const FILES: &str = "../shared/data";
const MADE_EVENTS: &str = "10000000";
/// The slow connection: bits per millisecond, and latency in milliseconds.
const LINE_KBITS: f64 = 400.0;
const LINE_LATENCY_MS: f64 = 50.0;

struct History {
    name: &'static str,
    is_demo: bool,
    /// Source argument for the script that fills a timeline.
    made_of: &'static str,
}

const HISTORIES: [History; 4] = [
    History { name: "demo", is_demo: true, made_of: "" },
    History { name: "hurricanes", is_demo: false, made_of: FILES },
    History { name: "flights", is_demo: false, made_of: FILES },
    History { name: "made", is_demo: false, made_of: MADE_EVENTS },
];

#[derive(Deserialize)]
struct Views {
    rows: Vec<View>,
}

/// The cost of a view. An empty page has neither requests nor a heap.
#[derive(Deserialize)]
struct View {
    #[serde(rename = "view")]
    name: String,
    #[serde(default)]
    first_ms: f64,
    #[serde(default)]
    ready_ms: f64,
    #[serde(default)]
    requests: f64,
    #[serde(default)]
    kb: f64,
    #[serde(default)]
    heap_mb: f64,
    idle_percent: f64,
    drag: Option<Pace>,
    zoom: Option<Pace>,
    map: Option<Pace>,
}

#[derive(Deserialize)]
struct Pace {
    fps: f64,
}

/// Output of the slow connection script: for a first visit, and for a repeated one.
#[derive(Deserialize)]
struct Slow {
    rows: Vec<Visit>,
}

#[derive(Deserialize)]
struct Visit {
    bars_ms: f64,
    kb: f64,
    /// `None` if the click hit no bar: few events have gaps between their bars.
    click_ms: Option<f64>,
}

/// The findings so far, in output order. Each round adds to them.
#[derive(Default)]
struct Figures(Vec<Finding>);

pub(super) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for history in &HISTORIES {
        let is_missing = history.made_of == FILES && !Path::new(FILES).is_dir();
        if is_missing {
            eprintln!("skipped: {} needs the folder {FILES} beside the workspace", history.name);
        }
        if is_missing || (history.made_of == MADE_EVENTS && !setting.large) {
            continue;
        }
        let data = filled(setting, history)?;
        let service = Service::start(setting, &data, &[])?;
        service.wait_until_ready()?;
        let mut figures = Figures::default();
        for _ in 0..setting.rounds_count {
            interrupt::check()?;
            figures.take_views(history.name, &script(&service, VIEWS, &[history.name, "--json"])?)?;
            interrupt::check()?;
            figures.take_slow(history.name, &script(&service, SLOW, &[history.name, "--json"])?);
        }
        service.stop()?;
        findings.extend(figures.0);
    }
    Ok(findings)
}

/// Returns a folder with a history, created by this run or an earlier one.
fn filled(setting: &Setting, history: &History) -> anyhow::Result<PathBuf> {
    let make = |folder: &Path| {
        let arguments: &[&str] = if history.is_demo { &["--demo"] } else { &[] };
        let service = Service::start_anywhere(setting, folder, arguments, None)?;
        if !history.is_demo {
            run_script(&service, FILL, &[history.name, history.made_of])?;
        }
        service.stop()?;
        Ok(())
    };
    setting.cached_folder(&format!("console-{}-v1", history.name), make)
}

impl Figures {
    fn take_views(&mut self, history: &str, Views { rows }: &Views) -> anyhow::Result<()> {
        let view = |name: &str| {
            let found = rows.iter().find(|row| row.name == name);
            found.with_context(|| format!("{VIEWS} says nothing of {name}"))
        };
        let (blank, explorer, timeline) = (view("Blank")?, view("Explorer")?, view("Timeline")?);
        let shell = "the Explorer of the same timeline, which shows no event";
        for (what, unit, floor, subject, most, own_goal) in [
            ("first", Unit::Millis, explorer.first_ms, timeline.first_ms, 3.0, None),
            ("ready", Unit::Millis, explorer.ready_ms, timeline.ready_ms, 3.0, Some(Goal::AtMost(2_000.0))),
            ("requests", Unit::Requests, explorer.requests, timeline.requests, 3.0, None),
            ("bytes", Unit::Bytes, explorer.kb * 1e3, timeline.kb * 1e3, 2.0, None),
            ("heap", Unit::Megabytes, explorer.heap_mb, timeline.heap_mb, 3.0, None),
        ] {
            self.take(
                &format!("console-{history}-{what}"),
                unit,
                (floor, subject),
                Goal::AtMost(most),
                own_goal,
                shell,
            );
        }
        let nothing = "a page with nothing on it, in the same browser";
        for row in rows.iter().filter(|row| row.name != blank.name) {
            let name = format!("console-{history}-idle-{}", in_a_name(&row.name));
            let sides = (blank.idle_percent, row.idle_percent);
            self.take(&name, Unit::PercentOfCore, sides, Goal::MoreAtMost(3.0), Some(Goal::AtMost(3.0)), nothing);
        }
        let line = "a line that follows the pointer, in the same browser";
        for (what, floor, subject) in [
            ("drag", &blank.drag, &timeline.drag),
            ("zoom", &blank.zoom, &timeline.zoom),
            ("map", &blank.map, &timeline.map),
        ] {
            let floor = floor.as_ref().with_context(|| format!("{VIEWS} moved nothing"))?;
            let subject = subject.as_ref().with_context(|| format!("{VIEWS} did not move axis and map"))?;
            let name = format!("console-{history}-{what}");
            let sides = (floor.fps, subject.fps);
            self.take(&name, Unit::FramesPerSecond, sides, Goal::AtLeast(0.9), Some(Goal::AtLeast(59.0)), line);
        }
        Ok(())
    }

    /// Adds the waiting times over a slow connection: for the bars of all time, and of a part after a click.
    fn take_slow(&mut self, history: &str, Slow { rows }: &Slow) {
        for ((who, most), visit) in [("new", 2.0), ("known", 15.0)].into_iter().zip(rows) {
            let carrying_ms = visit.kb * 8e3 / LINE_KBITS + LINE_LATENCY_MS;
            let carried = "the line alone, for all that the axis takes";
            let answer = "one answer over the line";
            for (what, floor, subject, most, own_most, floor_is) in [
                ("bars", carrying_ms, Some(visit.bars_ms), most, 2_000.0, carried),
                ("click", LINE_LATENCY_MS, visit.click_ms, 20.0, 1_000.0, answer),
            ] {
                let Some(subject) = subject else { continue };
                let (name, own_goal) = (format!("console-{history}-slow-{who}-{what}"), Goal::AtMost(own_most));
                self.take(&name, Unit::Millis, (floor, subject), Goal::AtMost(most), Some(own_goal), floor_is);
            }
        }
    }

    fn take(
        &mut self,
        name: &str,
        unit: Unit,
        (floor, subject): (f64, f64),
        ratio_goal: Goal,
        own_goal: Option<Goal>,
        floor_is: &'static str,
    ) {
        let index = self.0.iter().position(|finding| finding.name == name).unwrap_or_else(|| {
            let (name, rounds) = (name.to_owned(), Rounds::default());
            self.0.push(Finding { own_goal, ..Finding::new(name, unit, rounds, ratio_goal, floor_is) });
            self.0.len() - 1
        });
        self.0[index].rounds.floor.push(floor);
        self.0[index].rounds.subject.push(subject);
    }
}

fn in_a_name(view: &str) -> String {
    view.to_lowercase().replace(", ", "-").replace(' ', "-")
}
