//! How a datatype was made, told to the program.
//!
//! Arguments come back as they were given: those of a large-count constructor as large counts, the others as
//! integers and addresses. MPI-5.0: Datatypes, Decoding a Datatype.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::{Constructor, Darray, Datatype, Subarray};

use super::arrays::{distribution_constant, order_constant};
use super::unnamed;
use crate::argument::{Array, ArrayOut, Out, Writing};
use crate::failure::at_any_time;
use crate::generated::constants::{
    MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_DARRAY, MPI_COMBINER_DUP, MPI_COMBINER_F90_COMPLEX,
    MPI_COMBINER_F90_INTEGER, MPI_COMBINER_F90_REAL, MPI_COMBINER_HINDEXED, MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_HVECTOR, MPI_COMBINER_INDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_NAMED,
    MPI_COMBINER_RESIZED, MPI_COMBINER_STRUCT, MPI_COMBINER_SUBARRAY, MPI_COMBINER_VALUE_INDEX,
    MPI_COMBINER_VECTOR, MPI_DISTRIBUTE_DFLT_DARG, MPI_UNDEFINED,
};
use crate::generated::types::{MPI_Aint, MPI_Count, MPI_Datatype};
use crate::handle::Handle as _;
use crate::object::datatype::{DERIVED, find};

/// The arguments of a constructor.
#[derive(Default)]
struct Contents {
    combiner: c_int,
    /// Whether the constructor took large counts.
    large: bool,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    large_counts: Vec<i64>,
    olds: Vec<Datatype>,
}

impl Contents {
    fn of(datatype: &Datatype) -> Self {
        let constructor = datatype.constructor();
        let (large, olds) = (datatype.has_large_counts(), constructor.olds().to_vec());
        let mut contents = Self { large, olds, ..Self::default() };
        contents.combiner = contents.add_arguments(constructor);
        contents
    }

    /// Adds the arguments of a constructor in their order; gives its combiner.
    fn add_arguments(&mut self, constructor: &Constructor) -> c_int {
        match constructor {
            Constructor::Basic(_) => MPI_COMBINER_NAMED,
            Constructor::Contiguous { count, .. } => {
                self.add_counts(&[*count]);
                MPI_COMBINER_CONTIGUOUS
            }
            Constructor::Darray { arguments, .. } => {
                self.add_darray(arguments);
                MPI_COMBINER_DARRAY
            }
            Constructor::Dup { .. } => MPI_COMBINER_DUP,
            Constructor::F90Complex { precision, range, .. } => {
                self.add_integers([*precision, *range].map(or_undefined));
                MPI_COMBINER_F90_COMPLEX
            }
            Constructor::F90Integer { range, .. } => {
                self.add_integers([*range]);
                MPI_COMBINER_F90_INTEGER
            }
            Constructor::F90Real { precision, range, .. } => {
                self.add_integers([*precision, *range].map(or_undefined));
                MPI_COMBINER_F90_REAL
            }
            Constructor::Resized { lower_bound, extent, .. } => {
                self.add_addresses(&[*lower_bound, *extent]);
                MPI_COMBINER_RESIZED
            }
            Constructor::Subarray { arguments, .. } => {
                self.add_subarray(arguments);
                MPI_COMBINER_SUBARRAY
            }
            Constructor::ValueIndex { .. } => MPI_COMBINER_VALUE_INDEX,
            blocks => self.add_blocks(blocks),
        }
    }

    /// As [`Contents::add_arguments`], of the constructors of several blocks.
    fn add_blocks(&mut self, constructor: &Constructor) -> c_int {
        match constructor {
            Constructor::Hindexed { blocklengths, displacements, .. } => {
                self.add_counts(&[items(blocklengths)]);
                self.add_counts(blocklengths);
                self.add_addresses(displacements);
                MPI_COMBINER_HINDEXED
            }
            Constructor::HindexedBlock { blocklength, displacements, .. } => {
                self.add_counts(&[items(displacements), *blocklength]);
                self.add_addresses(displacements);
                MPI_COMBINER_HINDEXED_BLOCK
            }
            Constructor::Hvector { count, blocklength, stride_bytes, .. } => {
                self.add_counts(&[*count, *blocklength]);
                self.add_addresses(&[*stride_bytes]);
                MPI_COMBINER_HVECTOR
            }
            Constructor::Indexed { blocklengths, displacements, .. } => {
                self.add_counts(&[items(blocklengths)]);
                self.add_counts(blocklengths);
                self.add_counts(displacements);
                MPI_COMBINER_INDEXED
            }
            Constructor::IndexedBlock { blocklength, displacements, .. } => {
                self.add_counts(&[items(displacements), *blocklength]);
                self.add_counts(displacements);
                MPI_COMBINER_INDEXED_BLOCK
            }
            Constructor::Struct { blocklengths, displacements, .. } => {
                self.add_counts(&[items(blocklengths)]);
                self.add_counts(blocklengths);
                self.add_addresses(displacements);
                MPI_COMBINER_STRUCT
            }
            Constructor::Vector { count, blocklength, stride, .. } => {
                self.add_counts(&[*count, *blocklength, *stride]);
                MPI_COMBINER_VECTOR
            }
            other => unreachable!("{other:?} has no blocks"),
        }
    }

