"""Heat spreads in an insulated rod, of which each rank has a part.

In each step a cell gives a quarter of its heat to each neighbour. The neighbours of a part's outermost cells lie on
other ranks: Sendrecv gets their heat. At the ends of the rod, where the neighbour is PROC_NULL, it leaves what is
there: the cell's own heat, so that none is lost.
"""

from array import array

from mpi4py import MPI

CELLS = 20
STEPS = 100

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
left = rank - 1 if rank > 0 else MPI.PROC_NULL
right = rank + 1 if rank < size - 1 else MPI.PROC_NULL

now = array("d", [0]) * CELLS
if rank == 0:
    now[0] = 100
for _ in range(STEPS):
    from_left, from_right = now[:1], now[-1:]
    world.Sendrecv(now[:1], left, recvbuf=from_right, source=right)
    world.Sendrecv(now[-1:], right, recvbuf=from_left, source=left)
    around = from_left + now + from_right
    now = array("d", (a / 4 + b / 2 + c / 4 for a, b, c in zip(around, around[1:], around[2:])))

own = sum(now)
total = world.reduce(own, MPI.SUM, 0)
if rank == 0:
    print(f"{size} ranks: heat {total:.6f} in all, {own:.6f} in the first part")
