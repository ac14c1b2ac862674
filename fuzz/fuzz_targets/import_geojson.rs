//! Files of GeoJSON: what holds for every file. The first byte chooses a mapping.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_fuzz::check_import;
use timenav_import::{Format, Mapping};

const MAPPINGS: [&str; 6] = [
    "",
    "time=when|unix",
    "time=time|unix_us,name={a} ({b}),event_id=a",
    "time={date}T{clock}Z,event_id=,precision=",
    "causes=a|split,actors=b|split:;,description={{{a}}}",
    "lat=a,lon=b,radius_m=a,source=b",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, file)) = bytes.split_first() else { return };
    let mapping = Mapping::parse(MAPPINGS[usize::from(*choice) % MAPPINGS.len()]).expect("the mappings are ours");
    check_import(Format::GeoJson, &mapping, file);
});
