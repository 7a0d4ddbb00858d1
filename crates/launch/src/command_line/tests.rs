use std::io;

use proptest::prelude::*;

use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn no_files(_: &Path) -> io::Result<String> {
    Err(io::ErrorKind::NotFound.into())
}

fn job(line: &str) -> Job {
    match parse(&words(line), &no_files) {
        Ok(Request::Run(job)) => *job,
        other => panic!("{line}: {other:?}"),
    }
}

fn failure(line: &str) -> String {
    let failure = parse(&words(line), &no_files).expect_err(line);
    assert_eq!(failure.status(), 125, "{line}");
    failure.to_string()
}

#[test]
fn each_spelling_of_the_number_of_ranks_is_understood() {
    for line in ["-n 3 a", "-np 3 a", "--np 3 a", "-c 3 a", "--n=3 a", "-N 3 a", "-ppn 3 a", "-n 3 -N 9 a"] {
        assert_eq!(job(line).size(), 3, "{line}");
    }
    assert_eq!(job("a").size(), 1);
}

#[test]
fn words_after_the_program_belong_to_it() {
    let job = job("-n 2 prog -n 5 --help -- x");
    assert_eq!(job.blocks[0].arguments, words("-n 5 --help -- x"));
    assert_eq!(job.size(), 2);
}

#[test]
fn two_dashes_end_the_options() {
    let job = job("-n 2 -- -strange arg");
    assert_eq!(job.blocks[0].program, "-strange");
}

#[test]
fn blocks_are_separated_by_a_colon_and_keep_their_own_settings() {
    let job = job("-l -n 2 -wdir /tmp -env A 1 a x : -n 3 -x B=2 --path /opt b");
    assert!(job.tag);
    assert_eq!(job.blocks.len(), 2);
    assert_eq!((job.blocks[0].count, job.blocks[1].count), (2, 3));
    assert_eq!(job.blocks[0].dir.as_deref(), Some(Path::new("/tmp")));
    assert_eq!(job.blocks[0].environment.set, [("A".into(), "1".into())]);
    assert_eq!(job.blocks[1].environment.set, [("B".into(), "2".into())]);
    assert_eq!(job.blocks[1].path, Some("/opt".into()));
    assert_eq!(job.blocks[1].dir, None);
}

#[test]
fn a_variable_and_its_value_are_two_words_or_one() {
    for line in ["-genv A 1 -env B c=d a x", "-genv A=1 -env B=c=d a x"] {
        let job = job(line);
        assert_eq!(job.environment.set, [("A".into(), "1".into())], "{line}");
        assert_eq!(job.blocks[0].environment.set, [("B".into(), "c=d".into())], "{line}");
        assert_eq!((job.blocks[0].program.to_str(), &job.blocks[0].arguments), (Some("a"), &words("x")));
    }
    assert_eq!(job("-env A= a").blocks[0].environment.set, [("A".into(), "".into())]);
    assert!(failure("-env =1 a").contains("-env =1: "));
    assert!(failure("-env A=1").contains("no program"));
    assert!(failure("-env A").contains("-env NAME VALUE"));
}

#[test]
fn an_unknown_option_is_refused_and_the_nearest_one_named() {
    assert!(failure("--tiemout 3 a").contains("did you mean --timeout?"));
    assert!(failure("-bindto core a").contains("did you mean -bind-to?"));
    assert!(failure("--xyzzyxyzzy a").contains("see --help"));
}

#[test]
fn a_wrong_value_is_shown_with_its_option() {
    assert!(failure("-n many a").contains("-n many"));
    assert!(failure("--timeout=-3 a").contains("--timeout -3"));
    assert!(failure("-ppn 0 a").contains("a number of ranks"));
    assert!(failure("-branch-count 0 a").contains("a number of hosts"));
    assert!(failure("--bind-to moon a").contains("--bind-to moon"));
    assert!(failure("-initial-errhandler mine a").contains("mpi_errors_return"));
    assert_eq!(job("-initial-errhandler MPI_ERRORS_RETURN a").environment.set.len(), 1);
    assert!(failure("--stdin 4 -n 2 a").contains("ranks 0 to 1"));
    assert!(failure("-n").contains("-n N"));
    assert!(failure("-n 0 a").contains("0 ranks"));
    assert!(failure("-n 2").contains("no program"));
    assert!(failure("-n 2 a :").contains("no program"));
    assert!(failure("-configfile /nowhere").contains("/nowhere"));
    assert!(failure("-l=3 a").contains("takes no value"));
}

