//! From the standard's names to Rust's.

/// `MPI_Allreduce_init_c` or `ALLREDUCE_INIT_C` to `AllreduceInitC`; a leading 2 becomes `Two`.
pub fn camel(name: &str) -> String {
    let words = name.strip_prefix("MPI_").unwrap_or(name);
    let mut out = String::with_capacity(words.len());
    for word in words.split('_') {
        let spelled = word.strip_prefix('2').map_or_else(|| word.to_owned(), |rest| format!("Two_{rest}"));
        for part in spelled.split('_') {
            let (first, rest) = part.split_at(usize::from(!part.is_empty()));
            out.push_str(&first.to_ascii_uppercase());
            out.push_str(&rest.to_ascii_lowercase());
        }
    }
    out
}

/// `MPI_ERR_RMA_SYNC` to `RmaSync`, `MPI_T_ERR_MEMORY` to `ToolMemory`.
pub fn error_class(name: &str) -> String {
    match name.strip_prefix("MPI_T_ERR_") {
        Some(rest) => format!("Tool{}", camel(rest)),
        None => camel(name.strip_prefix("MPI_ERR_").unwrap_or(name)),
    }
}

/// `MPI_Allreduce_init` to `allreduce_init`.
pub fn snake(name: &str) -> String {
    name.strip_prefix("MPI_").unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_names_become_variants() {
        assert_eq!(camel("MPI_Allreduce_init_c"), "AllreduceInitC");
        assert_eq!(camel("MPI_T_cvar_get_info"), "TCvarGetInfo");
        assert_eq!(camel("MPI_Type_create_f90_real"), "TypeCreateF90Real");
    }

    #[test]
    fn type_names_may_begin_with_a_digit() {
        assert_eq!(camel("MPI_2INT"), "TwoInt");
        assert_eq!(camel("MPI_2DOUBLE_PRECISION"), "TwoDoublePrecision");
        assert_eq!(camel("MPI_INT32_T"), "Int32T");
    }

    #[test]
    fn error_classes_lose_their_prefix() {
        assert_eq!(error_class("MPI_SUCCESS"), "Success");
        assert_eq!(error_class("MPI_ERR_NO_MEM"), "NoMem");
        assert_eq!(error_class("MPI_T_ERR_OUT_OF_HANDLES"), "ToolOutOfHandles");
    }
}
