//! `oxmpi`: what this installation is, and what it would do.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

mod info;
mod manual;
mod options;
mod plan;
mod tune;

/// What a command returns: a sentence for the terminal when it fails.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = run(lexopt::Parser::from_env(), &mut out).and_then(|()| Ok(out.flush()?));
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    let text = match error.downcast_ref::<io::Error>() {
        // A reader that has seen enough (`oxmpi plan ... | head`) is no failure.
        Some(error) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Some(error) => format!("cannot write standard output: {error}"),
        None => error.to_string(),
    };
    // Whoever reads errors may have gone.
    let _ = writeln!(io::stderr(), "oxmpi: {text}");
    ExitCode::FAILURE
}

/// Carries out a command line; prints to `out`, where nothing else fails with an [`io::Error`].
fn run(mut parser: lexopt::Parser, out: &mut dyn Write) -> Outcome {
    use lexopt::prelude::*;
    let text = match parser.next()? {
        None | Some(Short('h') | Long("help")) => manual::OXMPI.help(),
        Some(Long("manual")) => {
            let format = parser.value()?.string()?;
            let text = manual::OXMPI.print_as(&format);
            text.ok_or_else(|| options::unknown("format", &format, oxmpi_manual::FORMATS))?
        }
        Some(Long("version")) => info::version(),
        Some(Value(command)) => match command.to_string_lossy().as_ref() {
            "info" => info::run(parser)?,
            "plan" => return plan::run(parser, out),
            "tune" => return tune::run(parser, out),
            other => return Err(options::unknown("command", other, &["info", "plan", "tune"])),
        },
        Some(option) => return Err(options::unexpected(&option, &manual::OXMPI)),
    };
    Ok(out.write_all(text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use oxmpi_plan::Collective;

    use super::*;

    fn output(arguments: &[&str]) -> Result<String, String> {
        let mut out = Vec::new();
        run(lexopt::Parser::from_args(arguments), &mut out).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn a_mistyped_word_is_answered_with_the_nearest_one() {
        for (arguments, nearest) in [
            (&["inof"][..], "info"),
            (&["info", "--function"], "--functions"),
            (&["plan", "alreduce", "-n", "4"], "allreduce"),
            (&["plan", "bcast", "-n", "4", "--rnak", "1"], "--rank"),
            (&["plan", "bcast", "-n", "4", "--algorithm", "binomail"], "binomial"),
        ] {
            let error = output(arguments).expect_err("the word is mistyped");
            assert!(error.contains(nearest), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn every_command_explains_itself() {
        for (arguments, begin) in [
            (&["--help"][..], "usage: oxmpi <command>"),
            (&["info", "--help"], "usage: oxmpi info"),
            (&["info", "-h"], "usage: oxmpi info"),
            (&["plan", "--help"], "usage: oxmpi plan COLLECTIVE"),
            (&["tune", "--help"], "usage: oxmpi tune"),
        ] {
            assert!(output(arguments).is_ok_and(|text| text.starts_with(begin)), "{arguments:?}");
        }
        for format in oxmpi_manual::FORMATS {
            assert!(output(&["--manual", format]).is_ok_and(|text| text.contains("algorithm")), "{format}");
        }
        assert!(output(&["--manual=tex"]).is_err_and(|text| text.contains("tex")));
    }

    #[test]
    fn every_option_of_the_manual_is_known() {
        for command in manual::OXMPI.commands {
            let name = command.names[0].split(' ').nth(1).expect("a command");
            for option in command.option_names() {
                let Err(error) = output(&[name, &option, "1"]) else { continue };
                assert!(!error.contains("unknown option"), "{name} {option}: {error}");
            }
        }
    }

    #[test]
    fn a_plan_is_printed_for_each_rank_or_for_one() {
        let all = output(&["plan", "allreduce", "-n", "3", "--count", "10"]).expect("it is well formed");
        assert_eq!(all.matches("\nrank ").count(), 3, "{all}");
        let one = output(&["plan", "bcast", "-n", "3", "--count", "10", "--rank", "2"]).expect("well formed");
        assert_eq!(one.matches("\nrank ").count(), 1, "{one}");
    }

    #[test]
    fn reasons_are_those_of_the_machine_that_is_named() {
        let file = std::env::temp_dir().join(format!("oxmpi-machine-{}", std::process::id()));
        let path = file.to_str().expect("temporary folders have names");
        let usual = ["plan", "allreduce", "-n", "4", "--cores", "0", "--bytes", "16384", "--why"];
        let text = output(&usual).expect("it is well formed");
        assert!(text.contains("node-sliced takes the least") && !text.contains("\nrank "), "{text}");
        std::fs::write(&file, "hop_far_ns = 100000 # a slow one\n").expect("it can be written");
        let text = output(&[&usual[..], &["--machine", path]].concat()).expect("it is well formed");
        assert!(text.contains("node-flat takes the least"), "{text}");
        std::fs::write(&file, "hop_far_ms = 1\n").expect("it can be written");
        let error =
            output(&[&usual[..], &["--machine", path]].concat()).expect_err("there is no such constant");
        assert!(error.contains("hop_far_ms") && error.contains("hop_far_ns"), "{error}");
        std::fs::remove_file(&file).expect("it is there");
    }

    #[test]
    fn cores_that_ranks_share_decide_and_are_named() {
        let usual = ["plan", "scan", "-n", "16", "--bytes", "16384", "--rank", "0"];
        let of = |cores| output(&[&usual[..], &["--cores", cores]].concat()).expect("it is well formed");
        let [own, two, many] = ["0", "2", "16"].map(of);
        assert!(two.contains("among 16 ranks on 2 cores by node-chain"), "{two}");
        assert!(own == many && own.contains("among 16 ranks by") && !own.contains("by node-chain"), "{own}");
    }

    #[test]
    fn simulations_say_what_the_time_is_spent_on() {
        let file = std::env::temp_dir().join(format!("oxmpi-goal-{}", std::process::id()));
        let path = file.to_str().expect("temporary folders have names");
        let usual =
            ["plan", "simulate", "allreduce", "-n", "1048576", "--ranks-per-node", "64", "--bytes", "8"];
        let text = output(&usual).expect("it is well formed");
        assert!(
            text.contains("two-level") && text.contains("net") && text.contains("critical path"),
            "{text}"
        );
        let small = ["plan", "simulate", "bcast", "-n", "5", "--ranks-per-node", "2", "--goal", path];
        output(&small).expect("it is well formed");
        let goal = std::fs::read_to_string(&file).expect("it has been written");
        assert!(goal.starts_with("num_ranks 5\n") && goal.contains("rank 4 {"), "{goal}");
        let error = output(&["plan", "simulate", "bcast", "--groups", "2x2"]).expect_err("one group alone");
        assert!(error.contains("--groups"), "{error}");
        std::fs::remove_file(&file).expect("it is there");
    }

    #[test]
    fn plans_of_two_groups_are_printed_drawn_and_right() {
        let file = std::env::temp_dir().join(format!("oxmpi-plan-{}.svg", std::process::id()));
        let path = file.to_str().expect("temporary folders have names");
        let is_between = |collective: &&Collective| !collective.info().between.is_empty();
        for collective in Collective::ALL.iter().filter(is_between).map(|collective| collective.name()) {
            for further in [&["--count", "7"][..], &["--messages"], &["--count", "100000", "--root", "4"]] {
                let usual = ["plan", collective, "--groups", "3x4", "--check", "--svg", path];
                let text = output(&[&usual, further].concat()).expect("it is well formed");
                assert_eq!(text.matches("\nrank ").count(), 7, "{text}");
                assert!(text.contains("3 and 4 ranks") && text.contains("the result is right"), "{text}");
                let picture = std::fs::read_to_string(&file).expect("it has been drawn");
                assert!(picture.contains("rank A 2") && picture.contains("rank B 3"), "{collective}");
            }
        }
        std::fs::remove_file(&file).expect("it is there");
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        for (arguments, wrong) in [
            (&["plan", "bcast", "--groups", "3x0"][..], "3x0"),
            (&["plan", "bcast", "--groups", "3x4", "--root", "7"], "7"),
            (&["plan", "bcast", "--groups", "3x4", "-n", "7"], "-n"),
            (&["plan", "allgather", "--groups", "3x4", "--in-place"], "--in-place"),
            (&["plan", "bcast", "--groups", "90x90", "--check"], "128"),
            (&["plan", "bcast", "-n", "0"], "0"),
            (&["plan", "bcast", "-n", "4294967295"], "4294967295"),
            (&["plan", "bcast", "--groups", "4294967295x1"], "4294967295x1"),
            (&["plan", "bcast", "-n", "100000", "--check"], "128"),
            (&["plan", "bcast", "-n", "100000", "--svg", "/tmp/none.svg"], "--svg"),
            (&["plan", "bcast", "-n", "4", "--rank", "4"], "4"),
            (&["plan", "bcast", "-n", "4", "--root", "5"], "5"),
            (&["plan", "bcast", "-n", "four"], "four"),
            (&["plan", "reduce", "-n", "4", "--unit", "0"], "--unit"),
            (&["plan", "reduce", "-n", "4", "--bytes", "12"], "12"),
            (&["plan", "reduce", "-n", "4", "--ranks-per-node", "0"], "--ranks-per-node"),
            (&["plan", "bcast", "-n", "4", "--count", "4000000000000000000"], "too much"),
        ] {
            let error = output(arguments).expect_err("the number is out of range");
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn functions_are_listed_under_their_chapter() {
        let text = output(&["info", "--functions"]).expect("it is well formed");
        let chapter = text.split("\ncollective-blocking: ").nth(1).expect("the chapter is listed");
        assert!(chapter.lines().take_while(|line| !line.is_empty()).any(|line| line.ends_with(" MPI_Bcast")));
    }
}
