//! Programs under `timenav exec`: the cost of reading the clock, of a start and of a small build (goals 16 and 18b),
//! and the delay until they see a change (goal 18). Also the cost of reading a client's clock (goal 17).

mod changes;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::measure::report::{Finding, Goal, Unit};
use crate::measure::rounds::Rounds;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::Stopwatch;
use crate::service::Service;

const PROBE: &str = include_str!("programs/probe.c");
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
/// Files in the small project. Each one starts a compiler, an assembler and their driver program.
const FILES: usize = 60;
const FUNCTIONS: usize = 10;

struct Subject<'a> {
    service: Service<'a>,
    timenav: &'a Path,
    folder: PathBuf,
}

#[derive(Clone, Copy)]
enum Way {
    Native,
    Exec,
    /// With a preloaded library that checks a file at each reading.
    Faketime,
}

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Finding>> {
    let service = Service::start_anywhere(setting, &setting.empty_folder("programs")?, &[], None)?;
    let folder = setting.empty_folder("programs-files")?;
    let subject = Subject { service, timenav: &setting.service, folder };
    subject.compile()?;
    let mut found = vec![
        subject.reading(setting, "realtime", Goal::AtMost(1.3), None)?,
        subject.reading(setting, "monotonic", Goal::AtMost(1.15), None)?,
        // A limit of one nanosecond is not achievable; ten are.
        subject.reading(setting, "time", Goal::MoreAtMost(10.0), Some(Goal::AtMost(10.0)))?,
        subject.reading(setting, "coarse", Goal::MoreAtMost(10.0), Some(Goal::AtMost(10.0)))?,
    ];
    if Path::new(FAKETIME).exists() {
        found.push(subject.faketime(setting)?);
    } else {
        eprintln!("{FAKETIME} is missing; install the package faketime to compare with it");
    }
    found.extend([subject.spawning(setting)?, subject.building(setting)?, changes::client_clock(setting, &subject)?]);
    found.extend([changes::one_program(setting, &subject)?, changes::followers(setting, &subject)?]);
    subject.service.stop()?;
    Ok(found)
}

