use std::fs;
use std::time::Instant;

/// Clock ticks per second in which Linux reports processor times (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;
/// Fields of `/proc/self/stat`, after the program name, with the ticks of child processes (`proc_pid_stat(5)`).
const CHILDREN: [usize; 2] = [13, 14];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) wall: f64,
    /// Time of all processors in child processes that have ended. Zero if the system does not report it.
    pub(crate) processor: f64,
}

pub(crate) struct Start {
    wall: Instant,
    processor: f64,
}

impl Cost {
    pub(crate) fn now() -> Start {
        Start { wall: Instant::now(), processor: of_children() }
    }
}

impl Start {
    pub(crate) fn until_now(&self) -> Cost {
        Cost { wall: self.wall.elapsed().as_secs_f64(), processor: of_children() - self.processor }
    }
}

/// Returns the processor time of awaited child processes, in seconds.
fn of_children() -> f64 {
    fs::read_to_string("/proc/self/stat").map_or(0.0, |stat| children_of(&stat))
}

fn children_of(stat: &str) -> f64 {
    let Some((_, fields)) = stat.rsplit_once(')') else { return 0.0 };
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = CHILDREN.iter().filter_map(|&field| fields.get(field)?.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_line_children_ticks_are_summed() {
        let stat = "1234 (a (name) of) S 1 2 3 4 5 6 7 8 9 10 111 222 1500 250 20 0 1 0 99";
        assert!((children_of(stat) - 17.5).abs() < 1e-9);
        assert!(children_of("").abs() < 1e-9);
    }
}
