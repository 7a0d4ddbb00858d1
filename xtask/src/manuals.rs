//! Manual pages and completion: what the installed programs say of themselves, put where `man` and shells look.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::cargo::succeed;
use crate::install::{PROGRAMS, link};

/// A form of a manual, and where it is looked for.
struct Format {
    name: &'static str,
    folder: &'static str,
    /// What stands around the program's name in the name of the file.
    around: [&'static str; 2],
}

const FORMATS: [Format; 4] = [
    Format { name: "man", folder: "share/man/man1", around: ["", ".1"] },
    Format { name: "bash", folder: "share/bash-completion/completions", around: ["", ""] },
    Format { name: "zsh", folder: "share/zsh/site-functions", around: ["_", ""] },
    Format { name: "fish", folder: "share/fish/vendor_completions.d", around: ["", ".fish"] },
];

impl Format {
    fn file(&self, program: &str) -> String {
        self.around.join(program)
    }
}

/// Asks the programs under `prefix` for their manuals.
pub fn install(prefix: &Path) -> Outcome {
    for format in &FORMATS {
        let folder = prefix.join(format.folder);
        fs::create_dir_all(&folder)?;
        for (program, further_names) in PROGRAMS {
            let mut command = Command::new(prefix.join("bin").join(program));
            let output = command.arg(format!("--manual={}", format.name)).output()?;
            if !output.status.success() {
                return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)).into());
            }
            fs::write(folder.join(format.file(program)), output.stdout)?;
            // zsh reads from the file itself which programs it is for.
            for name in further_names.iter().filter(|_| format.name != "zsh") {
                link(&format.file(program), &folder.join(format.file(name)))?;
            }
        }
    }
    Ok(())
}

/// Has the programs that will read them read the manuals under `prefix`, as far as these are installed.
pub fn check(prefix: &Path) -> Outcome {
    for format in &FORMATS {
        for (program, _) in PROGRAMS {
            let path = prefix.join(format.folder).join(format.file(program));
            match format.name {
                "man" => roff(&path)?,
                "bash" => succeed(Command::new("bash").arg("-ec").args([BASH, "bash", program]).arg(&path))?,
                shell => parse(shell, &path)?,
            }
        }
    }
    Ok(())
}

/// Reads the completion of program `$1` from file `$2`, and completes the beginning of an option.
const BASH: &str = r#"
    source "$2"
    complete -p "$1" > /dev/null
    COMP_WORDS=("$1" -h) COMP_CWORD=1
    "_oxmpi_$1"
    [[ ${#COMPREPLY[@]} -gt 0 ]]
"#;

/// Formats a page; a warning is a failure.
fn roff(page: &Path) -> Outcome {
    let Ok(output) = Command::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(page).output() else {
        println!("groff is not installed: {} is not checked", page.display());
        return Ok(());
    };
    match output.status.success() && output.stderr.is_empty() {
        true => Ok(()),
        false => Err(format!("{}: {}", page.display(), String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Has a shell parse a file.
fn parse(shell: &str, file: &Path) -> Outcome {
    if Command::new(shell).arg("--version").output().is_err() {
        println!("{shell} is not installed: {} is not checked", file.display());
        return Ok(());
    }
    succeed(Command::new(shell).arg("-n").arg(file))
}
