"""Workers that mpi4py spawns, in numbers and ways that its own tests do not take: several, with and without pickles that
leave buffers out of band, one pool after the other and two at a time.

Run by run.sh under mpiexec on one rank, and without it.
"""

from array import array

from mpi4py.futures import MPIPoolExecutor

WORKERS = 3
TASKS = 20


def doubled(values):
    return array("d", (2 * value for value in values))


def check(pool):
    tasks = [array("d", range(10 * task)) for task in range(TASKS)]
    assert list(pool.map(doubled, tasks)) == [doubled(task) for task in tasks]


def main():
    for use_pkl5 in (False, True):
        with MPIPoolExecutor(WORKERS, use_pkl5=use_pkl5) as pool:
            assert pool.num_workers == WORKERS
            check(pool)
    with MPIPoolExecutor(WORKERS) as one, MPIPoolExecutor(1) as other:
        check(one)
        check(other)
    print("passed")


if __name__ == "__main__":
    main()
