use super::*;

const LINK: [&str; 3] = ["-L/p/lib", "-Wl,-rpath,/p/lib", "-lmpi_abi"];

fn action(arguments: &[&str]) -> Result<Action, String> {
    let installation = Installation::at("/p");
    let arguments = arguments.iter().map(OsString::from).collect();
    Invocation::new(&installation, Language::C, arguments, |_| None).action()
}

fn command(arguments: &[&str]) -> Vec<String> {
    match action(arguments) {
        Ok(Action::Run(command)) => {
            command.into_iter().map(|word| word.into_string().expect("the test uses UTF-8")).collect()
        }
        other => panic!("expected a command, got {other:?}"),
    }
}

fn answer(arguments: &[&str]) -> String {
    match action(arguments) {
        Ok(Action::Print(text)) => text,
        other => panic!("expected an answer, got {other:?}"),
    }
}

#[test]
fn a_program_is_compiled_with_our_header_and_linked_with_our_library_last() {
    let expected = [&["cc", "-I/p/include", "-O2", "a.c", "-o", "a"][..], &LINK].concat();
    assert_eq!(command(&["-O2", "a.c", "-o", "a"]), expected);
}

#[test]
fn what_does_not_link_gets_no_library() {
    for option in STOPS_BEFORE_LINKING {
        assert_eq!(command(&[option, "a.c"]), ["cc", "-I/p/include", option, "a.c"]);
    }
}

#[test]
fn a_question_to_the_compiler_is_passed_on_unchanged() {
    assert_eq!(command(&["--version"]), ["cc", "--version"]);
    assert_eq!(command(&["-v", "-o", "unused"]), ["cc", "-v", "-o", "unused"]);
}

#[test]
fn standard_input_is_something_to_compile() {
    assert!(command(&["-x", "c", "-"]).ends_with(&LINK.map(str::to_owned)));
}

#[test]
fn both_dialects_of_queries_are_answered() {
    let (compile, link) = ("-I/p/include", LINK.join(" "));
    assert_eq!(answer(&["-show"]), format!("cc {compile} {link}"));
    assert_eq!(answer(&["--showme", "-c", "a.c"]), format!("cc {compile} -c a.c"));
    assert_eq!(answer(&["-showme:compile"]), compile);
    assert_eq!(answer(&["--showme:link"]), link);
    assert_eq!(answer(&["-showme:incdirs"]), "/p/include");
    assert_eq!(answer(&["-showme:libdirs"]), "/p/lib");
    assert_eq!(answer(&["-showme:libs"]), "mpi_abi");
    assert_eq!(answer(&["-showme:command"]), "cc");
    for query in ["-compile_info", "-compile-info", "-show-compile-info"] {
        assert_eq!(answer(&[query]), format!("cc {compile}"));
    }
    for query in ["-link_info", "-link-info", "-show-link-info"] {
        assert_eq!(answer(&[query]), format!("cc {link}"));
    }
}

#[test]
fn an_unknown_query_is_refused_so_that_build_systems_try_another() {
    for query in ["-showme:foo", "--cray-print-opts=cflags", "-show_flags"] {
        let error = action(&[query]).expect_err("the query does not exist");
        assert!(error.contains(query), "{error}");
    }
}

#[test]
fn the_compiler_named_on_the_command_line_wins() {
    for option in ["-cc=clang", "--cc=clang"] {
        assert_eq!(command(&[option, "-c", "a.c"])[..2], ["clang", "-I/p/include"]);
    }
}