    fn add_darray(&mut self, arguments: &Darray) {
        let Darray { size, rank, gsizes, distributions, dargs, psizes, order } = arguments;
        self.add_integers([*size, *rank, items(gsizes)]);
        self.add_counts(gsizes);
        self.add_integers(distributions.iter().map(|each| distribution_constant(*each).into()));
        self.add_integers(dargs.iter().map(|darg| darg.unwrap_or(MPI_DISTRIBUTE_DFLT_DARG.into())));
        self.add_integers(psizes.iter().copied());
        self.add_integers([order_constant(*order).into()]);
    }

    fn add_subarray(&mut self, arguments: &Subarray) {
        let Subarray { sizes, subsizes, starts, order } = arguments;
        self.add_integers([items(sizes)]);
        for counts in [sizes, subsizes, starts] {
            self.add_counts(counts);
        }
        self.add_integers([order_constant(*order).into()]);
    }

    /// Arguments that are integers in both forms of a constructor.
    fn add_integers(&mut self, values: impl IntoIterator<Item = i64>) {
        self.integers.extend(values);
    }

    /// Arguments that are integers, or large counts.
    fn add_counts(&mut self, values: &[i64]) {
        let into = if self.large { &mut self.large_counts } else { &mut self.integers };
        into.extend(values);
    }

    /// Arguments that are addresses, or large counts.
    fn add_addresses(&mut self, values: &[i64]) {
        let into = if self.large { &mut self.large_counts } else { &mut self.addresses };
        into.extend(values);
    }

    /// Refuses what the functions without large counts cannot tell.
    fn small(self) -> Result<Self> {
        if !self.large {
            return Ok(self);
        }
        let text =
            "datatype was made with large counts: only the large-count form of this function decodes it";
        Err(Error::new(ErrorClass::Type, text))
    }

    /// The handles of the old datatypes; of those that are not predefined new handles, which the program frees.
    fn old_handles(&self) -> impl Iterator<Item = MPI_Datatype> {
        self.olds.iter().map(|old| match old.constructor() {
            Constructor::Basic(basic) => MPI_Datatype::from_word(basic.abi() as usize),
            _ => unnamed::existing(old).unwrap_or_else(|| DERIVED.insert(old.anew())),
        })
    }
}

fn items<T>(array: &[T]) -> i64 {
    i64::try_from(array.len()).expect("arrays fit memory")
}

fn or_undefined(value: Option<i64>) -> i64 {
    value.unwrap_or(MPI_UNDEFINED.into())
}

/// The contents of a datatype that has some.
///
/// # Errors
/// `Type` if the handle names no datatype, or one that has a name in the standard.
fn contents(handle: MPI_Datatype) -> Result<Contents> {
    let found = find("datatype", handle)?;
    if let Constructor::Basic(basic) = found.constructor() {
        let text = format!("datatype is {}, which is predefined and has no contents", basic.name());
        return Err(Error::new(ErrorClass::Type, text));
    }
    Ok(Contents::of(&found))
}

/// `MPI_Type_get_envelope`.
pub fn type_get_envelope(
    function: Function,
    datatype: MPI_Datatype,
    num_integers: Out<c_int>,
    num_addresses: Out<c_int>,
    num_datatypes: Out<c_int>,
    combiner: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        let contents = Contents::of(&*find("datatype", datatype)?).small()?;
        let outputs = [
            ("num_integers", num_integers, contents.integers.len() as c_int),
            ("num_addresses", num_addresses, contents.addresses.len() as c_int),
            ("num_datatypes", num_datatypes, contents.olds.len() as c_int),
            ("combiner", combiner, contents.combiner),
        ];
        tell_all(&outputs)
    })
}

