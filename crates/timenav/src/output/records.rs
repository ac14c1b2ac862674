use std::collections::BTreeMap;
use std::io::{IsTerminal as _, stdout};

use clap::ValueEnum;
use serde_json::Value;
use serde_json::value::RawValue;

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Sentences and tables, for people.
    #[default]
    Table,
    /// The response of the service, indented.
    Json,
    /// A line of JSON per record.
    Ndjson,
    /// A row per record, after a header.
    Csv,
}

impl OutputFormat {
    pub(crate) const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    /// The array member with the records.
    pub(crate) member: &'static str,
    /// The fields of a row by path, such as `clock/state`. New ones may be appended.
    pub(crate) fields: &'static [&'static str],
    /// The columns of a table for people: a header and the path of a member. Empty if its rows are computed.
    pub(crate) columns: &'static [(&'static str, &'static str)],
}

impl Records {
    /// Returns each record on a line, unparsed.
    pub(crate) fn lines(&self, json: &str) -> String {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(json).unwrap_or_default();
        let list = members.get(self.member).map_or("[]", |list| list.get());
        let records: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
        records.iter().map(|record| line(record.get())).collect()
    }
}

/// Returns JSON on one line. Line ends only occur between tokens: in strings they are escaped.
pub(crate) fn line(json: &str) -> String {
    json.trim().replace(['\n', '\r'], "") + "\n"
}

/// CSV rows of several responses under one header.
#[derive(Debug, Default)]
pub(crate) struct Table {
    names: Option<Vec<String>>,
}

impl Table {
    /// Returns the rows of a page, with a header before the first one.
    pub(crate) fn rows(&mut self, records: &Records, page: &Value) -> String {
        let fields = records.fields.iter().map(|field| (*field).to_owned()).collect();
        let list = page[records.member].as_array().map_or(&[][..], Vec::as_slice);
        self.write(fields, list)
    }

    pub(crate) fn row(&mut self, answer: &Value) -> String {
        let mut fields = Vec::new();
        leaves("", answer, &mut fields);
        self.write(fields, std::slice::from_ref(answer))
    }

    fn write(&mut self, fields: Vec<String>, records: &[Value]) -> String {
        let is_first = self.names.is_none();
        let fields = self.names.get_or_insert(fields);
        let names = is_first.then(|| fields.iter().map(|field| field.replace('/', ".")).collect());
        let rows = records.iter().map(|record| {
            let cells = fields.iter().map(|field| cell(record.pointer(&format!("/{field}"))));
            cells.collect::<Vec<String>>()
        });
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in names.into_iter().chain(rows) {
            // Writing to memory cannot fail, and all rows have equal length.
            let _ = writer.write_record(row);
        }
        let out = String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default();
        // A file gets the data as recorded. Only on a terminal are control characters removed.
        if !stdout().is_terminal() {
            return out;
        }
        out.chars().map(|c| if super::acts_on_terminal(c) && c != '\n' { ' ' } else { c }).collect()
    }
}

/// Collects the paths of members that are not objects.
fn leaves(path: &str, value: &Value, paths: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                leaves(&path, member, paths);
            }
        }
        _ => paths.push(path.to_owned()),
    }
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: Records = Records { member: "items", fields: &["id", "at/time", "who"], columns: &[] };

    #[test]
    fn each_record_is_printed_unchanged_on_one_line() {
        let page = "{\"status\":\"2.\",\"items\":[{\"n\":1.50,\n \"t\":\"a\\nb\"},{}]}";
        assert_eq!(RECORDS.lines(page), "{\"n\":1.50, \"t\":\"a\\nb\"}\n{}\n");
        assert_eq!((RECORDS.lines("{}"), RECORDS.lines("[1]")), (String::new(), String::new()));
        assert_eq!(line("{\"a\":\n1}\n"), "{\"a\":1}\n");
    }

    #[test]
    fn csv_pages_have_one_header_line() {
        let mut table = Table::default();
        let page = serde_json::json!({"items": [
            {"id": "a", "at": {"time": "2000-01-01T00:00:00Z"}, "who": ["x", "y"], "other": 1},
            {"id": "b \"c\", d\ne", "at": null},
        ]});
        let first = "id,at.time,who\na,2000-01-01T00:00:00Z,\"[\"\"x\"\",\"\"y\"\"]\"\n\"b \"\"c\"\", d\ne\",,\n";
        assert_eq!(table.rows(&RECORDS, &page), first);
        assert_eq!(table.rows(&RECORDS, &serde_json::json!({"items": [{"id": "f"}]})), "f,,\n");
    }

    #[test]
    fn csv_row_contains_every_field_of_a_response() {
        let mut table = Table::default();
        let answer = serde_json::json!({"status": "It runs.", "rate": 1.5, "ledger": {"size": 3}, "empty": null});
        let mut reader = csv::Reader::from_reader(std::io::Cursor::new(table.row(&answer)));
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let row = reader.records().next().unwrap().unwrap();
        let pairs: BTreeMap<&str, &str> = names.iter().map(String::as_str).zip(row.iter()).collect();
        let expected = [("status", "It runs."), ("rate", "1.5"), ("ledger.size", "3"), ("empty", "")];
        assert_eq!(pairs, BTreeMap::from(expected));
    }
}
