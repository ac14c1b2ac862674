//! Makes the tables of the gazetteer: `cargo xtask bake-places` fetches the packages and runs this.
//!
//! The same packages make the same bytes: everything is sorted, and nothing depends on the machine.

mod sources;
mod world;
mod cities;
mod names;
mod borders;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::sources::Sources;
use crate::world::World;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [packages, data] = arguments.as_slice() else { bail!("usage: bake <folder of packages> <folder of tables>") };
    let sources = Sources::read(packages)?;
    let world = World::of(&sources)?;
    let cities = cities::tables(&world)?;
    let names = names::tables(&sources, &world)?;
    let borders = borders::tables(&sources, &world)?;
    let mut size = 0;
    for (name, bytes) in cities.into_iter().chain(world.tables()).chain(names).chain(borders) {
        let path = data.join(name);
        size += bytes.len();
        println!("{:>9} {name}", bytes.len());
        fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    println!("{size:>9} bytes in all");
    Ok(())
}
