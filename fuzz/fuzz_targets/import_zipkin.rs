//! Traces of Zipkin: what holds for every file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_fuzz::check_import;
use timenav_import::{Format, Mapping};

fuzz_target!(|file: &[u8]| {
    check_import(Format::Zipkin, &Mapping::default(), file);
});
