#include "tests/ptx/inside.h"
const struct op bulk_ops[] = {{NULL, T_NONE, 0, NULL}};
bool land_some(struct cluster *c, bool must) {
    (void)c;
    (void)must;
    return false;
}
void check_flights_at_end(struct thread *t, const struct ins *ins) {
    (void)t;
    (void)ins;
}
