//! What C gives to Fortran. MPI-5.0: Language Bindings, Language Interoperability.

use oxmpi_tests::{Program, programs};

programs! {
    fortran_described on 1 2;
}

/// The header of the conversions is C90 and C++98, and whatever came after.
#[test]
fn handles_and_statuses_survive_the_way_through_integers_in_every_language() {
    for (wrapper, language, standard) in [
        ("mpicc", "-xc", "-std=c90"),
        ("mpicc", "-xc", "-std=c17"),
        ("mpicxx", "-xc++", "-std=c++98"),
        ("mpicxx", "-xc++", "-std=c++17"),
    ] {
        let program =
            Program::compile_as("fortran_handles", wrapper, &[language, standard, "-pedantic"], &["-xnone"]);
        program.passes_on(&[1, 2]);
    }
}
