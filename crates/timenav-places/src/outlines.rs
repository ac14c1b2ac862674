//! Country outlines, and point-in-country tests.
//!
//! An outline is a set of lines shared with neighbors, not a set of rings. Whether a point is inside depends only on
//! the number of lines between it and the north pole. Holes, islands, the antimeridian and the south pole therefore
//! need no special cases, and a point on a border is in exactly one of the two countries, because both count the same
//! line.

use timenav_core::place::Point;

/// Grid step of the lines along a parallel, in degrees.
pub const STEP_LON: f64 = 360.0 / 99_999.0;
/// Grid step of the lines along a meridian, in degrees.
pub const STEP_LAT: f64 = (83.599_609_375 + 89.999) / 99_999.0;
/// The southernmost parallel of the grid, in degrees. Points further south count as just north of it.
pub const SOUTH: f64 = -89.999;

#[derive(Debug)]
pub struct Outlines<'a> {
    bytes: &'a [u8],
    lines: Vec<Line>,
    countries: Vec<Vec<u16>>,
}

/// The offset of a line in the bytes, and its bounding box.
#[derive(Debug)]
struct Line {
    at: usize,
    points_count: u32,
    west: i32,
    east: i32,
    south: i32,
    north: i32,
    first_x: i32,
    last_x: i32,
}

type GridPoint = (i32, i32);

impl<'a> Outlines<'a> {
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Self {
        let mut reader = Reader { bytes, at: 0 };
        let lines_count = reader.count();
        let lines = (0..lines_count).map(|_| Line::read(&mut reader)).collect();
        let countries_count = reader.count();
        let countries = (0..countries_count).map(|_| reader.ascending()).collect();
        Self { bytes, lines, countries }
    }

    /// Encodes lines, and for each country the lines of its outline, sorted.
    #[must_use]
    pub fn encode(lines: &[Vec<GridPoint>], countries: &[Vec<u16>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, lines.len());
        for line in lines {
            write(&mut bytes, line.len());
            let mut last = (0, 0);
            for &(x, y) in line {
                write_signed(&mut bytes, x - last.0);
                write_signed(&mut bytes, y - last.1);
                last = (x, y);
            }
        }
        write(&mut bytes, countries.len());
        for country in countries {
            write(&mut bytes, country.len());
            let mut last = 0;
            for &line in country {
                write(&mut bytes, usize::from(line - last));
                last = line;
            }
        }
        bytes
    }

    #[must_use]
    pub fn contain(&self, country: usize, point: Point) -> bool {
        let Some(lines) = self.countries.get(country) else { return false };
        // The meridian 180 equals −180, on which lines start.
        let lon = if point.lon() >= 180.0 { -180.0 } else { point.lon() };
        let x = (lon + 180.0) / STEP_LON;
        let y = (point.lat() - SOUTH).max(0.0) / STEP_LAT;
        let crossed = lines.iter().filter(|&&line| self.is_crossed(&self.lines[usize::from(line)], x, y)).count();
        crossed % 2 == 1
    }

    /// Returns whether the path north from a position crosses a line an odd number of times.
    fn is_crossed(&self, line: &Line, x: f64, y: f64) -> bool {
        if f64::from(line.west) > x || f64::from(line.east) <= x || f64::from(line.north) <= y {
            return false;
        }
        if f64::from(line.south) > y {
            return (f64::from(line.first_x) <= x) != (f64::from(line.last_x) <= x);
        }
        let mut is_odd = false;
        let mut points = line.points(self.bytes);
        let Some(mut from) = points.next() else { return false };
        for to in points {
            is_odd ^= crosses(from, to, x, y);
            from = to;
        }
        is_odd
    }
}

/// Returns whether the path north from a position crosses a segment.
fn crosses(from: GridPoint, to: GridPoint, x: f64, y: f64) -> bool {
    let (from_x, from_y) = (f64::from(from.0), f64::from(from.1));
    let (to_x, to_y) = (f64::from(to.0), f64::from(to.1));
    // The eastern end of a segment belongs to the next one, so that no corner counts twice.
    (from_x <= x) != (to_x <= x) && from_y + (to_y - from_y) * ((x - from_x) / (to_x - from_x)) > y
}

impl Line {
    fn read(reader: &mut Reader<'_>) -> Self {
        let points_count = u32::try_from(reader.count()).unwrap_or_default();
        let mut line = Self {
            at: reader.at,
            points_count,
            west: i32::MAX,
            east: i32::MIN,
            south: i32::MAX,
            north: i32::MIN,
            first_x: 0,
            last_x: 0,
        };
        let points = Points { reader: Reader { ..*reader }, left: points_count, last: (0, 0) };
        for (index, (x, y)) in points.enumerate() {
            (line.west, line.east) = (line.west.min(x), line.east.max(x));
            (line.south, line.north) = (line.south.min(y), line.north.max(y));
            line.first_x = if index == 0 { x } else { line.first_x };
            line.last_x = x;
        }
        reader.skip(2 * points_count);
        line
    }

    fn points<'b>(&self, bytes: &'b [u8]) -> Points<'b> {
        Points { reader: Reader { bytes, at: self.at }, left: self.points_count, last: (0, 0) }
    }
}

struct Points<'a> {
    reader: Reader<'a>,
    left: u32,
    last: GridPoint,
}

impl Iterator for Points<'_> {
    type Item = GridPoint;

    fn next(&mut self) -> Option<GridPoint> {
        self.left = self.left.checked_sub(1)?;
        self.last = (self.last.0 + self.reader.signed(), self.last.1 + self.reader.signed());
        Some(self.last)
    }
}

/// Decodes LEB128 numbers: seven bits per byte, least significant first, the last byte without the high bit.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn number(&mut self) -> u32 {
        let mut number = 0;
        for shift in (0..32).step_by(7) {
            let byte = self.bytes.get(self.at).copied().unwrap_or_default();
            self.at += 1;
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn count(&mut self) -> usize {
        self.number() as usize
    }

    fn signed(&mut self) -> i32 {
        let number = self.number();
        (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
    }

    fn skip(&mut self, numbers_count: u32) {
        for _ in 0..numbers_count {
            self.number();
        }
    }

    fn ascending(&mut self) -> Vec<u16> {
        let count = self.count();
        let step = |last: &mut u32, _| {
            *last += self.number();
            u16::try_from(*last).ok()
        };
        (0..count).scan(0, step).collect()
    }
}

fn write(bytes: &mut Vec<u8>, number: usize) {
    let mut rest = number;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        bytes.push(if rest == 0 { low } else { low | 0x80 });
        if rest == 0 {
            break;
        }
    }
}

fn write_signed(bytes: &mut Vec<u8>, number: i32) {
    write(bytes, (number << 1 ^ number >> 31).cast_unsigned() as usize);
}
