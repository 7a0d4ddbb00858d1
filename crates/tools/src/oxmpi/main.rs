//! `oxmpi`: what this installation is, and what it would do.

use std::io::{self, Write as _};
use std::process::ExitCode;

mod info;
mod options;
mod plan;

const HELP: &str = "\
usage: oxmpi <command>

  info [--functions] [--version]   which functions of MPI are built; by name with --functions
  plan COLLECTIVE -n RANKS ...     the steps of a collective; `oxmpi plan --help` says more
";

/// What a command returns: a sentence for the terminal when it fails.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run(lexopt::Parser::from_env()) {
        Ok(text) => print(&text),
        Err(error) => {
            eprintln!("oxmpi: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes to standard output; a reader that has seen enough (`oxmpi plan ... | head`) is no failure.
fn print(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("oxmpi: cannot write: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Carries out a command line; returns what it prints.
fn run(mut parser: lexopt::Parser) -> Outcome<String> {
    use lexopt::prelude::*;
    const COMMANDS: [&str; 2] = ["info", "plan"];
    const OPTIONS: [&str; 3] = ["--help", "--version", "-h"];
    match parser.next()? {
        None | Some(Short('h') | Long("help")) => Ok(HELP.to_owned()),
        Some(Long("version")) => Ok(info::version()),
        Some(Value(command)) => match command.to_string_lossy().as_ref() {
            "info" => info::run(parser),
            "plan" => plan::run(parser),
            other => Err(options::unknown("command", other, &COMMANDS)),
        },
        Some(option) => Err(options::unexpected(&option, &OPTIONS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(arguments: &[&str]) -> Result<String, String> {
        run(lexopt::Parser::from_args(arguments)).map_err(|error| error.to_string())
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
    fn a_plan_is_printed_for_each_rank_or_for_one() {
        let all = output(&["plan", "allreduce", "-n", "3", "--count", "10"]).expect("it is well formed");
        assert_eq!(all.matches("\nrank ").count(), 3, "{all}");
        let one = output(&["plan", "bcast", "-n", "3", "--count", "10", "--rank", "2"]).expect("well formed");
        assert_eq!(one.matches("\nrank ").count(), 1, "{one}");
    }

    #[test]
    fn plans_of_two_groups_are_printed_drawn_and_right() {
        let file = std::env::temp_dir().join(format!("oxmpi-plan-{}.svg", std::process::id()));
        let path = file.to_str().expect("temporary folders have names");
        for collective in
            ["allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce", "scatter"]
        {
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
            (&["plan", "bcast", "-n", "4", "--rank", "4"], "4"),
            (&["plan", "bcast", "-n", "4", "--root", "5"], "5"),
            (&["plan", "bcast", "-n", "four"], "four"),
            (&["plan", "reduce", "-n", "4", "--unit", "0"], "--unit"),
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
