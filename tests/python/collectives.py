"""Collective and point-to-point communication from Python, in all three lifetimes.

Run by run.sh on several numbers of ranks. Every function named check_* asserts what the standard says of one kind
of call; a failed assertion ends the job. Data are of the standard library's array type, so that nothing but mpi4py
is needed.
"""

import sys
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
ranks = range(size)


def ints(values):
    return array("i", values)


def zeros(count):
    return ints([0] * count)


def check_environment():
    assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
    assert comm.Get_attr(MPI.TAG_UB) >= 32767
    assert MPI.Get_library_version()
    assert comm.topology == MPI.UNDEFINED and not comm.is_inter


def check_pickled_messages():
    right, left = (rank + 1) % size, (rank - 1) % size
    request = comm.isend({"from": rank, "data": list(range(1000))}, right, tag=7)
    message = comm.recv(source=left, tag=7)
    request.wait()
    assert message == {"from": left, "data": list(range(1000))}
    assert comm.sendrecv(rank, dest=right, source=left) == left
    request = comm.irecv(source=left, tag=2)
    comm.ssend("x" * 10_000, right, tag=2)
    assert request.wait() == "x" * 10_000
    status = MPI.Status()
    request = comm.isend([rank] * 100_000, right, tag=3)
    assert comm.recv(tag=3, status=status) == [left] * 100_000
    assert (status.Get_source(), status.Get_tag()) == (left, 3)
    request.wait()


