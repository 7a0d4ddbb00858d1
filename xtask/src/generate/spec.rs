//! The standard's facts as `spec/` states them.
//!
//! Only the fields that a generator uses are read. `spec/built.txt` is the one file edited by hand: it
//! names the functions that have a body.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Outcome;

/// Everything the generators read.
pub struct Spec {
    /// Predefined datatypes, and which operations are legal on which class of them.
    pub datatypes: Datatypes,
    /// Error classes in the order of their values.
    pub error_classes: Vec<ErrorClass>,
    /// Constants of the standard ABI.
    pub constants: Vec<Constant>,
    /// The functions of the standard ABI, then those removed in MPI-3.0.
    pub functions: Vec<Function>,
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

/// A row of `constants-abi.json`.
#[derive(Deserialize)]
pub struct Constant {
    pub name: String,
    pub value: i64,
    pub group: String,
}

/// A C function.
#[derive(Deserialize)]
pub struct Function {
    pub name: String,
    pub chapter: String,
    /// `standard` for what `libmpi_abi.so.1` exports.
    pub abi: String,
    /// Whether the function has a body; from `built.txt`.
    #[serde(skip)]
    pub built: bool,
}

impl Spec {
    /// Reads the folder `spec`.
    pub fn load(folder: &Path) -> Outcome<Self> {
        #[derive(Deserialize)]
        struct ErrorClasses {
            classes: Vec<ErrorClass>,
        }
        #[derive(Deserialize)]
        struct Constants {
            constants: Vec<Constant>,
        }
        #[derive(Deserialize)]
        struct Functions {
            functions: Vec<Function>,
        }
        let mut functions = json::<Functions>(folder, "functions.json")?.functions;
        functions.retain(|function| function.abi == "standard");
        functions.extend(json::<Functions>(folder, "removed.json")?.functions);
        mark_built(&mut functions, &read(folder, "built.txt")?)?;
        Ok(Self {
            datatypes: json(folder, "datatypes.json")?,
            error_classes: json::<ErrorClasses>(folder, "error-classes.json")?.classes,
            constants: json::<Constants>(folder, "constants-abi.json")?.constants,
            functions,
        })
    }
}

/// Marks the functions that `list` names, one a line; `#` starts a comment.
fn mark_built(functions: &mut [Function], list: &str) -> Outcome {
    for line in list.lines() {
        let name = line.split('#').next().expect("split yields at least one piece").trim();
        if name.is_empty() {
            continue;
        }
        let function = functions.iter_mut().find(|function| function.name == name).ok_or_else(|| {
            format!("spec/built.txt names {name}, which is not a function of the standard ABI")
        })?;
        if std::mem::replace(&mut function.built, true) {
            return Err(format!("spec/built.txt names {name} twice").into());
        }
    }
    Ok(())
}

fn json<T: DeserializeOwned>(folder: &Path, file: &str) -> Outcome<T> {
    serde_json::from_str(&read(folder, file)?).map_err(|error| format!("spec/{file}: {error}").into())
}

fn read(folder: &Path, file: &str) -> Outcome<String> {
    fs::read_to_string(folder.join(file)).map_err(|error| format!("spec/{file}: {error}").into())
}
