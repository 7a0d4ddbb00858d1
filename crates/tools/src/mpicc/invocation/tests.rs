use super::*;

const LINK: [&str; 3] = ["-L/p/lib", "-Wl,-rpath,/p/lib", "-lmpi_abi"];

fn action(arguments: &[&str]) -> Result<Action, String> {
    action_at("/p", arguments)
}

fn action_at(prefix: &str, arguments: &[&str]) -> Result<Action, String> {
    let installation = Installation::at(prefix);
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
    answer_at("/p", arguments)
}

fn answer_at(prefix: &str, arguments: &[&str]) -> String {
    match action_at(prefix, arguments) {
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
fn a_shell_reads_the_words_of_an_answer_back() {
    for prefix in ["/my files", "/$HOME", "/it's", "/a;b", "/*", "/a\\b", "/~(x)"] {
        let read = |query: &[&str]| {
            let script = format!("printf '%s\\n' {}", answer_at(prefix, query));
            let output =
                std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
            String::from_utf8(output.stdout).expect("text")
        };
        let (include, lib) = (format!("{prefix}/include"), format!("{prefix}/lib"));
        let link = format!("-L{lib}\n-Wl,-rpath,{lib}\n-lmpi_abi\n");
        assert_eq!(
            read(&["-show", "-DA=\"a b\"", "a.c"]),
            format!("cc\n-I{include}\n-DA=\"a b\"\na.c\n{link}")
        );
        assert_eq!(read(&["-compile-info"]), format!("cc\n-I{include}\n"));
        assert_eq!(read(&["--showme:link"]), link);
        assert_eq!(read(&["--showme:incdirs"]), format!("{include}\n"));
        assert_eq!(read(&["--showme:libdirs"]), format!("{lib}\n"));
    }
    assert_eq!(answer(&["-show", "-c", "-DA=1", "\u{fc}.c"]), "cc -I/p/include -c -DA=1 \u{fc}.c");
}

/// Its module FindMPI looks for options that end at a blank, or have quotes behind the option.
#[test]
fn what_is_quoted_is_so_behind_its_option_as_cmake_reads_it() {
    assert_eq!(answer_at("/a b", &["-compile_info"]), r#"cc -I"/a b/include""#);
    let expected = r#"-L"/a b/lib" -Wl,"-rpath,/a b/lib" -lmpi_abi"#;
    assert_eq!(answer_at("/a b", &["-showme:link"]), expected);
}

#[test]
fn a_comma_in_the_folder_of_the_library_does_not_split_it() {
    let expected = "-L/a,b/lib -Xlinker -rpath -Xlinker /a,b/lib -lmpi_abi";
    assert_eq!(answer_at("/a,b", &["-showme:link"]), expected);
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
