//! The cases in C: one function for each function, which calls it with each argument wrong in turn.

use std::fmt::{Arguments, Write as _};

use super::function::{Function, Parameter, Shape, is_built};
use super::rules::{Argument, Rules, Wrong};

/// The text of `bad_input_cases.h`.
///
/// # Errors
/// The arguments for which there are neither wrong values nor a reason, and those without a valid value.
pub fn header(functions: &[Function], rules: &Rules) -> Result<String, String> {
    let mut text = String::new();
    let mut table = String::from("static const struct function functions[] = {\n");
    let mut gaps = String::new();
    for function in functions.iter().filter(|function| function.is_built) {
        let of = |parameter| rules.argument(function, parameter);
        let arguments: Vec<Argument> = function.parameters.iter().map(of).collect();
        for (parameter, argument) in function.parameters.iter().zip(&arguments) {
            if let Some(gap) = gap(parameter, argument) {
                push(&mut gaps, format_args!("{}.{}: {gap}\n", function.name, parameter.name));
            }
        }
        cases(&mut text, function, &arguments);
        let Function { name, chapter, .. } = function;
        push(
            &mut table,
            format_args!("    {{\"{name}\", \"{chapter}\", \"{}\", try_{name}}},\n", via(function)),
        );
    }
    if gaps.is_empty() { Ok(format!("{text}{table}}};\n")) } else { Err(gaps) }
}

/// What the rules should say of an argument, but do not.
fn gap(parameter: &Parameter, argument: &Argument) -> Option<String> {
    let kind = &parameter.kind;
    if argument.wrong.is_empty() && argument.reasons.is_empty() {
        return Some(format!("{kind} has no wrong value"));
    }
    let needs_value = parameter.shape() != Shape::Room && kind != "BUFFER";
    (needs_value && argument.valid.is_none()).then(|| format!("{kind} has no valid value"))
}

/// The communicator argument whose error handler hears of errors; empty if there is none.
fn via(function: &Function) -> &str {
    let is_comm = |parameter: &&Parameter| parameter.c_type == "MPI_Comm";
    match function.error_via.as_str() {
        "comm" => function.parameters.iter().find(is_comm).map_or("", |comm| &comm.name),
        _ => "",
    }
}

/// The function that tests `function`: the first round is the valid call alone, the second one has the wrong ones
/// before it, so that the valid call shows that they did no harm.
fn cases(text: &mut String, function: &Function, arguments: &[Argument]) {
    let name = &function.name;
    let with_rules = || function.parameters.iter().zip(arguments);
    push(text, format_args!("static void try_{name}(void) {{\n"));
    for needs in arguments.iter().filter_map(|argument| argument.needs.as_ref()) {
        push(text, format_args!("    if (!({needs}))\n        return;\n"));
    }
    push(text, format_args!("    for (int last = 0; last < 2; last++) {{\n"));
    for (index, (parameter, argument)) in with_rules().enumerate() {
        declare(text, index, parameter, argument);
    }
    if !via(function).is_empty() {
        push(text, format_args!("        VIA({});\n", via(function)));
    }
    let names: Vec<&str> = function.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    push(text, format_args!("#define CALL {name}({})\n", names.join(", ")));
    if arguments.iter().any(lacks_value) {
        for (parameter, argument) in with_rules().filter(|(_, argument)| lacks_value(argument)) {
            wrong_values(text, parameter, argument);
        }
        push(text, format_args!("#undef CALL\n    }}\n}}\n\n"));
        return;
    }
    for before in arguments.iter().filter_map(|argument| argument.before.as_ref()) {
        push(text, format_args!("        {before};\n"));
    }
    push(text, format_args!("        if (last) {{\n"));
    assign(text, with_rules(), |argument| argument.while_wrong.as_ref());
    for (parameter, argument) in with_rules() {
        wrong_values(text, parameter, argument);
    }
    assign(text, with_rules(), |argument| argument.while_wrong.as_ref().and(argument.valid.as_ref()));
    push(text, format_args!("        }}\n        VALID();\n#undef CALL\n"));
    for after in arguments.iter().filter_map(|argument| argument.after.as_ref()) {
        push(text, format_args!("        {after};\n"));
    }
    push(text, format_args!("    }}\n}}\n\n"));
}

/// Whether there can be no valid value yet.
fn lacks_value(argument: &Argument) -> bool {
    argument.uses.as_ref().is_some_and(|function| !is_built(function))
}

fn assign<'a>(
    text: &mut String,
    arguments: impl Iterator<Item = (&'a Parameter, &'a Argument)>,
    value: impl Fn(&'a Argument) -> Option<&'a String>,
) {
    for (parameter, argument) in arguments {
        if let Some(value) = value(argument) {
            push(text, format_args!("            {} = {value};\n", parameter.name));
        }
    }
}

fn wrong_values(text: &mut String, parameter: &Parameter, argument: &Argument) {
    let only = argument.only.as_ref().map_or(String::new(), |only| format!("if ({only}) "));
    for Wrong { place, value, class } in &argument.wrong {
        let place = place.clone().unwrap_or_else(|| usual_place(parameter, argument));
        push(text, format_args!("            {only}WRONG({place}, {value}, {class});\n"));
    }
}

/// A variable of the argument's name, with the valid value.
fn declare(text: &mut String, index: usize, parameter: &Parameter, argument: &Argument) {
    let Parameter { name, c_type, .. } = parameter;
    // Arrays of strings are the only ones of pointers.
    let item = if c_type.contains("**") { "char *" } else { parameter.item_type() };
    let valid = argument.valid.as_deref();
    let pointer =
        if c_type.contains("[3]") { format!("{item} (*{name})[3]") } else { format!("{item} *{name}") };
    match (parameter.shape(), valid) {
        (Shape::Room, _) => push(text, format_args!("        {pointer} = room({index});\n")),
        (Shape::Value, None) => push(text, format_args!("        {c_type} {name} = room({index});\n")),
        (Shape::Items, Some("NULL")) => push(text, format_args!("        {c_type} {name} = NULL;\n")),
        (Shape::Value, Some(value)) => push(text, format_args!("        {c_type} {name} = {value};\n")),
        (Shape::Items | Shape::Pointee, value) => {
            let value = value.unwrap_or("0");
            let items = value.strip_prefix('{').and_then(|items| items.strip_suffix('}'));
            let items = items.map_or_else(|| usual_items(parameter, value), str::to_owned);
            push(text, format_args!("        {pointer} = room({index});\n"));
            push(text, format_args!("        FILL({name}, {item}, {items});\n"));
        }
    }
}

/// The items of an array if the rules name none, and what any other pointer points at.
fn usual_items(parameter: &Parameter, value: &str) -> String {
    if parameter.shape() == Shape::Items { format!("{value}, {value}") } else { value.to_owned() }
}

/// Where a wrong value goes if the rule does not say.
fn usual_place(parameter: &Parameter, argument: &Argument) -> String {
    let name = &parameter.name;
    match parameter.shape() {
        Shape::Items => {
            let valid = argument.valid.as_deref().unwrap_or_default();
            match if valid.starts_with('{') { valid.matches(',').count() } else { 1 } {
                1.. if parameter.is_by_comm => format!("{name}[size - 1]"),
                last => format!("{name}[{last}]"),
            }
        }
        Shape::Pointee => format!("*{name}"),
        Shape::Room | Shape::Value => name.clone(),
    }
}

fn push(to: &mut String, line: Arguments<'_>) {
    to.write_fmt(line).expect("a string takes all text");
}
