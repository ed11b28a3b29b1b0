#include "tests/ptx/inside.h"
const struct op wgmma_ops[] = {{NULL, T_NONE, 0, NULL}};
