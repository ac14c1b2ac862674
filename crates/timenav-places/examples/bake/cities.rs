use anyhow::{Context, ensure};
use timenav_places::layout::{CITY_BYTES, City};

use crate::world::World;

pub(crate) fn tables(world: &World<'_>) -> anyhow::Result<Vec<(&'static str, Vec<u8>)>> {
    let mut records = Vec::with_capacity(world.cities.len() * CITY_BYTES);
    let mut names = String::new();
    for city in &world.cities {
        let zone = world.zones.binary_search(&city.row.timezone.as_str()).ok().context("a zone is missing")?;
        let packed = City {
            vector: city.vector,
            population: city.row.population,
            region: u16::try_from(city.region)?,
            zone: u16::try_from(zone)?,
            name_at: u32::try_from(names.len())?,
        };
        let record = packed.packed();
        ensure!(City::unpacked(&record) == packed, "{} does not fit its record", city.row.name);
        records.extend(record);
        names += &city.row.name;
    }
    Ok(vec![("cities.bin", records), ("cities.txt", names.into_bytes())])
}
