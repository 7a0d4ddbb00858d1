//! The functions of the standard ABI.
//!
//! Those removed in MPI-3.0 that old binaries still ask for follow at the end.
//! A running rank publishes the index of the function it is in; the launcher prints its name.

/// A C function, as `MPI_X`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Function {
    $VARIANTS
}

impl Function {
    /// How many functions there are; indices are `1..=COUNT`.
    pub const COUNT: usize = $COUNT;

    /// The function at `index`; `None` for 0, which stands for "in no call".
    pub fn from_index(index: u16) -> Option<Self> {
        let row = usize::from(index).checked_sub(1)?;
        ROWS.get(row).map(|row| row.0)
    }

    /// All functions in the order of their indices.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.0)
    }

    /// The index, never 0.
    pub const fn index(self) -> u16 {
        self as u16
    }

    /// The name in C.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// The part of the standard that defines the function.
    pub const fn chapter(self) -> Chapter {
        self.row().2
    }

    /// Whether oxmpi implements the function; otherwise it returns `UnsupportedOperation`.
    pub const fn built(self) -> bool {
        self.row().3
    }

    const fn row(self) -> &'static (Self, &'static str, Chapter, bool) {
        &ROWS[self as usize - 1]
    }
}

/// The parts of the standard, more finely cut than its chapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Chapter {
    $CHAPTER_VARIANTS
}

impl Chapter {
    /// The name, in lower case with hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            $CHAPTER_NAMES
        }
    }
}

static ROWS: [(Function, &str, Chapter, bool); $COUNT] = [
    $ROWS
];
