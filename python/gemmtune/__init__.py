from ._matmul import matmul
