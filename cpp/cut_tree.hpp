// Counting the cuts at or below a value, where there are many: a search tree whose nodes are one SIMD register wide.
//
// A leaf holds a register of cuts; a node above holds the first cut behind each of its children but the first. So one
// comparison of the value with a whole node says which child to go to, and at the leaf how many cuts there are still
// below: 16^3 = 4,096 cuts take three comparisons of float32, where bisection takes twelve. Empty places are NaN, which
// no value reaches. Only machines with AVX-512 build the tree; locate.hpp bisects elsewhere, with the same counts.
#pragma once

#include <cstdint>
#include <vector>

namespace softbin {

template <class T>
class CutTree {
public:
    static constexpr int width = 64 / sizeof(T);

    CutTree() = default;
    // No tree where the machine cannot search it.
    CutTree(const T* cuts, int32_t n_cuts);

    bool empty() const { return levels_.empty(); }
    // The number of cuts at or below each value; NaN counts none.
    void count(const T* x, int n, int32_t* found) const;

private:
    struct alignas(64) Node {
        T entry[width];
    };
    std::vector<std::vector<Node>> levels_;  // the root first, the leaves last
};

}  // namespace softbin
