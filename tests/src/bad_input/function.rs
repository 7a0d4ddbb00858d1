//! The functions and parameters of `spec/functions.json`.

use oxmpi_base::Function as Index;
use serde_json::Value;

/// A function that returns an error code.
#[derive(Debug)]
pub struct Function {
    /// The name in C.
    pub name: String,
    /// The part of the standard that defines it.
    pub chapter: String,
    /// The object whose error handler hears of errors.
    pub error_via: String,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// Whether it has a body.
    pub is_built: bool,
}

/// A parameter of a function.
#[derive(Debug)]
pub struct Parameter {
    /// The name in C.
    pub name: String,
    /// What it means: `RANK`, `COMMUNICATOR` and so on.
    pub kind: String,
    /// `IN`, `OUT` or `INOUT`.
    pub direction: String,
    /// The type in C.
    pub c_type: String,
    /// Whether it points at several items.
    pub is_array: bool,
    /// Whether these are as many as the communicator has members, or dimensions.
    pub is_by_comm: bool,
}

/// How C passes an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As itself; addresses of anything are values, too.
    Value,
    /// By a pointer to what the function reads.
    Pointee,
    /// By a pointer to several of what the function reads.
    Items,
    /// By a pointer to where the function writes.
    Room,
}

impl Function {
    /// The functions of these chapters.
    ///
    /// # Panics
    /// If the file does not say what it is known to say.
    pub fn all(functions: &str, chapters: &[&str]) -> Vec<Self> {
        let spec: Value = serde_json::from_str(functions).expect("spec/functions.json is JSON");
        let all = spec["functions"].as_array().expect("a list of functions").iter();
        all.filter(|function| function["abi"] == "standard" && function["returns"] == "error-code")
            .filter(|function| chapters.contains(&text(function, "chapter").as_str()))
            .map(Self::new)
            .collect()
    }

    fn new(function: &Value) -> Self {
        let name = text(function, "name");
        Self {
            chapter: text(function, "chapter"),
            error_via: text(function, "error_via"),
            parameters: function["params"].as_array().into_iter().flatten().map(Parameter::new).collect(),
            is_built: is_built(&name),
            name,
        }
    }
}

/// Whether the function of this name has a body.
pub fn is_built(name: &str) -> bool {
    Index::all().any(|index| index.name() == name && index.built())
}

impl Parameter {
    fn new(parameter: &Value) -> Self {
        Self {
            name: text(parameter, "name"),
            kind: text(parameter, "kind"),
            direction: text(parameter, "dir"),
            c_type: text(parameter, "type").trim().to_owned(),
            is_array: parameter["array"] == true,
            is_by_comm: parameter["length"] == "*",
        }
    }

    /// Whether the function looks at what the program put there.
    pub fn is_read(&self) -> bool {
        self.direction != "OUT" || self.kind == "BUFFER"
    }

    /// Whether the argument itself is an address.
    pub fn is_pointer(&self) -> bool {
        self.c_type.contains('*')
    }

    /// How C passes it.
    pub fn shape(&self) -> Shape {
        let is_address = ["ATTRIBUTE_VAL", "ATTRIBUTE_VAL_10", "EXTRA_STATE", "EXTRA_STATE2", "STRING"]
            .contains(&self.kind.as_str())
            || self.kind.ends_with("FUNCTION");
        match self.direction.as_str() {
            _ if !self.is_pointer() || self.kind == "BUFFER" => Shape::Value,
            "OUT" => Shape::Room,
            _ if is_address => Shape::Value,
            _ if self.is_array => Shape::Items,
            _ => Shape::Pointee,
        }
    }

    /// The type of what a pointer points at, or of a value.
    pub fn item_type(&self) -> &str {
        let unqualified = self.c_type.strip_prefix("const ").unwrap_or(&self.c_type);
        unqualified.split(['*', '(']).next().expect("split yields at least one piece").trim()
    }
}

fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}