impl Subject<'_> {
    fn probe(&self) -> PathBuf {
        self.folder.join("probe")
    }

    fn compile(&self) -> anyhow::Result<()> {
        let source = self.folder.join("probe.c");
        std::fs::write(&source, PROBE)?;
        let mut compiler = Command::new("gcc");
        compiler.args(["-O2", "-o"]).arg(self.probe()).arg(&source);
        let status = compiler.status().context("gcc cannot be started; it is needed for a program to measure")?;
        if !status.success() {
            bail!("gcc does not compile the probe: {status}");
        }
        // A time that programs have to follow, unrelated to the host's time.
        self.travel("2031-05-06T07:08:09Z")
    }

    fn travel(&self, to: &str) -> anyhow::Result<()> {
        let status = self.cli(&["clock", "travel", to])?.output()?.status;
        if status.success() { Ok(()) } else { bail!("timenav clock travel {to}: {status}") }
    }

    fn cli(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(self.timenav);
        command.args(arguments).env("TIMENAV_URL", self.service.url()).env("TIMENAV_API_KEY", self.service.key()?);
        Ok(command)
    }

    fn command(&self, way: Way, program: &Path) -> anyhow::Result<Command> {
        Ok(match way {
            Way::Native => Command::new(program),
            Way::Exec => {
                let mut command = self.cli(&["exec", "--strict", "--"])?;
                command.arg(program);
                command
            }
            Way::Faketime => {
                let faketime_file = self.folder.join("faketimerc");
                std::fs::write(&faketime_file, "+1y\n")?;
                let mut command = Command::new(program);
                command.env("LD_PRELOAD", FAKETIME).env("FAKETIME_NO_CACHE", "1");
                command.env("FAKETIME_TIMESTAMP_FILE", faketime_file);
                command
            }
        })
    }

    fn number(&self, setting: &Setting, way: Way, words: [&str; 2]) -> anyhow::Result<f64> {
        let mut command = self.command(way, &self.probe())?;
        let output = setting.cores.measured(move || command.args(words).output())?;
        let printed = String::from_utf8_lossy(&output.stdout);
        printed.trim().parse().with_context(|| {
            format!("{words:?} printed {printed:?}: {}", String::from_utf8_lossy(&output.stderr).trim())
        })
    }

    fn reading(
        &self,
        setting: &Setting,
        way: &str,
        ratio_goal: Goal,
        own_goal: Option<Goal>,
    ) -> anyhow::Result<Finding> {
        let read = |how| self.number(setting, how, [way, "100000"]);
        Ok(Finding {
            own_goal,
            ..Finding::new(
                format!("programs-{way}"),
                Unit::Nanos,
                Rounds::measure(setting, || read(Way::Native), || read(Way::Exec))?,
                ratio_goal,
                "the same reading in the same program, without timenav",
            )
        })
    }

    fn faketime(&self, setting: &Setting) -> anyhow::Result<Finding> {
        let rounds = Rounds::measure(
            setting,
            || self.number(setting, Way::Faketime, ["realtime", "500"]),
            || self.number(setting, Way::Exec, ["realtime", "100000"]),
        )?;
        Ok(Finding::new(
            "programs-faketime",
            Unit::Nanos,
            rounds,
            Goal::AtMost(0.005),
            "libfaketime that sees each change (FAKETIME_NO_CACHE=1)",
        ))
    }

    fn spawning(&self, setting: &Setting) -> anyhow::Result<Finding> {
        let spawn = |way| Ok(self.number(setting, way, ["spawn", "500"])? / 1e3);
        Ok(Finding::new(
            "programs-spawn",
            Unit::Micros,
            Rounds::measure(setting, || spawn(Way::Native), || spawn(Way::Exec))?,
            Goal::AtMost(2.5),
            "starting a program that does nothing and waiting for its end, without timenav",
        ))
    }

    fn building(&self, setting: &Setting) -> anyhow::Result<Finding> {
        let project = self.folder.join("project");
        write_project(&project)?;
        let build = |way| {
            let mut clean = Command::new("make");
            clean.args(["-s", "clean"]).current_dir(&project).status().context("make cannot be started")?;
            let mut make = self.command(way, Path::new("make"))?;
            make.args(["-s", "-j2"]).current_dir(&project);
            let watch = Stopwatch::start();
            // Files have host time, and make warns about files from the past or the future.
            let output = make.output()?;
            if !output.status.success() {
                bail!("make: {}", String::from_utf8_lossy(&output.stderr).trim());
            }
            Ok(watch.micros() / 1e3)
        };
        Ok(Finding::new(
            "programs-make",
            Unit::Millis,
            Rounds::measure(setting, || build(Way::Native), || build(Way::Exec))?,
            Goal::AtMost(1.1),
            "`make -j2` of 60 small C files, without timenav",
        ))
    }
}

fn write_project(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    for file in 0..FILES {
        let mut text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n".to_owned();
        for number in 0..FUNCTIONS {
            text.extend([
                format!("int part_{file}_{number}(const char *text, int seed) {{\n    int sum = seed;\n"),
                format!("    for (size_t i = 0; i < strlen(text); i++) sum = sum * 31 + text[i] + {number};\n"),
                format!("    return sum % 2 ? sum : abs(sum) + {file};\n}}\n"),
            ]);
        }
        if file == 0 {
            text += "int main(void) { return printf(\"%ld\\n\", (long)time(0)) < 0; }\n";
        }
        std::fs::write(folder.join(format!("part{file}.c")), text)?;
    }
    let makefile = "OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))\nCFLAGS := -O2\nprogram: $(OBJECTS)\n\
                    \t$(CC) -o $@ $^\nclean:\n\trm -f *.o program\n.PHONY: clean\n";
    Ok(std::fs::write(folder.join("Makefile"), makefile)?)
}
