//! `CloudEvents` in binary mode: whatever the headers hold, what is made of them is an event or a refusal.
//! Lines are headers up to a blank one, the rest is the data.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_fuzz::{check_import, check_refusal};
use timenav_import::{Format, Mapping, cloud_event_of_parts};

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n");
    let (head, data) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 2..]));
    let header = |line: &'_ [u8]| -> Option<(String, Vec<u8>)> {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((String::from_utf8_lossy(&line[..colon]).into_owned(), line[colon + 1..].to_vec()))
    };
    let headers: Vec<(String, Vec<u8>)> = head.split(|byte| *byte == b'\n').filter_map(header).collect();
    let content_type = headers.iter().find(|(name, _)| name == "content-type");
    let content_type = content_type.and_then(|(_, value)| str::from_utf8(value).ok());
    let attributes = headers.iter().filter(|(name, _)| name != "content-type");
    let attributes = attributes.map(|(name, value)| (name.as_str(), value.as_slice()));
    match cloud_event_of_parts(attributes, content_type, data) {
        Ok(event) => check_import(Format::CloudEvents, &Mapping::default(), event.as_bytes()),
        Err(error) => check_refusal(&error),
    }
});
