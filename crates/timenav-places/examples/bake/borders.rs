//! Outlines of countries, and which cells of the grid each may have points in.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, ensure};
use timenav_core::place::{CELLS, Cell, LocationQuery, Point, cells_of};
use timenav_places::layout::chord_squared;
use timenav_places::outlines::{Outlines, SOUTH, STEP_LAT, STEP_LON};
use timenav_places::{COAST_METRES, Candidate, Grid};

use crate::sources::{Shape, Sources, Topology};
use crate::world::World;

/// Steps of the grid around the earth. The meridian 180 is at the first and at the last one.
const STEPS_AROUND: i32 = 99_999;
/// More than any rounding of a coordinate, in degrees.
const ROUNDING_DEGREES: f64 = 1e-6;

type GridPoint = (i32, i32);

/// One land mass or island as it is drawn: the country it is drawn for, and its lines.
struct Polygon {
    country: Option<usize>,
    name: String,
    lines: Vec<u16>,
}

/// Returns the outlines and the candidates of each cell.
pub(crate) fn tables(sources: &Sources, world: &World<'_>) -> anyhow::Result<Vec<(&'static str, Vec<u8>)>> {
    let topology = &sources.topology;
    let (scale, south) = (topology.transform.scale, topology.transform.translate.1);
    let same = |a: f64, b: f64| (a - b).abs() < 1e-12;
    ensure!(same(scale.0, STEP_LON) && same(scale.1, STEP_LAT) && same(south, SOUTH), "the map has another grid");
    let (lines, pieces) = lines(topology);
    let polygons = polygons(topology, world, &pieces)?;
    let polygon_lines: Vec<Vec<u16>> = polygons.iter().map(|polygon| polygon.lines.clone()).collect();
    let drawn = Outlines::encode(&lines, &polygon_lines);
    let owners = owners(world, &polygons, &lines, &Outlines::decode(&drawn));
    let mut countries: Vec<BTreeSet<u16>> = vec![BTreeSet::new(); world.countries.len()];
    for (polygon, owner) in polygons.iter().zip(owners) {
        for &line in &polygon.lines {
            // A line between two parts of one country is no border of it.
            if !countries[owner].remove(&line) {
                countries[owner].insert(line);
            }
        }
    }
    let countries: Vec<Vec<u16>> = countries.into_iter().map(|lines| lines.into_iter().collect()).collect();
    let outlines = Outlines::encode(&lines, &countries);
    let cells = candidates(world, &lines, &countries, &Outlines::decode(&outlines));
    Ok(vec![("outlines.bin", outlines), ("cells.bin", Grid::encode(&cells))])
}

/// Returns the lines of a map, cut where they cross the meridian 180, and the pieces that each became.
fn lines(topology: &Topology) -> (Vec<Vec<GridPoint>>, Vec<Vec<u16>>) {
    let mut lines: Vec<Vec<GridPoint>> = Vec::new();
    let mut pieces = Vec::new();
    for arc in &topology.arcs {
        let first = lines.len();
        let mut at = (0, 0);
        let mut line: Vec<GridPoint> = Vec::new();
        for &(dx, dy) in arc {
            let from = at;
            at = (at.0 + dx, at.1 + dy);
            // One end of a stretch that leads around the earth lies on that meridian: it has two names.
            if !line.is_empty() && (from.0 - at.0).abs() > STEPS_AROUND / 2 {
                lines.push(std::mem::take(&mut line));
                let other_name = |(x, y): GridPoint| if x == 0 { (STEPS_AROUND, y) } else { (x % STEPS_AROUND, y) };
                let stretch =
                    if from.0 == 0 || at.0 == STEPS_AROUND { [other_name(from), at] } else { [from, other_name(at)] };
                lines.push(stretch.to_vec());
            }
            line.push(at);
        }
        lines.push(line);
        pieces.push((first..lines.len()).filter_map(|line| u16::try_from(line).ok()).collect());
    }
    (lines, pieces)
}

fn polygons(topology: &Topology, world: &World<'_>, pieces: &[Vec<u16>]) -> anyhow::Result<Vec<Polygon>> {
    let mut polygons = Vec::new();
    for geometry in &topology.objects.countries.geometries {
        let number: Option<u32> = geometry.id.as_ref().and_then(|id| id.parse().ok());
        let country = world.countries.iter().position(|country| Some(country.isonumeric) == number);
        let parts: Vec<&Vec<Vec<i32>>> = match &geometry.shape {
            Shape::Polygon(rings) => vec![rings],
            Shape::MultiPolygon(parts) => parts.iter().collect(),
        };
        for rings in parts {
            let mut lines = Vec::new();
            for &arc in rings.iter().flatten() {
                let number = usize::try_from(if arc < 0 { !arc } else { arc })?;
                lines.extend(pieces.get(number).context("a ring has a line that is not there")?);
            }
            lines.sort_unstable();
            polygons.push(Polygon { country, name: geometry.properties.name.clone(), lines });
        }
    }
    Ok(polygons)
}