def check_pickled_collectives():
    for root in ranks:
        assert comm.bcast({"root": rank} if rank == root else None, root) == {"root": root}
        assert comm.gather("r" * rank, root) == (["r" * r for r in ranks] if rank == root else None)
        parts = [list(range(r)) for r in ranks] if rank == root else None
        assert comm.scatter(parts, root) == list(range(rank))
        total = comm.reduce(rank + 1, op=MPI.SUM, root=root)
        assert total == (size * (size + 1) // 2 if rank == root else None)
    assert comm.allgather((rank, "x")) == [(r, "x") for r in ranks]
    assert comm.alltoall([(rank, r) for r in ranks]) == [(r, rank) for r in ranks]
    assert comm.allreduce([rank], op=MPI.SUM) == list(ranks)
    assert comm.allreduce(rank, op=MPI.MAX) == size - 1
    assert comm.scan(1) == rank + 1


class Exchange:
    """One collective on buffers: how it is called, what goes in and what must come out.

    `call` names the method; `arguments` are those after it. `fill` writes this rank's contribution for a round,
    `expected` is what `result` must hold afterwards.
    """

    def __init__(self, call, arguments, result, fill, expected):
        self.call, self.arguments, self.result = call, arguments, result
        self.fill, self.expected = fill, expected

    def check(self, round_):
        expected = self.expected(round_)
        assert expected is None or list(self.result) == expected, (self.call, round_, rank, self.result)

    def blocking(self):
        for round_ in range(2):
            self.fill(round_)
            getattr(comm, self.call)(*self.arguments)
            self.check(round_)

    def nonblocking(self):
        for round_ in range(2):
            self.fill(round_)
            getattr(comm, "I" + self.call.lower())(*self.arguments).Wait()
            self.check(round_)

    def persistent(self):
        request = getattr(comm, self.call + "_init")(*self.arguments)
        for round_ in range(5):
            self.fill(round_)
            request.Start()
            request.Wait()
            self.check(round_)
        request.Free()


def exchanges(count):
    """The eight collectives, each on `count` integers of every rank."""
    yield Exchange("Barrier", [], [], lambda _: None, lambda _: None)
    for root in {0, size - 1}:
        yield bcast(count, root)
        yield reduction("Reduce", count, [MPI.SUM, root], rank == root)
        yield gather("Gather", count, [root], rank == root)
        yield scatter(count, root)
    yield reduction("Allreduce", count, [MPI.SUM], True)
    yield gather("Allgather", count, [], True)
    yield alltoall(count)


def bcast(count, root):
    data = zeros(count)

    def fill(round_):
        data[:] = ints([round_ + i if rank == root else -1 for i in range(count)])

    return Exchange("Bcast", [data, root], data, fill, lambda round_: [round_ + i for i in range(count)])


def reduction(call, count, more, is_root):
    data, result = zeros(count), zeros(count)

    def fill(round_):
        data[:] = ints([(rank + 1) * (round_ + i) for i in range(count)])

    def expected(round_):
        return [size * (size + 1) // 2 * (round_ + i) for i in range(count)] if is_root else None

    return Exchange(call, [data, result, *more], result, fill, expected)


def gather(call, count, more, is_root):
    data, result = zeros(count), zeros(count * size)

    def fill(round_):
        data[:] = ints([100 * rank + round_ + i for i in range(count)])

    def expected(round_):
        return [100 * r + round_ + i for r in ranks for i in range(count)] if is_root else None

    return Exchange(call, [data, result, *more], result, fill, expected)


def scatter(count, root):
    data, result = zeros(count * size), zeros(count)

    def fill(round_):
        data[:] = ints([100 * r + round_ + i for r in ranks for i in range(count)])

    def expected(round_):
        return [100 * rank + round_ + i for i in range(count)]

    return Exchange("Scatter", [data, result, root], result, fill, expected)


def alltoall(count):
    data, result = zeros(count * size), zeros(count * size)

    def fill(round_):
        data[:] = ints([100 * rank + 10 * r + round_ + i for r in ranks for i in range(count)])

    def expected(round_):
        return [100 * r + 10 * rank + round_ + i for r in ranks for i in range(count)]

    return Exchange("Alltoall", [data, result], result, fill, expected)


def check_buffer_collectives():
    for count in (1, 3, 1000, 20_000):
        for exchange in exchanges(count):
            exchange.blocking()
            exchange.nonblocking()
            exchange.persistent()


def check_many_at_once():
    """Requests of both lifetimes, started together and completed in another order."""
    data = [ints([rank, i]) for i in range(50)]
    results = [zeros(2) for _ in data]
    persistent = [comm.Allreduce_init(d, r) for d, r in zip(data[::2], results[::2])]
    order = persistent if rank % 2 else persistent[::-1]
    for request in order:
        request.Start()
    others = [comm.Iallreduce(d, r) for d, r in zip(data[1::2], results[1::2])]
    MPI.Request.Waitall(others[::-1] + persistent)
    for i, result in enumerate(results):
        assert list(result) == [sum(ranks), size * i], (i, result)
    for request in persistent:
        request.Free()


def check_in_place():
    data = ints([rank, 1])
    comm.Allreduce(MPI.IN_PLACE, data)
    assert list(data) == [sum(ranks), size]
    request = comm.Allreduce_init(MPI.IN_PLACE, data, MPI.MAX)
    for round_ in range(3):
        data[:] = ints([rank + round_, -rank])
        request.Start()
        request.Wait()
        assert list(data) == [size - 1 + round_, 0]
    request.Free()


def check_user_operation():
    """The composition of x -> a*x + b is not commutative: the order must be that of the ranks."""

    def compose(left, right, datatype):
        assert datatype == pair
        left, right = memoryview(left).cast("i"), memoryview(right).cast("i")
        for i in range(0, len(right), 2):
            (a, b), (c, d) = left[i : i + 2], right[i : i + 2]
            right[i], right[i + 1] = a * c % 1009, (b * c + d) % 1009

    pair = MPI.INT.Create_contiguous(2).Commit()
    operation = MPI.Op.Create(compose, commute=False)
    a, b = 1, 0
    for r in ranks:
        a, b = a * (r + 2) % 1009, (b * (r + 2) + r) % 1009
    data, result = ints([rank + 2, rank] * 3), zeros(6)
    comm.Allreduce([data, 3, pair], [result, 3, pair], operation)
    assert list(result) == [a, b] * 3, (list(result), a, b)
    request = comm.Allreduce_init([data, 3, pair], [result, 3, pair], operation)
    for _ in range(3):
        result[:] = zeros(6)
        request.Start()
        request.Wait()
        assert list(result) == [a, b] * 3
    request.Free()
    operation.Free()
    pair.Free()


def check_columns():
    """Columns of a matrix, by a vector datatype: sent as they lie, received as rows."""
    column = MPI.INT.Create_vector(4, 1, 3).Create_resized(0, 4).Commit()
    matrix, rows = ints(range(12)), zeros(12)
    right, left = (rank + 1) % size, (rank - 1) % size
    comm.Sendrecv([matrix, 3, column], right, 0, [rows, 12, MPI.INT], left, 0)
    assert list(rows) == [row * 3 + col for col in range(3) for row in range(4)]
    column.Free()


def check_persistent_messages():
    right, left = (rank + 1) % size, (rank - 1) % size
    data, result = zeros(10), zeros(10)
    requests = [comm.Recv_init(result, left, 5), comm.Send_init(data, right, 5)]
    for round_ in range(10):
        data[:] = ints([rank + round_] * 10)
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        assert list(result) == [left + round_] * 10
    for request in requests:
        request.Free()


def check_communicators():
    half = comm.Split(color=rank % 2, key=-rank)
    assert half.Get_size() == len(ranks[rank % 2 :: 2])
    assert half.allgather(rank) == sorted(ranks[rank % 2 :: 2], reverse=True)
    half.Free()
    copied = []
    keyval = MPI.Comm.Create_keyval(copy_fn=lambda comm, key, value: copied.append(value) or value)
    comm.Set_attr(keyval, "attribute")
    duplicate = comm.Dup()
    assert copied == ["attribute"] and duplicate.Get_attr(keyval) == "attribute"
    duplicate.Free()
    comm.Delete_attr(keyval)
    MPI.Comm.Free_keyval(keyval)


def check_errors():
    try:
        comm.Send(ints([1]), size + 5)
    except MPI.Exception as error:
        assert error.Get_error_class() == MPI.ERR_RANK
    else:
        raise AssertionError("a rank beyond the communicator is an error")


def main():
    checks = [check for name, check in globals().items() if name.startswith("check_")]
    for check in checks:
        check()
        comm.Barrier()
    if rank == 0:
        print(f"{len(checks)} checks on {size} ranks passed", flush=True)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        comm.Abort(1)
