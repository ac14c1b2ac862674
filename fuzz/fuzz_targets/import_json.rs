//! JSON and logs of any shape, and the first look at them: what holds for every file. The first byte chooses a format and
//! a mapping.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_fuzz::check_import;
use timenav_import::{Format, Guess, Mapping};

const FORMATS: [Format; 3] = [Format::Json, Format::Logfmt, Format::Ndjson];
const MAPPINGS: [&str; 5] = [
    "time=time|unix_ms,name=a.b",
    "time.date=d,time.time_of_day=t|hhmmss,missing=0|NA,geo=where",
    "records=a.b,time=ts|%d/%b/%Y:%H:%M:%S %z",
    "records=/a/b,time.year=y,time.month=m,event_id=/a~1b/c",
    "time=t|unix_ns,causes=c,actors=a,asserts=s,attributes=x",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, file)) = bytes.split_first() else { return };
    let choice = usize::from(*choice);
    let mapping = Mapping::parse(MAPPINGS[choice / FORMATS.len() % MAPPINGS.len()]).expect("the mappings are ours");
    check_import(FORMATS[choice % FORMATS.len()], &mapping, file);
    if let Ok(Guess { mapping: Some(mapping), .. }) = Guess::of(file, None) {
        Mapping::parse(&mapping).expect("what is proposed is a mapping");
    }
});
