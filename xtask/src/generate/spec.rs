//! The standard's facts as `spec/` states them.
//!
//! Only the fields that a generator uses are read. `spec/built.txt` is the one file edited by hand: it
//! names the functions that have a body.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::bodies;
use crate::Outcome;

/// Everything the generators read.
pub struct Spec {
    /// Predefined datatypes, and which operations are legal on which class of them.
    pub datatypes: Datatypes,
    /// Error classes in the order of their values.
    pub error_classes: Vec<ErrorClass>,
    /// Constants and types of the standard ABI.
    pub abi: Abi,
    /// The collectives by their names, in lower case.
    pub collectives: BTreeMap<String, Collective>,
    /// The functions of the standard ABI, then those removed in MPI-3.0.
    pub functions: Vec<Function>,
    /// The functions that the ABI leaves out because they need `MPI_Fint`.
    pub fint_functions: Vec<Function>,
}

/// `datatypes.json`.
#[derive(Deserialize)]
pub struct Datatypes {
    /// Classes of types that each predefined operation is legal on.
    pub op_classes: BTreeMap<String, Vec<String>>,
    /// One entry per name; aliases share their value.
    pub datatypes: Vec<Datatype>,
}

/// A named predefined datatype.
#[derive(Deserialize)]
pub struct Datatype {
    pub name: String,
    pub alias_of: Option<String>,
    pub abi: u32,
    #[serde(rename = "type")]
    pub c_type: Option<String>,
    pub size: Size,
    pub align: u64,
    pub class: Option<String>,
    pub value_type: Option<String>,
    pub index_type: Option<String>,
    pub index_offset: Option<u64>,
    pub extent: Option<u64>,
    #[serde(default)]
    pub ops: Vec<String>,
}

/// Bytes of data in one element, perhaps by target.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Size {
    /// The same everywhere.
    Fixed(u64),
    /// By target architecture.
    ByTarget(BTreeMap<String, u64>),
}

/// A row of `error-classes.json`.
#[derive(Deserialize)]
pub struct ErrorClass {
    pub name: String,
    pub abi: i32,
    pub when: String,
}

/// `constants-abi.json`.
#[derive(Deserialize)]
pub struct Abi {
    pub integer_types: BTreeMap<String, IntegerType>,
    pub handle_types: BTreeMap<String, HandleType>,
    pub tools_handle_types: Vec<String>,
    pub tools_enum_types: BTreeMap<String, String>,
    pub status: Status,
    pub callbacks: BTreeMap<String, Callback>,
    pub callback_aliases: BTreeMap<String, String>,
    pub constants: Vec<Constant>,
}

/// An integer whose width the ABI fixes.
#[derive(Deserialize)]
pub struct IntegerType {
    /// The C type, perhaps with a remark after a space.
    pub c: String,
    pub bits: u32,
}

/// A pointer to a structure that is never defined.
#[derive(Deserialize)]
pub struct HandleType {
    pub c: String,
}

/// The layout of `MPI_Status`.
#[derive(Deserialize)]
pub struct Status {
    pub size: usize,
    pub fields: Vec<StatusField>,
}

/// `int` or `int[n]`.
#[derive(Deserialize)]
pub struct StatusField {
    pub name: String,
    #[serde(rename = "type")]
    pub c_type: String,
}

/// A function type.
#[derive(Deserialize)]
pub struct Callback {
    pub ret: String,
    pub params: Vec<Parameter>,
}

/// A constant of the ABI.
#[derive(Deserialize)]
pub struct Constant {
    pub name: String,
    #[serde(rename = "type")]
    pub c_type: String,
    pub value: i64,
    pub group: String,
    /// Absent for a macro, `true` for an enumerator, or the name of its enumeration.
    #[serde(rename = "enum", default)]
    pub enumeration: Enumeration,
}

/// How C declares an integer constant.
#[derive(Deserialize, Default)]
#[serde(untagged)]
pub enum Enumeration {
    #[default]
    Macro,
    Anonymous(bool),
    Named(String),
}

/// A collective and the functions of its lifetimes.
#[derive(Deserialize)]
pub struct Collective {
    /// `collective` or `neighborhood`.
    pub family: String,
    pub rooted: bool,
    pub reduction: bool,
    /// Whether it is defined between two groups.
    pub intercomm: bool,
    /// Which buffer `MPI_IN_PLACE` may stand for, and on which ranks.
    pub in_place: Option<String>,
    pub blocking: String,
    pub nonblocking: String,
    pub persistent: String,
}

/// A C function.
#[derive(Deserialize)]
pub struct Function {
    pub name: String,
    pub ret: String,
    pub params: Vec<Parameter>,
    #[serde(default)]
    pub variadic: bool,
    pub chapter: String,
    /// `standard` for what `libmpi_abi.so.1` exports and `mpi.h` declares; `not-in-abi` for what needs `MPI_Fint`.
    pub abi: String,
    /// The kind of object whose error handler is called.
    pub error_via: String,
    /// `error-code` or `value`.
    pub returns: String,
    /// The partner with `MPI_Count` arguments.
    pub large: Option<String>,
    /// The partner with `int` arguments.
    pub large_of: Option<String>,
    /// Of a removed function: the one that took over, with the same arguments.
    pub same_as: Option<String>,
    /// Whether the function has a body; from `built.txt`.
    #[serde(skip)]
    pub built: bool,
}

