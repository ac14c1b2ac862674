use std::fmt::Write as _;

use timenav_engine::{CommitStats, Distribution};

pub(super) fn write_commits(text: &mut String, commits: &CommitStats) {
    let total = "Time from taking a group of requests until it is durable";
    write_head(text, "commit_duration_seconds", total, Some("seconds"));
    write_histogram(text, "commit_duration_seconds", "", &commits.total, seconds);
    write_head(text, "commit_part_duration_seconds", "How long each part of a commit takes", Some("seconds"));
    for (part, distribution) in &commits.parts {
        let label = format!("part=\"{}\"", part.as_str());
        write_histogram(text, "commit_part_duration_seconds", &label, distribution, seconds);
    }
    write_head(text, "commit_requests", "Requests in a group", None);
    write_histogram(text, "commit_requests", "", &commits.requests, |count| count.to_string());
}

fn write_head(text: &mut String, name: &str, help: &str, unit: Option<&str>) {
    // Writing to a string cannot fail.
    let _ = write!(text, "# HELP timenav_{name} {help}.\n# TYPE timenav_{name} histogram\n");
    if let Some(unit) = unit {
        let _ = writeln!(text, "# UNIT timenav_{name} {unit}");
    }
}

fn write_histogram(
    text: &mut String,
    name: &str,
    label: &str,
    Distribution { buckets, count, sum }: &Distribution,
    bound_text: fn(u64) -> String,
) {
    let comma = if label.is_empty() { "" } else { "," };
    let braced = if label.is_empty() { String::new() } else { format!("{{{label}}}") };
    let bounded = buckets.iter().map(|(bound, count)| (bound_text(*bound), *count));
    for (bound, count) in bounded.chain([("+Inf".to_owned(), *count)]) {
        let _ = writeln!(text, "timenav_{name}_bucket{{{label}{comma}le=\"{bound}\"}} {count}");
    }
    let _ = writeln!(text, "timenav_{name}_sum{braced} {}", bound_text(*sum));
    let _ = writeln!(text, "timenav_{name}_count{braced} {count}");
}

fn seconds(micros: u64) -> String {
    super::seconds(i64::try_from(micros).unwrap_or(i64::MAX)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_is_written_as_openmetrics() {
        let (mut text, buckets) = (String::new(), vec![(100, 1), (400, 3)]);
        let distribution = Distribution { buckets, count: 4, sum: 2_500_000 };
        write_histogram(&mut text, "x", "part=\"lock\"", &distribution, seconds);
        let expected = "timenav_x_bucket{part=\"lock\",le=\"0.0001\"} 1\n\
                        timenav_x_bucket{part=\"lock\",le=\"0.0004\"} 3\n\
                        timenav_x_bucket{part=\"lock\",le=\"+Inf\"} 4\n\
                        timenav_x_sum{part=\"lock\"} 2.5\ntimenav_x_count{part=\"lock\"} 4\n";
        assert_eq!(text, expected);
        text.clear();
        write_histogram(&mut text, "x", "", &distribution, |count| count.to_string());
        assert!(
            text.starts_with("timenav_x_bucket{le=\"100\"} 1\n") && text.ends_with("timenav_x_count 4\n"),
            "{text}"
        );
    }
}
