/* What libfabric is told by those who have started this process, or by itself: it connects only who has been told the
   same. MPI-5.0: Process Initialization, Independent Process Establishment. */
#include "check.h"

int main(int argc, char **argv) {
    const char *told;
    begin(&argc, &argv);
    told = getenv("FI_OFI_RXM_EAGER_LIMIT");
    printf("%s\n", told == NULL ? "nothing" : told);
    return end();
}
