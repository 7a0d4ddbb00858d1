//! Bad input: every argument of every function, wrong in every way that its kind allows.
//! MPI-5.0: MPI Environmental Management, Error Codes and Classes.

use std::fs;
use std::path::Path;

use oxmpi_tests::bad_input::{CHAPTERS, Function, Rules, header};
use oxmpi_tests::{Program, prefix};

fn spec(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    fs::read_to_string(folder.join(file)).expect("spec/ is committed")
}

fn functions_and_rules() -> (Vec<Function>, Rules) {
    let rules = Rules::parse(&spec("arguments.txt")).unwrap_or_else(|complaint| panic!("{complaint}"));
    (Function::all(&spec("functions.json"), &CHAPTERS), rules)
}

#[test]
fn every_rule_is_about_an_argument() {
    let (functions, rules) = functions_and_rules();
    assert_eq!(rules.idle(&functions), Vec::<usize>::new(), "lines of spec/arguments.txt");
}

#[test]
fn wrong_arguments_of_every_kind_give_their_class_and_change_nothing() {
    let (functions, rules) = functions_and_rules();
    let cases = header(&functions, &rules).unwrap_or_else(|gaps| panic!("spec/arguments.txt:\n{gaps}"));
    let folder = prefix().join("tests/include");
    fs::create_dir_all(&folder).expect("the prefix can be written to");
    fs::write(folder.join("bad_input_cases.h"), cases).expect("the prefix can be written to");
    let program = Program::compile_with(
        "bad_input",
        &[&format!("-I{}", folder.display()), "-O0", "-Wno-unused-variable"],
    );
    program.passes_on(&[1, 2]);
}
