use std::process::Command;

use super::*;

const OPTIONS: &[Entry] = &[
    Entry::new(&["n", "np"], &["N"], "how many"),
    Entry::new(&["dir"], &["DIR"], "where").completes(Values::Directories),
    Entry::new(&["bind"], &["WHAT"], "what [else]: it's this").completes(Values::Words(&["core", "none"])),
    Entry::new(&["set"], &["NAME", "VALUE"], "two values"),
    Entry::new(&["cc="], &["PROGRAM"], "joined"),
    Entry::new(&["show:all"], &[], "a colon"),
    Entry::new(&["old"], &[], ""),
];

const LAUNCHER: Manual<'static> = Manual {
    names: &["run", "start"],
    purpose: "Runs a program",
    usage: &["[options] program", "-h"],
    about: "A back\\slash.",
    dashes: Dashes::Any,
    options: OPTIONS,
    operands: Values::Program,
    commands: &[],
    sections: &[Section { title: "Exit status", rows: &[(".5", "half"), ("1", "all")] }],
};

const TOOL: Manual<'static> = Manual {
    names: &["tool"],
    purpose: "Shows things",
    usage: &["<command>"],
    about: "",
    dashes: Dashes::Usual,
    options: &[Entry::new(&["h", "help"], &[], "print this")],
    operands: Values::None,
    commands: &[
        Manual {
            names: &["tool plan"],
            operands: Values::Words(&["bcast", "reduce"]),
            commands: &[],
            ..LAUNCHER
        },
        Manual { names: &["tool info"], options: &[], operands: Values::None, commands: &[], ..LAUNCHER },
    ],
    sections: &[],
};

#[test]
fn help_has_a_line_for_each_option_that_does_something() {
    let expected = [
        "usage: run [options] program",
        "       run -h",
        "",
        "Runs a program. A back\\slash.",
        "",
        "  -n, -np N        how many",
        "  -dir DIR         where",
        "  -bind WHAT       what [else]: it's this",
        "  -set NAME VALUE  two values",
        "  -cc=PROGRAM      joined",
        "  -show:all        a colon",
        "",
        "Accepted and without effect:",
        "  -old",
        "",
        "Exit status:",
        "  .5  half",
        "  1   all",
        "",
    ];
    assert_eq!(LAUNCHER.help(), expected.join("\n"));
    assert!(
        TOOL.help()
            .contains("\n  plan  Runs a program\n  info  Runs a program\n\n  -h, --help  print this\n")
    );
}

#[test]
fn a_manual_page_takes_text_literally() {
    let page = LAUNCHER.man();
    assert!(page.starts_with(".TH RUN 1 "), "{page}");
    assert!(page.contains("\n.SH NAME\nrun, start \\- runs a program\n"), "{page}");
    assert!(page.contains("Runs a program. A back\\eslash.\n"), "{page}");
    assert!(page.contains(".TP\n\\fB\\-n\\fR, \\fB\\-np\\fR \\fIN\\fR\nhow many\n"), "{page}");
    assert!(page.contains("\\fB\\&.5\\fR"), "{page}");
    assert!(page.contains("\\fB\\-cc=\\fR\\fIPROGRAM\\fR"), "{page}");
    assert!(TOOL.man().contains(".SH PLAN\n"));
}

/// What bash proposes for the last of these words.
fn proposals(manual: &Manual, words: &[&str]) -> Vec<String> {
    let script = format!(
        "{}COMP_WORDS=({})\nCOMP_CWORD={}\n_oxmpi_{}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        manual.bash(),
        words.iter().map(|word| format!("'{word}' ")).collect::<String>(),
        words.len() - 1,
        manual.name(),
    );
    let output = Command::new("bash").args(["--norc", "-c", &script]).output().expect("bash");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_proposes_options_values_and_programs() {
    let run = |words: &[&str]| proposals(&LAUNCHER, words);
    assert_eq!(run(&["run", "-n"]), ["-n", "-np"]);
    assert_eq!(run(&["run", "-l", "--b"]), ["--bind"]);
    assert_eq!(run(&["run", "-n", "2", "-bind", "c"]), ["core"]);
    assert_eq!(run(&["run", "--bind", "=", "n"]), ["none"]);
    assert_eq!(run(&["run", "-n", ""]), [""; 0]);
    assert!(run(&["run", "-set", "a", "b", "-np", "=", "2", "bas"]).contains(&"bash".to_owned()));
    assert_eq!(run(&["run", "-n", "2", "bash", "-n"]), [""; 0], "the program's own words");
    assert_eq!(run(&["run", "-n", "2", "bash", ":", "-dir", "/et"]), ["/etc"]);
}

#[test]
fn bash_proposes_commands_and_their_words() {
    let tool = |words: &[&str]| proposals(&TOOL, words);
    assert_eq!(tool(&["tool", ""]), ["plan", "info"]);
    assert_eq!(tool(&["tool", "--"]), ["--help"]);
    assert_eq!(tool(&["tool", "plan", "b"]), ["bcast"]);
    assert_eq!(tool(&["tool", "plan", "bcast", "-bind", ""]), ["core", "none"]);
}

#[test]
fn zsh_and_fish_get_every_option_and_command() {
    let zsh = LAUNCHER.zsh();
    assert!(zsh.starts_with("#compdef run start\n"), "{zsh}");
    assert!(zsh.contains("'*--bind[what \\[else\\]\\: it'\\''s this]:WHAT:(core none)'"), "{zsh}");
    assert!(zsh.contains("'*-cc=-[joined]:PROGRAM: '"), "{zsh}");
    assert!(zsh.contains("'*-show\\:all[a colon]'"), "{zsh}");
    let fish = LAUNCHER.fish();
    assert!(fish.contains("complete -c run -s n -l n -o np -l np -x -d 'how many'\n"), "{fish}");
    assert!(fish.contains("-x -a 'core none' -d 'what [else]: it\\'s this'\n"), "{fish}");
    for text in [TOOL.zsh(), TOOL.fish()] {
        assert!(text.contains("plan") && text.contains("bcast reduce"), "{text}");
    }
}
