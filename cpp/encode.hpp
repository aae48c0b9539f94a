// The encodings of a run of rows. Rows of CSR output have a fixed number of entries, so that every block
// of rows can be written on its own: hats two per column (one where the column has a single level), one-hot
// one per column; entries that carry nothing are stored zeros.
#pragma once

#include "plan.hpp"

namespace softbin {

#define DECLARE_CSR(T, F, I)                                                                   \
    void hat_csr(const Plan&, const Values<T>*, int64_t n_rows, I* indices, F* data, Faults*); \
    void one_hot_csr(const Plan&, const Values<T>*, int64_t n_rows, I* indices, F* data, Faults*);
#define DECLARE_DENSE(T, F)                                                        \
    void hat_dense(const Plan&, const Values<T>*, int64_t n_rows, F* out, Faults*); \
    void one_hot_dense(const Plan&, const Values<T>*, int64_t n_rows, F* out, Faults*);
#define DECLARE_CODES(T, C) \
    void codes(const Plan&, const Values<T>*, int64_t n_rows, C* codes, float* fractions, Faults*);
#define DECLARE_ALL(T)             \
    DECLARE_CSR(T, float, int32_t)  \
    DECLARE_CSR(T, float, int64_t)  \
    DECLARE_CSR(T, double, int32_t) \
    DECLARE_CSR(T, double, int64_t) \
    DECLARE_DENSE(T, float)        \
    DECLARE_DENSE(T, double)       \
    DECLARE_CODES(T, uint8_t)      \
    DECLARE_CODES(T, uint16_t)     \
    DECLARE_CODES(T, uint32_t)

DECLARE_ALL(float)
DECLARE_ALL(double)

#undef DECLARE_CSR
#undef DECLARE_DENSE
#undef DECLARE_CODES
#undef DECLARE_ALL

}  // namespace softbin
