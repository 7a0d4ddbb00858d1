//! What an export hands to a body: its arguments, widened, and pointers with what their caller has promised.
//!
//! The types are those of `cfront/argument`, `cfront/buffer` and their like, and each is made by an `unsafe`
//! constructor, which asks for as much of the promise as it needs. Arguments that say only together what memory is
//! meant become one: an address, a count and a datatype a `Message`. What the standard says of an argument is told
//! by `spec/`: its direction, its kind, and its length if that is another argument.

use super::bodies::{Body, Conversion};
use super::spec::{Function, Length, Parameter, Spec};
use super::{bodies, c_types};
use crate::Outcome;

/// The arguments of the body of `function`, in C's order.
pub fn of(spec: &Spec, function: &Function) -> Outcome<Vec<String>> {
    let Body { owner, conversions } = bodies::of(spec, function);
    let arguments: Vec<_> = (0..conversions.len())
        .map(|index| Argument {
            spec,
            owner,
            said: &owner.params[index],
            name: &function.params[index].name,
            conversion: conversions[index],
        })
        .collect();
    let (mut out, mut rest) = (Vec::new(), arguments.as_slice());
    while let [first, ..] = rest {
        let (text, taken) = match group(rest) {
            Some(group) => group,
            None => (first.text()?, 1),
        };
        out.push(text);
        rest = &rest[taken..];
    }
    Ok(out)
}

/// What the first arguments are together, if they are one thing, and how many they are.
fn group(arguments: &[Argument<'_>]) -> Option<(String, usize)> {
    match arguments {
        [a, b, c, d, ..] if a.is_buffer() && b.is_buffer() && c.is_count() && d.is_datatype() => {
            Some((format!("Operands::new({}, {}, {}, {})", a.name, b.name, c.widened(), d.name), 4))
        }
        [a, b, c, d, ..] if a.is_buffer() && b.is_buffer() && c.is_integers() && d.is_datatype() => {
            let counts = c.integers("Unmeasured", "");
            Some((format!("OperandBlocks::new({}, {}, {counts}, {})", a.name, b.name, d.name), 4))
        }
        [a, b, c, d, ..]
            if a.is_buffer() && b.said.kind == "PARTITION" && c.is_count() && d.is_datatype() =>
        {
            let partitions = format!("Partitions::new({}, {}, {}, {})", a.name, b.name, c.widened(), d.name);
            Some((partitions, 4))
        }
        [a, b, c, d, ..] if a.is_buffer() && b.is_integers() && c.is_integers() => {
            let datatypes = if d.is_datatype() {
                format!("Datatypes::Same({})", d.name)
            } else {
                format!("Datatypes::Each(Unmeasured::new({}))", d.name)
            };
            let (counts, places) = (b.integers("Unmeasured", ""), c.integers("Unmeasured", ""));
            Some((format!("Blocks::new({}, {counts}, {places}, {datatypes})", a.name), 4))
        }
        [a, b, c, ..] if a.is_buffer() && b.is_count() && c.is_datatype() => {
            Some((format!("Message::new({}, {}, {})", a.name, b.widened(), c.name), 3))
        }
        [a, b, c, ..] if a.is_buffer() && b.is_size() && c.said.dir == "INOUT" => {
            Some((format!("PackedBuffer::new({}, {}, {})", a.name, b.widened(), c.integer("InOut")), 3))
        }
        [a, b, ..] if a.said.dir == "INOUT" && b.is_text() && b.length().is_none() => {
            Some((format!("SizedText::new({}, {})", a.name, b.name), 2))
        }
        _ => None,
    }
}

/// An argument of an export.
struct Argument<'a> {
    spec: &'a Spec,
    /// The function that the body is named after, and what is said there of the argument.
    owner: &'a Function,
    said: &'a Parameter,
    /// What the export calls it.
    name: &'a str,
    conversion: Conversion,
}

