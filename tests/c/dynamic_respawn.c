/* Who spawns and disconnects, again and again, keeps nothing of it, and neither does its launcher: `dynamic_respawn ROUNDS`.
   MPI-5.0: The Dynamic Process Model, Releasing Connections. */
#include "held.h"
#include "spawned.h"

enum { CHILDREN = 2 };

int main(int argc, char **argv) {
    Held before = {0, 0, 0}, before_there = {0, 0, 0};
    char launcher[16];
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    if (parent != MPI_COMM_NULL) {
        greet_all(parent, 1);
        return leave_parent();
    }
    CHECK(argc == 2, "there is one argument");
    int rounds = atoi(argv[1]);
    snprintf(launcher, sizeof launcher, "%d", (int)getppid());
    for (int round = 0; round < rounds; round++) {
        MPI_Comm inter;
        OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, round % size, MPI_COMM_WORLD, &inter,
                          MPI_ERRCODES_IGNORE));
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        greet_all(inter, 0);
        OK(MPI_Comm_disconnect(&inter));
        if (round == rounds / 4) {
            before = held_by("self");
            before_there = held_by(launcher);
        }
    }
    check_held("self", before);
    if (rank == 0)
        check_held(launcher, before_there);
    return end();
}
