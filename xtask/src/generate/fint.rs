//! `include/mpi_fint.h`: what the ABI leaves out because it depends on Fortran's `INTEGER`.
//!
//! The ABI has `MPI_X_toint` and `MPI_X_fromint`, which convert handles to and from `int`; the older names are inline
//! functions over them, so that a program which uses them still needs nothing but the ABI of the library.
//! MPI-5.0: Language Bindings, Language Interoperability; Application Binary Interface.

use super::header::{parameter, spaced};
use super::spec::{Function, Spec};
use super::template;
use crate::Outcome;

/// The text of the header.
pub fn text(spec: &Spec) -> Outcome<String> {
    let mut out = String::new();
    for prefix in ["", "P"] {
        out.push('\n');
        for function in &spec.fint_functions {
            out.push_str(&definition(spec, prefix, function)?);
        }
    }
    Ok(template::filled(include_str!("templates/mpi_fint.h"), &[("FUNCTIONS", &out)]))
}

fn definition(spec: &Spec, prefix: &str, function: &Function) -> Outcome<String> {
    let Function { name, ret, params, .. } = function;
    let parameters = params.iter().map(parameter).collect::<Vec<_>>().join(", ");
    let body = body(spec, function)?.replace("$P", prefix);
    Ok(format!("OXMPI_INLINE {}{prefix}{name}({parameters})\n{body}\n", spaced(ret)))
}

/// The block that defines `function`; `$P` stands before the names of functions.
fn body(spec: &Spec, function: &Function) -> Outcome<String> {
    let name = function.name.as_str();
    if let Some((_, body)) = STATUSES.iter().find(|(known, _)| *known == name) {
        return Ok((*body).to_owned());
    }
    let same = name.replace("_c2f", "_toint").replace("_f2c", "_fromint");
    match (spec.function(&same), function.params.as_slice()) {
        (Some(_), [handle]) => Ok(format!("{{ return $P{same}({}); }}", handle.name)),
        _ => Err(format!("{name}: the ABI has nothing to make it of").into()),
    }
}

/// Statuses of C and of both of Fortran's kinds have one layout. What is no status is refused by the library, which
/// knows whom to tell.
const STATUSES: [(&str, &str); 6] = [
    (
        "MPI_Status_c2f",
        "\
{
    int i;
    if (!c_status || !f_status)
        return $PMPI_Status_get_source(c_status, f_status);
    f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
    f_status[MPI_F_TAG] = c_status->MPI_TAG;
    f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
    for (i = 3; i < MPI_F_STATUS_SIZE; i++)
        f_status[i] = c_status->MPI_internal[i - 3];
    return MPI_SUCCESS;
}",
    ),
    (
        "MPI_Status_f2c",
        "\
{
    int i;
    if (!f_status || !c_status)
        return $PMPI_Status_get_source(c_status, 0);
    c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
    c_status->MPI_TAG = f_status[MPI_F_TAG];
    c_status->MPI_ERROR = f_status[MPI_F_ERROR];
    for (i = 3; i < MPI_F_STATUS_SIZE; i++)
        c_status->MPI_internal[i - 3] = f_status[i];
    return MPI_SUCCESS;
}",
    ),
    (
        "MPI_Status_c2f08",
        "\
{
    if (!c_status || !f08_status)
        return $PMPI_Status_get_source(c_status, 0);
    *f08_status = *c_status;
    return MPI_SUCCESS;
}",
    ),
    ("MPI_Status_f082c", "{ return $PMPI_Status_c2f08(f08_status, c_status); }"),
    ("MPI_Status_f2f08", "{ return $PMPI_Status_f2c(f_status, f08_status); }"),
    ("MPI_Status_f082f", "{ return $PMPI_Status_c2f(f08_status, f_status); }"),
];