impl Argument<'_> {
    fn is_buffer(&self) -> bool {
        self.said.kind == "BUFFER" && self.said.c_type.contains('*')
    }

    fn is_count(&self) -> bool {
        matches!(self.said.c_type.as_str(), "int" | "MPI_Count")
    }

    fn is_size(&self) -> bool {
        self.is_count() || self.said.c_type == "MPI_Aint"
    }

    fn is_datatype(&self) -> bool {
        self.said.c_type == "MPI_Datatype"
    }

    fn is_integers(&self) -> bool {
        self.said.array
            && ["const int *", "const MPI_Count *", "const MPI_Aint *"].contains(&&*self.said.c_type)
    }

    fn is_text(&self) -> bool {
        self.said.c_type == "char *"
    }

    /// The argument, as wide as the body has it.
    fn widened(&self) -> String {
        let name = self.name;
        match self.conversion {
            Conversion::IntToCount => format!("MPI_Count::from({name})"),
            Conversion::AintToCount => format!("{name} as MPI_Count"),
            Conversion::IntToAint => format!("{name} as MPI_Aint"),
            _ => name.to_owned(),
        }
    }

    /// An array of integers, measured or not, of either width.
    fn integers(&self, how: &str, length: &str) -> String {
        let (name, array) = (self.name, if how.is_empty() { "ArrayIn" } else { how });
        let is_large = match self.conversion {
            Conversion::ArrayIn { large } => large,
            _ => self.said.c_type != "const int *",
        };
        let (width, cast) = if is_large { ("Large", ".cast()") } else { ("Int", "") };
        format!("{how}Integers::{width}({array}::new({name}{cast}{length}))")
    }

    /// An integer of either width by its address.
    fn integer(&self, how: &str) -> String {
        let name = self.name;
        match self.conversion {
            Conversion::Out { large: true } => format!("Integer{how}::Large({how}::new({name}.cast()))"),
            _ => format!("Integer{how}::Int({how}::new({name}))"),
        }
    }

    fn text(&self) -> Outcome<String> {
        let Parameter { c_type, kind, dir, array, .. } = self.said;
        let name = self.name;
        let constant = c_type.starts_with("const ");
        let rust = c_types::in_rust(self.spec, c_type)?;
        let new = |of: &str| Ok(format!("{of}::new({name})"));
        match self.conversion {
            Conversion::Out { .. } => return Ok(self.integer(if dir == "INOUT" { "InOut" } else { "Out" })),
            Conversion::ArrayIn { .. } => return Ok(self.integers("", &self.measured()?)),
            Conversion::Same => {}
            _ => return Ok(self.widened()),
        }
        match (rust.as_str(), dir.as_str(), kind.as_str()) {
            (_, _, "ARGUMENT_COUNT" | "ARGUMENT_LIST") => Ok(name.to_owned()),
            (_, _, "STRING_ARRAY") if name == "argv" => new("Words"),
            (_, _, "STRING_ARRAY") => Ok(format!("Texts::new({name}, count)")),
            (_, _, "STRING_2DARRAY") => Ok(format!("WordLists::new({name}{})", self.measured()?)),
            (_, _, "FUNCTION" | "POLYFUNCTION") => new("Callback"),
            (_, _, "WEIGHT") => new("Weights"),
            ("*mut MPI_Status", ..) if name.starts_with("array_of_") => {
                Ok(format!("Statuses::new({name}{})", self.measured()?))
            }
            ("*mut MPI_Status", "OUT", _) => new("StatusOut"),
            ("*mut MPI_Status", ..) => new("StatusInOut"),
            ("*const MPI_Status", ..) => new("StatusIn"),
            ("*const c_char", ..) => new("TextIn"),
            ("*mut c_char", ..) => Ok(format!("TextOut::new({name}{})", self.measured()?)),
            (_, _, "LOGICAL_VOID") => Ok(format!("{}::new({name}.cast(), logical_size)", array_type(dir))),
            ("*mut c_void", "OUT", kind) if kind != "BUFFER" => Ok(format!("Out::new({name}.cast())")),
            ("*mut c_void" | "*const c_void", ..) => Ok(name.to_owned()),
            (pointer, ..) if !pointer.starts_with('*') => Ok(name.to_owned()),
            _ if *array && (constant || dir == "OUT") && self.length().is_none() => new("Unmeasured"),
            _ if *array => Ok(format!("{}::new({name}{})", array_type(dir), self.measured()?)),
            (_, "IN", _) => new("In"),
            (_, "INOUT", _) => new("InOut"),
            (_, "OUT", _) => new("Out"),
            _ => Err(format!("{}: {name} has no direction", self.owner.name).into()),
        }
    }

    /// The second argument of a constructor, which says how many items there are.
    fn measured(&self) -> Outcome<String> {
        let length =
            self.length().ok_or_else(|| format!("{}: {} has no length", self.owner.name, self.name))?;
        Ok(format!(", {length}"))
    }

    /// How many items there are, if an export can know.
    fn length(&self) -> Option<String> {
        let special = LENGTHS
            .iter()
            .find(|(function, argument, _)| *function == self.owner.name && *argument == self.said.name);
        if let Some((.., length)) = special {
            return Some((*length).to_owned());
        }
        let is_argument = |name: &str| self.owner.params.iter().any(|parameter| parameter.name == name);
        match self.said.length.as_ref().map(Length::first) {
            Some(length) if is_argument(length) || length.starts_with("MPI_MAX_") => Some(length.to_owned()),
            // Of several requests: as many as there are requests.
            _ if ["INDEX", "REQUEST", "STATUS"].contains(&self.said.kind.as_str()) => {
                ["count", "incount"].into_iter().find(|name| is_argument(name)).map(str::to_owned)
            }
            _ => None,
        }
    }
}

