//! `spec/arguments.txt`: what is a valid argument, and what a wrong one. The file says how it is read.

use super::function::{Function, Parameter};

/// The rules in the order of the file.
#[derive(Debug)]
pub struct Rules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    /// Where in the file it stands.
    line: usize,
    /// Patterns of the function's name, the argument's name or kind, and its direction.
    scope: [String; 3],
    verb: String,
    /// What follows the verb, before `=>` or `:`.
    value: String,
    /// What follows these.
    outcome: String,
}

/// What the rules say of one argument.
#[derive(Debug, Default)]
pub struct Argument {
    /// What it is when it is valid; in braces if these are items.
    pub valid: Option<String>,
    /// Instead, while other arguments are wrong.
    pub while_wrong: Option<String>,
    /// Its wrong values.
    pub wrong: Vec<Wrong>,
    /// Why some values are right.
    pub reasons: Vec<String>,
    /// Where its wrong values are wrong.
    pub only: Option<String>,
    /// Where the function can be called.
    pub needs: Option<String>,
    /// The function without which it cannot be made.
    pub uses: Option<String>,
    /// What makes the call possible.
    pub before: Option<String>,
    /// What undoes a valid call.
    pub after: Option<String>,
}

/// A wrong value.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The place in C to which it is assigned; none for the usual one.
    pub place: Option<String>,
    /// The value.
    pub value: String,
    /// The error class that it gives.
    pub class: String,
}

impl Rules {
    /// Reads the file.
    ///
    /// # Errors
    /// A sentence for the first line that is no rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let rules = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        rules.map(|(number, line)| Rule::parse(number, line)).collect::<Result<_, _>>().map(Self)
    }

    /// What they say of one parameter of a function.
    ///
    /// # Panics
    /// If a rule says what does not fit the argument.
    pub fn argument(&self, function: &Function, parameter: &Parameter) -> Argument {
        let mut argument = Argument::default();
        for rule in self.0.iter().filter(|rule| rule.is_about(function, parameter)) {
            rule.apply(parameter, &mut argument);
        }
        argument
    }

    /// The lines of the rules that are about no argument of these functions.
    pub fn idle(&self, functions: &[Function]) -> Vec<usize> {
        let is_idle = |rule: &&Rule| {
            let arguments = functions.iter().flat_map(|of| of.parameters.iter().map(move |it| (of, it)));
            !arguments.into_iter().any(|(function, parameter)| rule.is_about(function, parameter))
        };
        self.0.iter().filter(is_idle).map(|rule| rule.line).collect()
    }
}

impl Rule {
    fn parse(line: usize, text: &str) -> Result<Self, String> {
        let complaint = || format!("spec/arguments.txt:{line}: no rule: {text}");
        let (scope, rest) = text.split_once(char::is_whitespace).ok_or_else(complaint)?;
        let (verb, rest) = rest.trim_start().split_once(' ').ok_or_else(complaint)?;
        let (value, outcome) = match verb {
            "handle" | "wrong" => rest.rsplit_once("=>").ok_or_else(complaint)?,
            "legal" => rest.split_once(": ").ok_or_else(complaint)?,
            "null" => ("NULL", rest.strip_prefix("=>").ok_or_else(complaint)?),
            "after" | "before" | "class" | "needs" | "only" | "uses" | "valid" | "while-wrong" => (rest, ""),
            _ => return Err(complaint()),
        };
        let (scope, direction) = scope.split_once(':').unwrap_or((scope, "*"));
        let (function, argument) = scope.rsplit_once('.').unwrap_or(("*", scope));
        Ok(Self {
            line,
            scope: [function, argument, direction].map(str::to_owned),
            verb: verb.to_owned(),
            value: value.trim().to_owned(),
            outcome: outcome.trim().to_owned(),
        })
    }

