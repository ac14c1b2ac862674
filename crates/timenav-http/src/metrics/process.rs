//! Process metrics, under the standard Prometheus names.

use std::fmt::Write as _;

/// Resource usage of the process. Values that the system does not report are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessStats {
    pub cpu_seconds: f64,
    pub resident_bytes: Option<u64>,
    pub virtual_bytes: Option<u64>,
    pub open_descriptors: Option<u64>,
    pub descriptors_max: Option<u64>,
    /// When the process started, in seconds since 1970.
    pub start_seconds: Option<f64>,
}

pub(super) fn write_process(text: &mut String, process: &ProcessStats) {
    let ProcessStats { cpu_seconds, resident_bytes, virtual_bytes, open_descriptors, descriptors_max, start_seconds } =
        process;
    let number = |value: &Option<u64>| value.map(|value| value.to_string());
    let float = |value: &Option<f64>| value.map(|value| value.to_string());
    let all = [
        ("cpu_seconds", "counter", "Processor time used, in seconds", "_total", Some(cpu_seconds.to_string())),
        ("resident_memory_bytes", "gauge", "Resident memory", "", number(resident_bytes)),
        ("virtual_memory_bytes", "gauge", "Virtual memory", "", number(virtual_bytes)),
        ("open_fds", "gauge", "Open file descriptors", "", number(open_descriptors)),
        ("max_fds", "gauge", "Maximum number of open file descriptors", "", number(descriptors_max)),
        ("start_time_seconds", "gauge", "When the process started, in seconds since 1970", "", float(start_seconds)),
    ];
    for (name, kind, help, suffix, value) in all {
        let Some(value) = value else { continue };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "# HELP process_{name} {help}.\n# TYPE process_{name} {kind}\nprocess_{name}{suffix} {value}\n"
        );
    }
}