/// Lengths that the standard says in words.
const LENGTHS: [(&str, &str, &str); 2] = [
    ("MPI_Info_get", "value", "i64::from(valuelen) + 1"),
    ("MPI_Info_get_nthkey", "key", "MPI_MAX_INFO_KEY"),
];

fn array_type(dir: &str) -> &'static str {
    match dir {
        "IN" => "ArrayIn",
        "OUT" => "ArrayOut",
        _ => "ArrayInOut",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(name: &str) -> String {
        let spec = Spec::load(&crate::cargo::workspace_root().join("spec")).expect("spec/ is readable");
        let function = spec.function(name).expect("a function of the standard");
        of(&spec, function).expect("each has a form").join("; ")
    }

    #[test]
    fn what_describes_a_buffer_together_becomes_one_argument() {
        let send = arguments("MPI_Send");
        assert_eq!(send, "Message::new(buf, MPI_Count::from(count), datatype); dest; tag; comm");
        let allreduce = arguments("MPI_Allreduce_c");
        assert_eq!(allreduce, "Operands::new(sendbuf, recvbuf, count, datatype); op; comm");
        let psend = arguments("MPI_Psend_init");
        assert_eq!(
            psend,
            "Partitions::new(buf, partitions, count, datatype); dest; tag; comm; info; Out::new(request)"
        );
        let pack = arguments("MPI_Pack");
        assert!(
            pack.contains("PackedBuffer::new(outbuf, MPI_Count::from(outsize), IntegerInOut::Int("),
            "{pack}"
        );
    }

    #[test]
    fn an_array_has_the_length_that_an_argument_says_or_none() {
        assert!(arguments("MPI_Group_incl").contains("ArrayIn::new(ranks, n)"));
        assert!(arguments("MPI_Waitsome").ends_with("Statuses::new(array_of_statuses, incount)"));
        assert!(arguments("MPI_Cart_sub").contains("Unmeasured::new(remain_dims)"));
        let gatherv = arguments("MPI_Gatherv_c");
        assert!(
            gatherv.contains("UnmeasuredIntegers::Large(Unmeasured::new(recvcounts.cast()))"),
            "{gatherv}"
        );
    }
}
