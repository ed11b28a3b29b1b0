#include "tests/ptx/inside.h"
const struct op tensor_ops[] = {{NULL, T_NONE, 0, NULL}};