/// Writes each value to where its argument points, or none if a pointer is null.
fn tell_all<T: Copy>(outputs: &[(&str, Out<T>, T)]) -> Result<()> {
    let checked = outputs.iter().map(|&(argument, output, _)| output.named(argument));
    let checked = checked.collect::<Result<Vec<_>>>()?;
    checked.iter().zip(outputs).for_each(|(output, &(_, _, value))| output.set(value));
    Ok(())
}

/// `MPI_Type_get_envelope_c`.
pub fn type_get_envelope_c(
    function: Function,
    datatype: MPI_Datatype,
    num_integers: Out<MPI_Count>,
    num_addresses: Out<MPI_Count>,
    num_large_counts: Out<MPI_Count>,
    num_datatypes: Out<MPI_Count>,
    combiner: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        let contents = Contents::of(&*find("datatype", datatype)?);
        let combiner = combiner.named("combiner")?;
        let outputs = [
            ("num_integers", num_integers, contents.integers.len() as MPI_Count),
            ("num_addresses", num_addresses, contents.addresses.len() as MPI_Count),
            ("num_large_counts", num_large_counts, contents.large_counts.len() as MPI_Count),
            ("num_datatypes", num_datatypes, contents.olds.len() as MPI_Count),
        ];
        tell_all(&outputs)?;
        combiner.set(contents.combiner);
        Ok(())
    })
}

/// `MPI_Type_get_contents`.
pub fn type_get_contents(
    function: Function,
    datatype: MPI_Datatype,
    _max_integers: c_int,
    _max_addresses: c_int,
    _max_datatypes: c_int,
    array_of_integers: ArrayOut<c_int>,
    array_of_addresses: ArrayOut<MPI_Aint>,
    array_of_datatypes: ArrayOut<MPI_Datatype>,
) -> c_int {
    at_any_time(function, || {
        let contents = contents(datatype)?.small()?;
        let integers = array_of_integers.counted("array_of_integers", "max_integers")?;
        let addresses = array_of_addresses.counted("array_of_addresses", "max_addresses")?;
        let datatypes = array_of_datatypes.counted("array_of_datatypes", "max_datatypes")?;
        fits("max_integers", &integers, contents.integers.len())?;
        fits("max_addresses", &addresses, contents.addresses.len())?;
        fits("max_datatypes", &datatypes, contents.olds.len())?;
        integers.fill(contents.integers.iter().map(|value| *value as c_int));
        addresses.fill(contents.addresses.iter().map(|value| *value as MPI_Aint));
        datatypes.fill(contents.old_handles());
        Ok(())
    })
}

/// `MPI_Type_get_contents_c`.
pub fn type_get_contents_c(
    function: Function,
    datatype: MPI_Datatype,
    _max_integers: MPI_Count,
    _max_addresses: MPI_Count,
    _max_large_counts: MPI_Count,
    _max_datatypes: MPI_Count,
    array_of_integers: ArrayOut<c_int>,
    array_of_addresses: ArrayOut<MPI_Aint>,
    array_of_large_counts: ArrayOut<MPI_Count>,
    array_of_datatypes: ArrayOut<MPI_Datatype>,
) -> c_int {
    at_any_time(function, || {
        let contents = contents(datatype)?;
        let integers = array_of_integers.counted("array_of_integers", "max_integers")?;
        let addresses = array_of_addresses.counted("array_of_addresses", "max_addresses")?;
        let large_counts = array_of_large_counts.counted("array_of_large_counts", "max_large_counts")?;
        let datatypes = array_of_datatypes.counted("array_of_datatypes", "max_datatypes")?;
        fits("max_integers", &integers, contents.integers.len())?;
        fits("max_addresses", &addresses, contents.addresses.len())?;
        fits("max_large_counts", &large_counts, contents.large_counts.len())?;
        fits("max_datatypes", &datatypes, contents.olds.len())?;
        integers.fill(contents.integers.iter().map(|value| *value as c_int));
        addresses.fill(contents.addresses.iter().map(|value| *value as MPI_Aint));
        large_counts.fill(contents.large_counts.iter().copied());
        datatypes.fill(contents.old_handles());
        Ok(())
    })
}

fn fits<T: Copy>(argument: &str, array: &Array<T, Writing>, needed: usize) -> Result<()> {
    if array.len() >= needed {
        return Ok(());
    }
    let text = format!("{argument} is {}, and the datatype has {needed}", array.len());
    Err(Error::new(ErrorClass::Arg, text))
}
