//! Files of CSV: what holds for every file. The first byte chooses a mapping.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_fuzz::check_import;
use timenav_import::{Format, Mapping};

const MAPPINGS: [&str; 11] = [
    "",
    "time=when|unix",
    "time=time|unix_ms,name={a} ({b})",
    "time={date}T{clock}Z,event_id=,precision=",
    "causes=parents|split,actors=people|split:;",
    "description={{{a}}},lat=y,lon=x,radius_m=r",
    "time=a|unix_us,end_time=b|unix,source=a",
    "end_time=time,location={b}{b},causes=b|split:-",
    "time.year=y,time.month=m,time.day=d,time.second=s,missing=0|NA,delimiter=;,comment=#,skip_lines=1",
    "time=time|DD/MM/YYYY HH:mm,time.zone=Europe/Paris,geo=a,delimiter=blanks",
    r#"{"columns": {"d": "1-8", "t": "9-"}, "time": {"date": "d|YYYYMMDD", "time_of_day": "t"}, "source": "'x'"}"#,
];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, file)) = bytes.split_first() else { return };
    let mapping = Mapping::parse(MAPPINGS[usize::from(*choice) % MAPPINGS.len()]).expect("the mappings are ours");
    check_import(Format::Csv, &mapping, file);
});
