//! What `oxmpi` says of itself.

use oxmpi_manual::{Dashes, Entry, FORMATS, Manual, Values};
use oxmpi_plan::Collective;

/// The program.
pub const OXMPI: Manual<'static> = Manual {
    names: &["oxmpi"],
    purpose: "Says what this installation of oxmpi is, and what it would do",
    usage: &["<command> [options]"],
    about: "`oxmpi <command> --help` says more about a command.",
    dashes: Dashes::Usual,
    options: &[
        HELP,
        Entry::new(&["version"], &[], "print the version"),
        Entry::new(&["manual"], &["FORMAT"], "print the manual page (man), or completion (bash, zsh, fish)")
            .completes(Values::Words(FORMATS)),
    ],
    operands: Values::None,
    commands: &[INFO, PLAN, TUNE],
    sections: &[],
};

const HELP: Entry = Entry::new(&["h", "help"], &[], "print this text");

/// `oxmpi info`.
pub const INFO: Manual<'static> = Manual {
    names: &["oxmpi info"],
    purpose: "Counts the functions of MPI that are built, by chapter of the standard",
    usage: &["[--functions] [--version]"],
    about: "",
    dashes: Dashes::Usual,
    options: &[
        Entry::new(&["functions"], &[], "name them all"),
        Entry::new(&["version"], &[], "print the version only"),
        HELP,
    ],
    operands: Values::None,
    commands: &[],
    sections: &[],
};

/// `oxmpi plan`.
pub const PLAN: Manual<'static> = Manual {
    names: &["oxmpi plan"],
    purpose: "Prints the steps by which ranks carry out a collective",
    usage: &[
        "COLLECTIVE -n RANKS [options]",
        "COLLECTIVE --groups RANKSxRANKS [options]",
        "simulate COLLECTIVE [-n RANKS] [options]",
    ],
    about: "With `simulate`, walks the plans of all ranks, up to a million, under a model of the machine, \
            and prints how long they take and what that is spent on, and what one of many in a row takes if \
            plans are short; without -n, what each algorithm takes among 2 to 2^20 ranks.",
    dashes: Dashes::Usual,
    options: &[
        Entry::new(&["n"], &["RANKS"], "ranks of the communicator"),
        Entry::new(
            &["groups"],
            &["3x4"],
            "ranks of the two groups of an intercommunicator, which are counted through",
        ),
        Entry::new(&["count"], &["N"], "elements of the vector, or of one rank's block (default 1)"),
        Entry::new(&["unit"], &["BYTES"], "bytes of an element (default 8)"),
        Entry::new(&["bytes"], &["BYTES"], "the same in bytes"),
        Entry::new(&["root"], &["R"], "the root, of a collective that has one (default 0)"),
        Entry::new(
            &["rank"],
            &["R"],
            "the plan of this rank, or of `all` (default: all, of more than 16 how the first 4 begin)",
        ),
        Entry::new(&["algorithm"], &["NAME"], "this algorithm instead of the one that would be taken"),
        Entry::new(
            &["algorithms"],
            &["TEXT"],
            "what OXMPI_ALGORITHMS is in the job; `@FILE` is the file it names there",
        ),
        Entry::new(&["in-place"], &[], "as with MPI_IN_PLACE"),
        Entry::new(&["ordered"], &[], "as with an operation that does not commute"),
        Entry::new(&["messages"], &[], "as if the ranks did not share memory"),
        Entry::new(&["ranks-per-node"], &["N"], "as if only so many, one after the other, shared memory"),
        Entry::new(
            &["map"],
            &["LIST"],
            "the node of each rank, like 0,1,1 or 0x4,1x8; with more ranks it begins anew; between nodes \
             is the network of --machine",
        ),
        Entry::new(
            &["why"],
            &[],
            "say what speaks for each algorithm, and what against it; plans only of what --rank names",
        ),
        Entry::new(
            &["cores"],
            &["N"],
            "cores that ranks of a node share, 0 if each has its own (default: those here, on one node)",
        ),
        Entry::new(
            &["machine"],
            &["FILE"],
            "predict by the constants of this machine, as a job does whose OXMPI_MACHINE it is (default: \
             usual ones, a fast fabric of 1.5 us between nodes; a job takes the costs of its own network)",
        )
        .completes(Values::Files),
        Entry::new(
            &["check"],
            &[],
            "also run the plans of all ranks symbolically, and say whether the result is right",
        ),
        Entry::new(
            &["goal"],
            &["FILE"],
            "with simulate, also write the plans in the language GOAL, which other simulators read",
        )
        .completes(Values::Files),
        Entry::new(&["svg"], &["FILE"], "also draw the plans of all ranks, or the table")
            .completes(Values::Files),
        HELP,
    ],
    operands: Values::Words(Collective::NAMES),
    commands: &[],
    sections: &[],
};

/// `oxmpi tune`.
pub const TUNE: Manual<'static> = Manual {
    names: &["oxmpi tune"],
    purpose: "Measures what hops, copies and messages cost on this machine, and prints it",
    usage: &["[-o FILE]"],
    about: "Takes some seconds, in which the machine should have nothing else to do.",
    dashes: Dashes::Usual,
    options: &[
        Entry::new(&["o", "output"], &["FILE"], "write the constants to this file").completes(Values::Files),
        HELP,
    ],
    operands: Values::None,
    commands: &[],
    sections: &[],
};
