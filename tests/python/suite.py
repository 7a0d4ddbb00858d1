"""mpi4py's own tests, from its source package, on as many ranks as the job has.

usage: suite.py FOLDER [--keep-going] [FILE ...]

FOLDER is the folder `test` of mpi4py's source. `suite.toml` says for each file there whether it is run, names with
their reasons the tests that are excused, and lists the reasons for which a test may skip itself. Whatever else fails
or is skipped ends the job, unless --keep-going is given. With FILEs, just these are run.
"""

import argparse
import fnmatch
import sys
import tomllib
import unittest
from collections import Counter
from pathlib import Path

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def say(text):
    print(text, file=sys.stderr, flush=True)


class Result(unittest.TestResult):
    """Prints a failure when it happens, for the other ranks may then wait for ever."""

    def __init__(self, skips, keep_going):
        super().__init__()
        self.skips, self.keep_going = skips, keep_going
        self.reasons = Counter()

    def complain(self, test, text):
        say(f"rank {rank} of {size}: {test.id()}: {text}")
        if not self.keep_going:
            comm.Abort(1)

    def addError(self, test, error):
        super().addError(test, error)
        self.complain(test, self.errors[-1][1])

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.complain(test, self.failures[-1][1])

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.complain(subtest, self._exc_info_to_string(error, test))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.complain(test, "succeeds, against what mpi4py expects")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.reasons[reason] += 1
        if not any(fnmatch.fnmatchcase(reason, pattern) for pattern in self.skips):
            self.errors.append((test, reason))
            self.complain(test, f"skips itself ({reason}), for which suite.toml has no reason")


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def check_files(folder, listed):
    """Every test file of mpi4py is listed, once."""
    found = {path.stem for path in folder.glob("test_*.py")}
    run, not_run = set(listed["run"]["files"]), set(listed["not_run"])
    problems = [f"{name}: not listed" for name in found - run - not_run]
    problems += [f"{name}: listed, and not there" for name in (run | not_run) - found]
    problems += [f"{name}: listed to be run and not to be run" for name in run & not_run]
    if problems:
        sys.exit("suite.toml: " + "; ".join(sorted(problems)))


def load(files, excuses):
    """The tests of these files, without those that are excused; and how many these are."""
    suite, excused, used = unittest.TestSuite(), 0, set()
    for test in tests_of(unittest.defaultTestLoader.loadTestsFromNames(files)):
        matching = [pattern for pattern in excuses if fnmatch.fnmatchcase(test.id(), pattern)]
        used.update(matching)
        excused += bool(matching)
        if not matching:
            suite.addTest(test)
    unused = [pattern for pattern in excuses if pattern not in used and pattern.partition(".")[0].rstrip("*") in files]
    if unused:
        sys.exit(f"suite.toml: excuses for nothing: {' '.join(unused)}")
    return suite, excused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep-going", action="store_true", help="go on after a failure")
    parser.add_argument("files", nargs="*")
    options = parser.parse_intermixed_args()
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    check_files(options.folder, listed)
    sys.path.insert(0, str(options.folder))
    suite, excused = load(options.files or listed["run"]["files"], listed["excused"])

    result = Result(listed["skips"], options.keep_going)
    suite.run(result)
    skipped = sum(result.reasons.values())
    if rank == 0:
        passed = result.testsRun - skipped - len(result.errors) - len(result.failures)
        reasons = ", ".join(f"{count} for {reason}" for reason, count in sorted(result.reasons.items()))
        say(f"mpi4py on {size} ranks: {passed} passed, {excused} excused, {skipped} skipped ({reasons})")
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