/// Returns the country of each polygon: that of most of its cities, so that outlines and cities
/// agree; without cities the one that it is drawn for; else that of the nearest city.
fn owners(world: &World<'_>, polygons: &[Polygon], lines: &[Vec<GridPoint>], drawn: &Outlines<'_>) -> Vec<usize> {
    let mut owners = Vec::with_capacity(polygons.len());
    for (number, polygon) in polygons.iter().enumerate() {
        let (south, north) = parallels(polygon.lines.iter().flat_map(|&line| &lines[usize::from(line)]));
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for city in world.cities.iter().filter(|city| (south..=north).contains(&city.point.lat())) {
            if drawn.contain(number, city.point) {
                *votes.entry(city.country).or_default() += 1;
            }
        }
        let most = votes.iter().max_by_key(|&(&country, &votes)| (votes, Some(country) == polygon.country));
        let owner =
            most.map(|(&country, _)| country).or(polygon.country).unwrap_or_else(|| nearest(world, polygon, lines));
        if polygon.country != Some(owner) {
            println!("part of {} goes to {}: {votes:?}", polygon.name, world.countries[owner].iso);
        }
        owners.push(owner);
    }
    owners
}

fn parallels<'a>(points: impl Iterator<Item = &'a GridPoint>) -> (f64, f64) {
    let lats = points.map(|&point| degrees(point).1);
    lats.fold((90.0, -90.0), |(south, north), lat| (lat.min(south), lat.max(north)))
}

/// Returns the country of the city that is nearest to a corner of a polygon.
fn nearest(world: &World<'_>, polygon: &Polygon, lines: &[Vec<GridPoint>]) -> usize {
    let (lon, lat) = degrees(lines[usize::from(polygon.lines[0])][0]);
    let corner = Point::new(lat, lon).map_or([0; 3], timenav_places::layout::vector);
    let city = world.cities.iter().min_by_key(|city| chord_squared(city.vector, corner));
    city.map_or(0, |city| city.country)
}

fn degrees((x, y): GridPoint) -> (f64, f64) {
    (f64::from(x) * STEP_LON - 180.0, f64::from(y) * STEP_LAT + SOUTH)
}

fn candidates(
    world: &World<'_>,
    lines: &[Vec<GridPoint>],
    countries: &[Vec<u16>],
    outlines: &Outlines<'_>,
) -> Vec<Vec<Candidate>> {
    let mut cells: Vec<BTreeMap<u8, Candidate>> = vec![BTreeMap::new(); CELLS as usize];
    for (number, of_country) in countries.iter().enumerate().filter(|(_, lines)| !lines.is_empty()) {
        let country = u8::try_from(number).unwrap_or_default();
        let of_country = || of_country.iter().map(|&line| &lines[usize::from(line)]);
        let touched: BTreeSet<usize> = of_country().flat_map(|line| line.windows(2)).flat_map(touched).collect();
        let (south, north) = parallels(of_country().flatten());
        for cell in (0..CELLS).filter_map(Cell::numbered) {
            let (index, middle) = (cell.number() as usize, cell.middle());
            let is_touched = touched.contains(&index);
            let is_whole = !is_touched && (south..=north).contains(&middle.lat()) && outlines.contain(number, middle);
            if is_touched || is_whole {
                cells[index].insert(country, Candidate { country, has_outline: true, is_whole });
            }
        }
    }
    for city in &world.cities {
        let country = u8::try_from(city.country).unwrap_or_default();
        let near = LocationQuery::Near { center: city.point, radius_m: COAST_METRES * 1.01 };
        for cell in cells_of(&near).unwrap_or_default() {
            let candidate = Candidate { country, has_outline: false, is_whole: false };
            cells[cell.number() as usize].entry(country).or_insert(candidate);
        }
    }
    cells.into_iter().map(|cell| cell.into_values().collect()).collect()
}

/// Returns every cell that the box around a stretch of a line touches.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "degrees on the earth, from 0 by then")]
fn touched(stretch: &[GridPoint]) -> Vec<usize> {
    let ((lon_a, lat_a), (lon_b, lat_b)) = (degrees(stretch[0]), degrees(stretch[1]));
    let steps = |a: f64, b: f64, offset: f64| {
        let first = (a.min(b) + offset - ROUNDING_DEGREES).floor().max(0.0);
        let last = (a.max(b) + offset + ROUNDING_DEGREES).floor();
        first as usize..=last as usize
    };
    let columns = || steps(lon_a, lon_b, 180.0).map(|column| column % 360);
    steps(lat_a, lat_b, 90.0).flat_map(|row| columns().map(move |column| row.min(179) * 360 + column)).collect()
}
