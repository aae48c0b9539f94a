// What every kernel file needs to be compiled several times from one source.
#pragma once

#if defined(SOFTBIN_HAS_TARGET_CLONES)
// Why: AVX-512, AVX2 and baseline machine code from the same loops; the loader picks one. Contraction is
// off in the build, so all three give the same bits.
#define SOFTBIN_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SOFTBIN_CLONES
#endif

#if defined(__GNUC__) || defined(__clang__)
// Trap: a helper that is not inlined into the clone runs as baseline code.
#define SOFTBIN_INLINE static inline __attribute__((always_inline))
#define SOFTBIN_LAMBDA __attribute__((always_inline))
#else
#define SOFTBIN_INLINE static inline
#define SOFTBIN_LAMBDA
#endif