#[test]
fn names_of_nothing_are_refused() {
    for words in [["-x", ""], ["-x", "=b"], ["-wdir", ""], ["-output-dir", ""]] {
        let failure = parse(&words.map(OsString::from), &no_files).expect_err("it names nothing");
        assert!(failure.to_string().starts_with(words[0]), "{failure}");
    }
    let failure = parse(&["-env", "", "b"].map(OsString::from), &no_files).expect_err("it names nothing");
    assert!(failure.to_string().contains("-env '' b: "), "{failure}");
}

#[test]
fn options_of_other_launchers_that_mean_nothing_here_are_noted() {
    let job = job("--oversubscribe --map-by ppr:2:node --allow-run-as-root --mca btl self,vader -soft 1:4 a");
    assert_eq!(job.ignored.len(), 5);
    assert_eq!(job.ignored[3], "--mca btl self,vader");
    assert_eq!(job.blocks[0].program, "a");
}

#[test]
fn settings_of_the_job_are_understood() {
    let line = "--timeout 1.5 --hang-after 2 --bind-to core:overload-allowed --report-bindings -s all \
                --timestamp --output-dir out -v -genv X 1 -genvlist A,B \
                -initial-errhandler mpi_errors_return -host localhost:4,::1 a";
    let job = job(line);
    assert_eq!(job.time_limit, Some(Duration::from_millis(1500)));
    assert_eq!(job.hang_after, Some(Duration::from_secs(2)));
    assert_eq!(job.bind, Policy::Core);
    assert_eq!(job.stdin, StdinTo::All);
    assert!(job.report_bindings && job.timestamp && job.verbose);
    assert_eq!(job.output_dir.as_deref(), Some(Path::new("out")));
    assert_eq!(job.environment.inherit, Some(Inherit::Only(words("A B"))));
    let told = ("OXMPI_INITIAL_ERRHANDLER".into(), "mpi_errors_return".into());
    assert_eq!(job.environment.set, [("X".into(), "1".into()), told]);
    assert_eq!(job.hosts, Host::in_list("localhost:4,::1").expect("they are hosts"));
}

#[test]
fn help_and_version_win_over_the_rest() {
    assert_eq!(parse(&words("-n 2 --help"), &no_files), Ok(Request::Help));
    assert_eq!(parse(&words("-V"), &no_files), Ok(Request::Version));
}

