//! Datatypes and reduction operations. MPI-5.0: Datatypes; Collective Communication, Global Reductions.

use std::fs;

use oxmpi_tests::{Program, prefix, programs, reductions};

programs! {
    datatype_bottom;
    datatype_collectives;
    datatype_contents on 1 2;
    datatype_elements;
    datatype_extents on 1;
    datatype_external on 1 2;
    datatype_f90 on 1 3;
    datatype_freed on 1 2 3;
    datatype_match on 1;
    datatype_names on 1 2;
    datatype_pack;
    datatype_partial;
    datatype_pt2pt;
    datatype_refused on 1 2;
    datatype_signatures on 1 2 3 5;
    datatype_threads on 1 2;
    op_freed;
    op_gaps;
    op_local on 1;
    op_structs on 1 2 3;
    op_user;
    op_value_index on 1 2 3 5;
}

#[test]
fn every_operation_is_right_on_its_types_and_refused_on_the_others() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/datatypes.json");
    let header = reductions::header(&fs::read_to_string(spec).expect("spec/ is committed"));
    let folder = prefix().join("tests/include");
    fs::create_dir_all(&folder).expect("the prefix can be written to");
    fs::write(folder.join("reductions.h"), header).expect("the prefix can be written to");
    let include = format!("-I{}", folder.display());
    // The comparisons are written once for all types: of unsigned ones and of truth values, too.
    let program = Program::compile_with("op_predefined", &[&include, "-O0", "-Wno-all", "-Wno-extra"]);
    program.passes_on(&[]);
}
