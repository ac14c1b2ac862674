//! Parses ELF images in memory: the kernel's vDSO, and the image that replaces it.

/// The functions that a program may look up, without their prefix.
pub(crate) const NAMES: [&str; 6] = ["clock_gettime", "gettimeofday", "time", "clock_getres", "getcpu", "getrandom"];

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const SYMBOL_BYTES: usize = 24;
const SYMBOLS_MAX: usize = 256;

/// A mapped ELF file, whose addresses are offsets.
#[derive(Clone, Debug)]
pub(crate) struct Mapped {
    bytes: Vec<u8>,
    symbols: Vec<Symbol>,
    /// How many bytes of the file are mapped.
    loaded: usize,
}

#[derive(Clone, Debug)]
struct Symbol {
    name: String,
    value: u64,
    at: usize,
}

impl Mapped {
    /// Parses a file; `None` if it cannot be a vDSO.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let headers = usize::try_from(word(bytes, 32)?).ok()?;
        let (mut loaded, mut dynamic) = (None, None);
        for index in 0..usize::from(half(bytes, 56)?).min(32) {
            let at = headers + index * 56;
            match small(bytes, at)? {
                PT_LOAD => loaded = Some(usize::try_from(word(bytes, at + 32)?).ok()?),
                PT_DYNAMIC => dynamic = Some(usize::try_from(word(bytes, at + 8)?).ok()?),
                _ => {}
            }
        }
        let symbols = symbols(bytes, dynamic?)?;
        Some(Self { bytes: bytes.to_vec(), symbols, loaded: loaded? })
    }

    /// Returns the offset of a function, by its name without `__vdso_`.
    pub(crate) fn function(&self, name: &str) -> Option<u64> {
        let prefixed = |symbol: &&Symbol| symbol.name.strip_prefix("__vdso_") == Some(name) && symbol.value != 0;
        self.symbols.iter().find(prefixed).map(|symbol| symbol.value)
    }

    /// Returns the offset of a symbol, and the bytes from there on.
    pub(crate) fn symbol(&self, name: &str) -> Option<(u64, &[u8])> {
        let symbol = self.symbols.iter().find(|symbol| symbol.name == name && symbol.value != 0)?;
        let bytes = self.bytes.get(usize::try_from(symbol.value).ok()?..self.loaded)?;
        Some((symbol.value, bytes))
    }

    pub(crate) fn syscall_instruction(&self) -> Option<u64> {
        let first = self.symbols.iter().map(|symbol| symbol.value).filter(|value| *value != 0).min()?;
        let first = usize::try_from(first).ok()?;
        let code = self.bytes.get(first..self.loaded.min(self.bytes.len()))?;
        code.windows(2).position(|pair| pair == [0x0f, 0x05]).map(|at| (first + at) as u64)
    }

    /// Returns the first bytes, by which a mapping is recognized.
    pub(crate) fn head(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().min(64)]
    }

    /// Returns the mapped bytes, without the sections after them, and without the functions that `other` lacks.
    pub(crate) fn image_with(&self, other: &Self) -> Vec<u8> {
        let mut bytes = self.bytes[..self.loaded.min(self.bytes.len())].to_vec();
        // Offset and number of sections (ELF-64 object file format, figure 2).
        bytes[40..48].fill(0);
        bytes[60..64].fill(0);
        for symbol in &self.symbols {
            let name = symbol.name.strip_prefix("__vdso_").unwrap_or(&symbol.name);
            if NAMES.contains(&name) && other.function(name).is_none() {
                // Marked as undefined, so that lookups skip it.
                bytes[symbol.at + 6..symbol.at + 8].fill(0);
            }
        }
        bytes
    }
}

fn symbols(bytes: &[u8], dynamic: usize) -> Option<Vec<Symbol>> {
    let (mut table, mut strings, mut hash) = (None, None, None);
    for index in 0..64 {
        let at = dynamic + index * 16;
        let value = usize::try_from(word(bytes, at + 8)?).ok()?;
        match word(bytes, at)? {
            0 => break,
            DT_SYMTAB => table = Some(value),
            DT_STRTAB => strings = Some(value),
            DT_HASH => hash = Some(value),
            _ => {}
        }
    }
    let (table, strings) = (table?, strings?);
    let count = match hash {
        Some(hash) => small(bytes, hash + 4)? as usize,
        // In all known vDSOs the strings follow the symbols.
        None => strings.checked_sub(table)? / SYMBOL_BYTES,
    };
    let symbol = |index: usize| {
        let at = table + index * SYMBOL_BYTES;
        let name = bytes.get(strings + small(bytes, at)? as usize..)?;
        let name = name.split(|byte| *byte == 0).next()?;
        let name = String::from_utf8_lossy(name).into_owned();
        // An undefined symbol counts as missing.
        let value = if half(bytes, at + 6)? == 0 { 0 } else { word(bytes, at + 8)? };
        Some(Symbol { name, value, at })
    };
    (0..count.min(SYMBOLS_MAX)).map(symbol).collect()
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn small(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::IMAGE;

    #[test]
    fn image_has_all_symbols_and_fits_its_mapping() {
        let image = Mapped::read(IMAGE).unwrap();
        for name in NAMES {
            assert!(image.function(name).is_some(), "{name}");
        }
        assert!(image.loaded <= crate::image::IMAGE_BYTES_MAX, "{}", image.loaded);
        assert!(image.symbol(crate::image::WAIT).is_some());
    }

    #[test]
    fn symbols_missing_in_the_kernel_are_left_out() {
        let image = Mapped::read(IMAGE).unwrap();
        let mut older = image.clone();
        older.symbols.retain(|symbol| !symbol.name.ends_with("getrandom"));
        let bytes = image.image_with(&older);
        let read = Mapped::read(&bytes).unwrap();
        assert_eq!(read.function("getrandom"), None);
        assert_eq!(read.function("time"), image.function("time"));
        assert_eq!(bytes.len(), image.loaded);
    }

    #[test]
    fn invalid_vdso_is_rejected() {
        for bytes in [&b""[..], b"\x7fELF", &[0; 64], &IMAGE[..100]] {
            assert!(Mapped::read(bytes).is_none());
        }
        for cut in 0..IMAGE.len().min(1_500) {
            // Nothing is read beyond the end.
            let _ = Mapped::read(&IMAGE[..cut]);
        }
    }
}