#[test]
fn a_configuration_file_gives_the_blocks() {
    let read = |path: &Path| match path.to_str() {
        Some("jobs") => Ok("# two blocks\n-n 2 ./a x\n-n 1 -wdir / ./b\n".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let Ok(Request::Run(job)) = parse(&words("-l -configfile jobs"), &read) else { panic!("refused") };
    assert!(job.tag);
    assert_eq!(job.size(), 3);
    assert_eq!(job.blocks[1].program, "./b");
}

#[test]
fn a_configuration_file_that_names_a_configuration_file_is_refused() {
    let read = |_: &Path| Ok("-n 1 -configfile jobs\n".to_owned());
    let failure = parse(&words("-configfile jobs"), &read).expect_err("it would have no end");
    assert!(failure.to_string().contains("-configfile jobs: a configuration file cannot name another"));
    let read = |_: &Path| Ok("-n 1 ./a\n".to_owned());
    let Ok(Request::Run(job)) = parse(&words("-configfile one : -configfile two"), &read) else {
        panic!("one after the other is fine")
    };
    assert_eq!(job.size(), 2);
}

#[test]
fn what_stands_beside_a_configuration_file_is_for_all_blocks_or_refused() {
    let read = |_: &Path| Ok("-n 2 ./a\n".to_owned());
    let parsed = |line: &str| parse(&words(line), &read);
    for own in ["-x A=b", "-wdir /data", "-n 4", "-env A b", "-envnone", "-path /bin", "-x A=b -n 4"] {
        for line in [format!("{own} -configfile jobs"), format!("-l -configfile jobs {own}")] {
            let failure = parsed(&line).expect_err(&line);
            assert_eq!(failure.status(), 125);
            let begin =
                format!("-configfile jobs: beside it stands {own}, but no program; say it in the file");
            assert!(failure.to_string().starts_with(&begin), "{failure}");
        }
    }
    let Ok(Request::Run(job)) = parsed("-genv A b -ppn 1 -host a,b -configfile jobs") else {
        panic!("these are for all blocks")
    };
    assert_eq!((job.size(), job.per_node, job.hosts.len()), (2, Some(1), 2));
    let Ok(Request::Run(job)) = parsed("-configfile jobs : -n 3 -wdir /data ./b") else {
        panic!("these have a program")
    };
    assert_eq!(
        (job.blocks[0].dir.as_deref(), job.blocks[1].dir.as_deref()),
        (None, Some(Path::new("/data")))
    );
}

#[test]
fn a_file_without_an_end_is_refused() {
    for option in ["-f", "-configfile"] {
        let failure = parse(&words(&format!("{option} /dev/zero a")), &read_file).expect_err("it has no end");
        assert!(failure.to_string().contains(&format!("{option} /dev/zero: it is longer than")), "{failure}");
    }
}

#[test]
fn values_need_not_be_text() {
    let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let (dir, joined) = (word(b"/tmp/\xff"), word(b"--wdir=/tmp/\xff"));
    for line in [vec!["-wdir".into(), dir.clone(), "a".into()], vec![joined, "a".into()]] {
        let Ok(Request::Run(job)) = parse(&line, &no_files) else { panic!("refused") };
        assert_eq!(job.blocks[0].dir.as_deref(), Some(Path::new(&dir)));
    }
    for wrong in [&b"-n=\xff"[..], b"--timeout=\xff", b"--bind-to=\xff", b"-\xff"] {
        parse(&[word(wrong), "a".into()], &no_files).expect_err("it is not text");
    }
}

#[test]
fn a_host_file_gives_the_hosts() {
    let read = |_: &Path| Ok("# hosts\nlocalhost slots=4\nother:2 # second\n\n".to_owned());
    let Ok(Request::Run(job)) = parse(&words("--hostfile h a"), &read) else { panic!("refused") };
    assert_eq!(job.hosts, Host::in_list("localhost:4,other:2").expect("they are hosts"));
}

#[test]
fn hosts_that_cannot_be_read_are_shown_with_their_option() {
    let list = failure("-host a:2x,b -n 2 prog");
    assert!(list.starts_with("-host a:2x,b: `a:2x`: slots are a number; "), "{list}");
    let file = |line: &str, text: &str| {
        let read = |_: &Path| Ok(text.to_owned());
        let failure = parse(&words(line), &read).expect_err(text);
        assert_eq!(failure.status(), 125);
        failure.to_string()
    };
    let text = file("-f h -n 2 prog", "a\nb slots=two\n");
    assert!(text.starts_with("-f h: line 2: `slots=two`: that is no number"), "{text}");
    assert_eq!(file("-machinefile h prog", "# nobody\n"), "-machinefile h: it names no host");
    let text = file("-host a -n 2 -f h prog", "b\n");
    assert_eq!(text, "-f h: hosts are named already by -host a; one of both can be given");
}

#[test]
fn a_block_has_hosts_of_its_own_and_those_of_all_blocks_are_the_jobs() {
    let named = |list: &str| Host::in_list(list).expect("they are hosts");
    let job = |line: &str| {
        let read = |_: &Path| Ok("-n 1 ./a\n-n 1 -host c ./b\n".to_owned());
        let Ok(Request::Run(job)) = parse(&words(line), &read) else { panic!("{line} is refused") };
        let blocks: Vec<Vec<Host>> = job.blocks.iter().map(|block| block.hosts.clone()).collect();
        (job.hosts, blocks)
    };
    let blocks = vec![named("a:2,b"), named("c"), Vec::new()];
    assert_eq!(job("-host a:2,b x : -host c x : x"), (named("a:2,b,c"), blocks));
    assert_eq!(job("-host a,b -configfile f"), (named("a,b,c"), vec![Vec::new(), named("c")]));
}

proptest! {
    #[test]
    fn no_command_line_makes_the_parser_panic(line in proptest::collection::vec("[-:=a-z0-9 ]{0,6}", 0..8)) {
        let words: Vec<OsString> = line.into_iter().map(OsString::from).collect();
        let _ = parse(&words, &no_files);
    }

    #[test]
    fn counts_of_blocks_add_up(counts in proptest::collection::vec(1_u32..50, 1..6)) {
        let line: Vec<String> = counts.iter().map(|count| format!("-n {count} prog")).collect();
        prop_assert_eq!(job(&line.join(" : ")).size(), counts.iter().sum::<u32>());
    }
}
