// m, n, k, whether A and B are transposed
std::vector<std::tuple<int, int, int, bool, bool>> training_set = {
    std::make_tuple(1760, 16, 1760, false, false),
    std::make_tuple(2048, 7133, 1024, false, true),
    // std::make_tuple(1, 2, 3, false, false),
    std::make_tuple(35, 8457, 2560, true, false)
};
std::vector<std::tuple<int, int, int, bool, bool, float>> sparse_set = {
    std::make_tuple(7680, 1, 2560, false, false, 0.95)
};