/// A parameter of a function or of a function type; `...` has no name.
#[derive(Deserialize)]
pub struct Parameter {
    #[serde(default)]
    pub name: String,
    #[serde(rename = "type")]
    pub c_type: String,
    /// `IN`, `OUT` or `INOUT`.
    #[serde(default)]
    pub dir: String,
    #[serde(default)]
    pub array: bool,
    /// How many items there are: the name of an argument or of a constant, or `*` where words say it.
    pub length: Option<Length>,
    /// The standard's name for what it means.
    #[serde(default)]
    pub kind: String,
}

/// The length of an array, or the lengths of its dimensions.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Length {
    One(String),
    Several(Vec<String>),
}

impl Length {
    /// That of the first dimension.
    pub fn first(&self) -> &str {
        match self {
            Self::One(length) => length,
            Self::Several(lengths) => lengths.first().map_or("*", String::as_str),
        }
    }
}

impl Spec {
    /// Reads the folder `spec`.
    pub fn load(folder: &Path) -> Outcome<Self> {
        #[derive(Deserialize)]
        struct ErrorClasses {
            classes: Vec<ErrorClass>,
        }
        #[derive(Deserialize)]
        struct Functions {
            #[serde(default)]
            collectives: BTreeMap<String, Collective>,
            functions: Vec<Function>,
        }
        let Functions { collectives, functions: all } = json(folder, "functions.json")?;
        let (mut functions, mut fint_functions): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|function| function.abi == "standard");
        fint_functions.retain(|function| function.abi == "not-in-abi");
        functions.extend(json::<Functions>(folder, "removed.json")?.functions);
        let mut spec = Self {
            datatypes: json(folder, "datatypes.json")?,
            error_classes: json::<ErrorClasses>(folder, "error-classes.json")?.classes,
            abi: json(folder, "constants-abi.json")?,
            collectives,
            functions,
            fint_functions,
        };
        spec.abi.constants.retain(|constant| constant.name.starts_with("MPI_")); // not MPIX_
        spec.mark_built(&read(folder, "built.txt")?)?;
        Ok(spec)
    }

    /// The function called `name`.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Marks the functions that `list` names, one a line, and those that share a body with them; `#`
    /// starts a comment.
    fn mark_built(&mut self, list: &str) -> Outcome {
        let mut named = BTreeSet::new();
        for line in list.lines() {
            let name = line.split('#').next().expect("split yields at least one piece").trim();
            if name.is_empty() {
                continue;
            }
            let function =
                self.function(name).ok_or_else(|| format!("spec/built.txt: no function {name}"))?;
            let body = bodies::of(self, function).owner.name.as_str();
            if body != name {
                return Err(format!("spec/built.txt: {name} shares the body of {body}: name that one").into());
            }
            if !named.insert(name) {
                return Err(format!("spec/built.txt: {name} is named twice").into());
            }
        }
        let built: Vec<bool> = self
            .functions
            .iter()
            .map(|function| named.contains(bodies::of(self, function).owner.name.as_str()))
            .collect();
        for (function, built) in self.functions.iter_mut().zip(built) {
            function.built = built;
        }
        Ok(())
    }
}

fn json<T: DeserializeOwned>(folder: &Path, file: &str) -> Outcome<T> {
    serde_json::from_str(&read(folder, file)?).map_err(|error| format!("spec/{file}: {error}").into())
}

fn read(folder: &Path, file: &str) -> Outcome<String> {
    fs::read_to_string(folder.join(file)).map_err(|error| format!("spec/{file}: {error}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(list: &str) -> Result<Spec, String> {
        let mut spec = Spec::load(&crate::cargo::workspace_root().join("spec")).expect("spec/ is readable");
        spec.mark_built(list).map_err(|error| error.to_string())?;
        Ok(spec)
    }

    #[test]
    fn a_line_stands_for_all_that_share_the_body() {
        let spec = marked("# comment\n\nMPI_Send # another\nMPI_Get_address").expect("both exist");
        let built: Vec<_> = spec.functions.iter().filter(|f| f.built).map(|f| f.name.as_str()).collect();
        assert_eq!(built, ["MPI_Get_address", "MPI_Send", "MPI_Send_c", "MPI_Address"]);
    }

    #[test]
    fn a_name_without_a_body_of_its_own_is_refused() {
        for (list, complaint) in [
            ("MPI_Sned", "no function MPI_Sned"),
            ("MPI_Send_c", "shares the body of MPI_Send"),
            ("MPI_Send\nMPI_Send", "named twice"),
        ] {
            let error = marked(list).err().expect("the list is wrong");
            assert!(error.contains(complaint), "{error}");
        }
    }
}