    fn is_about(&self, function: &Function, parameter: &Parameter) -> bool {
        let [of_function, of_argument, of_direction] = &self.scope;
        matches(of_function, &function.name)
            && (matches(of_argument, &parameter.name) || matches(of_argument, &parameter.kind))
            && matches(of_direction, &parameter.direction)
            && match self.verb.as_str() {
                "null" => parameter.is_pointer(),
                "handle" | "wrong" => parameter.is_read(),
                _ => true,
            }
    }

    fn apply(&self, parameter: &Parameter, argument: &mut Argument) {
        let value = Some(self.value.clone());
        match self.verb.as_str() {
            "after" => argument.after = value.map(|text| text.replace('$', &parameter.name)),
            "before" => argument.before = value,
            "class" => argument.wrong.iter_mut().for_each(|wrong| wrong.class.clone_from(&self.value)),
            "handle" => {
                let values = handles(parameter.item_type(), &self.value);
                argument.wrong.extend(values.map(|value| self.wrong(&value)));
            }
            "legal" => {
                let is_legal = |wrong: &Wrong| wrong.value == self.value || self.value == "*";
                argument.wrong.retain(|wrong| !is_legal(wrong) || wrong.value == "NULL" && self.value == "*");
                argument.reasons.push(self.outcome.clone());
            }
            "needs" => argument.needs = value,
            "null" => {
                argument.wrong.retain(|wrong| wrong.value != "NULL");
                argument.wrong.push(self.wrong(&format!("{} := NULL", parameter.name)));
            }
            "only" => argument.only = value,
            "uses" => argument.uses = value,
            "valid" => argument.valid = value,
            "while-wrong" => argument.while_wrong = value,
            _ => argument.wrong.push(self.wrong(&self.value)),
        }
    }

    fn wrong(&self, value: &str) -> Wrong {
        let (place, value) = match value.split_once(" := ") {
            Some((place, value)) => (Some(place.to_owned()), value),
            None => (None, value),
        };
        Wrong { place, value: value.to_owned(), class: self.outcome.clone() }
    }
}

/// What is no handle of this type: the null handle, one that was never set, one that never was, one that was
/// freed, and those of other kinds.
fn handles(c_type: &str, null: &str) -> impl Iterator<Item = String> {
    let dynamic = if c_type == "MPI_Info" { "a_comm" } else { "an_info" };
    let predefined = if c_type == "MPI_Datatype" { "MPI_SUM" } else { "MPI_INT" };
    let others = ["0", "0xdeadbeef0", dynamic, predefined].map(|other| format!("({c_type}){other}"));
    [null.to_owned(), format!("freed_{c_type}")].into_iter().chain(others)
}

/// Whether the name fits the pattern, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name
            .strip_prefix(start)
            .is_some_and(|name| (0..=name.len()).any(|skipped| matches(rest, &name[skipped..]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_rules_correct_earlier_ones() {
        let rules =
            "RANK wrong -1 => A\nroot class B\nMPI_X.RANK wrong size => C\n*.root legal size: a reason";
        let rules = Rules::parse(rules).expect("these are rules");
        let spec = r#"{"functions": [{
            "name": "MPI_X", "abi": "standard", "returns": "error-code", "chapter": "c",
            "params": [{"name": "root", "kind": "RANK", "dir": "IN", "type": "int"}]}]}"#;
        let functions = Function::all(spec, &["c"]);
        let argument = rules.argument(&functions[0], &functions[0].parameters[0]);
        let wrong: Vec<_> = argument.wrong.iter().map(|wrong| (&*wrong.value, &*wrong.class)).collect();
        assert_eq!((wrong, argument.reasons), (vec![("-1", "B")], vec!["a reason".to_owned()]));
        assert!(rules.idle(&functions).is_empty());
        assert!(Rules::parse("RANK wrong -1").expect_err("no class").contains("arguments.txt:1"));
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("MPI_*send*", "MPI_Isend") && matches("*", "") && matches("dims", "dims"));
        assert!(!matches("MPI_*send*", "MPI_Send") && !matches("dims", "ndims") && !matches("", "x"));
    }
}
