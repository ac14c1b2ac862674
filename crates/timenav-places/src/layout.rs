//! The format of the embedded tables, shared by this crate and `examples/bake`, which writes them.
//!
//! All numbers are little-endian. Tables are read in place where possible.

use timenav_core::place::Point;

pub const CITY_BYTES: usize = 3 * 3 + 6 + 3;

/// Bits of a city's population, and of its region number.
const POPULATION_BITS: u32 = 25;
const REGION_BITS: u32 = 13;

/// Length of a unit vector in the records.
const UNIT: f64 = ((1_u32 << 23) - 1) as f64;

const EARTH_METRES: f64 = 6_371_008.8;

/// A point as a vector from the center of the earth, of length `2^23 - 1`. The resolution is less than a meter.
pub type Vector = [i32; 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct City {
    pub vector: Vector,
    /// Up to 33 million.
    pub population: u32,
    pub region: u16,
    pub zone: u16,
    /// Offset of its name in the names.
    pub name_at: u32,
}

impl City {
    #[must_use]
    pub fn packed(self) -> [u8; CITY_BYTES] {
        let mut record = [0; CITY_BYTES];
        for (place, part) in record.chunks_exact_mut(3).zip(self.vector) {
            place.copy_from_slice(&part.to_le_bytes()[..3]);
        }
        let region = u64::from(self.region) << POPULATION_BITS;
        let numbers = u64::from(self.population) | region | u64::from(self.zone) << (POPULATION_BITS + REGION_BITS);
        record[9..15].copy_from_slice(&numbers.to_le_bytes()[..6]);
        record[15..].copy_from_slice(&self.name_at.to_le_bytes()[..3]);
        record
    }

    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "each number has its own bits")]
    pub const fn unpacked(record: &[u8; CITY_BYTES]) -> Self {
        let r = record;
        // The shift extends the sign of the highest byte.
        let vector = [
            i32::from_le_bytes([0, r[0], r[1], r[2]]) >> 8,
            i32::from_le_bytes([0, r[3], r[4], r[5]]) >> 8,
            i32::from_le_bytes([0, r[6], r[7], r[8]]) >> 8,
        ];
        let numbers = u64::from_le_bytes([r[9], r[10], r[11], r[12], r[13], r[14], 0, 0]);
        Self {
            vector,
            population: (numbers & ((1 << POPULATION_BITS) - 1)) as u32,
            region: (numbers >> POPULATION_BITS & ((1 << REGION_BITS) - 1)) as u16,
            zone: (numbers >> (POPULATION_BITS + REGION_BITS)) as u16,
            name_at: u32::from_le_bytes([r[15], r[16], r[17], 0]),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    City(u32),
    Region(u16),
    Country(u8),
    Continent(u8),
}

/// How well a name matches a place, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Its own name.
    Primary,
    /// A name in another language or from another time.
    Alternate,
    /// An abbreviation in capital letters: a country, a region, an airport.
    Code,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meaning {
    pub target: Target,
    pub strength: Strength,
}

impl Meaning {
    #[must_use]
    pub const fn packed(self) -> u32 {
        let (kind, number) = match self.target {
            Target::City(number) => (0, number),
            Target::Region(number) => (1, number as u32),
            Target::Country(number) => (2, number as u32),
            Target::Continent(number) => (3, number as u32),
        };
        let strength = match self.strength {
            Strength::Primary => 0,
            Strength::Alternate => 1,
            Strength::Code => 2,
        };
        number << 4 | kind << 2 | strength
    }

    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the tables were written by `packed`")]
    pub const fn unpacked(packed: u32) -> Self {
        let number = packed >> 4;
        let target = match packed >> 2 & 3 {
            0 => Target::City(number),
            1 => Target::Region(number as u16),
            2 => Target::Country(number as u8),
            _ => Target::Continent(number as u8),
        };
        let strength = match packed & 3 {
            0 => Strength::Primary,
            1 => Strength::Alternate,
            _ => Strength::Code,
        };
        Self { target, strength }
    }
}

#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "no component of a unit vector is longer than 1")]
pub fn vector(point: Point) -> Vector {
    let (lat, lon) = (point.lat().to_radians(), point.lon().to_radians());
    [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()].map(|part| (part * UNIT).round() as i32)
}

/// Returns the point of a vector, rounded to five decimals of a degree.
#[must_use]
pub fn point(vector: Vector) -> Option<Point> {
    let [x, y, z] = vector.map(|part| f64::from(part) / UNIT);
    let rounded = |radians: f64| (radians.to_degrees() * 1e5).round() / 1e5;
    Point::new(rounded(z.atan2(x.hypot(y))), rounded(y.atan2(x)))
}

#[must_use]
pub fn chord_squared(a: Vector, b: Vector) -> i64 {
    let part = |axis: usize| i64::from(a[axis]) - i64::from(b[axis]);
    (0..3).map(|axis| part(axis) * part(axis)).sum()
}

/// Returns the squared chord of a distance over the ground in meters.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "no chord is longer than two units")]
pub fn chord_squared_of_metres(metres: f64) -> i64 {
    let half = (metres / EARTH_METRES / 2.0).min(std::f64::consts::FRAC_PI_2);
    (2.0 * half.sin() * UNIT).powi(2) as i64
}

/// Returns the spherical distance over the ground of a squared chord, in meters.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "the loss is less than a millimeter")]
pub fn metres_of_chord_squared(chord: i64) -> f64 {
    2.0 * ((chord as f64).sqrt() / UNIT / 2.0).min(1.0).asin() * EARTH_METRES
}

/// Returns the root of a subtree, given its range of records. Records before it are not greater along the axis of its
/// depth, those after it are not less.
#[must_use]
pub const fn tree_middle(from: usize, until: usize) -> usize {
    from.midpoint(until)
}
