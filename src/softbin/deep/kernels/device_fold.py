# mypy: ignore-errors
"""What runs on the GPU where a small table is folded into the first layer of a training step.

With hats H (rows, levels), two of a field's levels each,

    embeddings W' = H V,   V = blockdiag(table) W'        dV = H' dOut,   dW and dTable from dV, field by field

so neither embeddings nor their gradient exist. V is made once per step, from a few hundred rows. A table trained by its
steps (softbin/deep/steps.py) is added up on the way; a large one, which is not folded, by ``steps_kernel``.

In H and V every field begins at a multiple of four columns (``hat_start``), so that hats are written four at a time;
the table's own rows begin at ``level_start``, and up to ``summed`` they are sums of steps.
"""

import triton
import triton.language as tl

from softbin.deep.kernels.device import place, values_of


@triton.jit
def hats_kernel(
    rows, values, target, weight, y, w, hats, n_rows, level_start, hat_start, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    GATHERS: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """hats[i, :] = what row i gives to each level of the table, and y, w = target, weight of these rows.

    GATHERS: values are the whole table's, else those of the batch.
    """
    field = tl.program_id(0) % N_FIELDS
    i = tl.program_id(0) // N_FIELDS * BLOCK + tl.arange(0, BLOCK)
    there = i < n_rows
    row = tl.load(rows + i, mask=there, other=0)
    x = values_of(values, source, field, row if GATHERS else i, there, N_COLUMNS, VIEWS)
    lower, upper, lower_weight, upper_weight = place(
        x, field, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
        flat, linear, bounded, finite, strict, blank, void,
        CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
    )  # fmt: skip
    k = tl.arange(0, LEVELS)
    level = tl.load(level_start + field).to(tl.int32) + k
    found = tl.where(level[None, :] == lower[:, None], lower_weight[:, None], 0.0)
    if SOFT:
        found += tl.where(level[None, :] == upper[:, None], upper_weight[:, None], 0.0)
    # Why fours: the compiler must see that four neighbours share their fate to write them at once.
    first, end = tl.load(hat_start + field), tl.load(hat_start + field + 1)
    inside = there[:, None] & (k // 4 < end - first)[None, :]
    tl.store(hats + i[:, None] * STRIDE + (4 * first + k)[None, :], found.to(hats.dtype.element_ty), mask=inside)
    if field == 0:
        tl.store(y + i, tl.load(target + row, mask=there, other=0.0), mask=there)
        tl.store(w + i, tl.load(weight + row, mask=there, other=0.0), mask=there)


@triton.jit
def rows_of(table, level_start, summed, field, DIM: tl.constexpr, LEVELS: tl.constexpr, BLOCK_DIM: tl.constexpr):
    """The rows of a field (LEVELS, BLOCK_DIM), zero behind the last."""
    d = tl.arange(0, BLOCK_DIM)
    level = tl.load(level_start + field).to(tl.int32) + tl.arange(0, LEVELS)
    own = level < tl.load(level_start + field + 1)
    steps = tl.load(table + level[:, None] * DIM + d[None, :], mask=own[:, None] & (d < DIM)[None, :], other=0.0)
    return tl.where((level < tl.load(summed + field))[:, None], tl.cumsum(steps, 0), steps)


@triton.jit
def fold_kernel(
    table, matrix, folded, level_start, hat_start, summed,
    N_FIELDS: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr,
):  # fmt: skip
    """folded[n, level] = sum_d matrix[n, field, d] table[level, d]."""
    field = tl.program_id(0) % N_FIELDS
    n = tl.program_id(0) // N_FIELDS * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, BLOCK_DIM)
    rows = rows_of(table, level_start, summed, field, DIM, LEVELS, BLOCK_DIM)
    from_ = matrix + n[:, None] * (N_FIELDS * DIM) + field * DIM + d[None, :]
    weights = tl.load(from_, mask=(n < WIDTH)[:, None] & (d < DIM)[None, :], other=0.0)
    found = tl.dot(weights, tl.trans(rows), input_precision="ieee")
    first, end = tl.load(hat_start + field), tl.load(hat_start + field + 1)
    k = tl.arange(0, LEVELS)
    to = folded + n[:, None] * STRIDE + (4 * first + k)[None, :]
    tl.store(to, found.to(folded.dtype.element_ty), mask=(n < WIDTH)[:, None] & (k // 4 < end - first)[None, :])


@triton.jit
def unfold_matrix(
    dv, table, matrix_grad, level_start, hat_start, summed, field, first_n,
    N_FIELDS: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr,
):  # fmt: skip
    """From dV (WIDTH, levels) to some rows of the matrix' gradient at one field; their sum of squares."""
    n = first_n + tl.arange(0, BLOCK)
    d = tl.arange(0, BLOCK_DIM)
    g = gradients_of(dv, level_start, hat_start, field, n, WIDTH, STRIDE, LEVELS)
    found = tl.dot(g, rows_of(table, level_start, summed, field, DIM, LEVELS, BLOCK_DIM), input_precision="ieee")
    inside = (n < WIDTH)[:, None] & (d < DIM)[None, :]
    tl.store(matrix_grad + n[:, None] * (N_FIELDS * DIM) + field * DIM + d[None, :], found, mask=inside)
    return tl.sum(tl.sum(found * found, 1), 0)


@triton.jit
def unfold_table(
    dv, matrix, table_grad, level_start, hat_start, summed, field,
    N_FIELDS: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr,
):  # fmt: skip
    """From dV (WIDTH, levels) to one field's share of the table's gradient; its sum of squares."""
    d = tl.arange(0, BLOCK_DIM)
    found = tl.zeros((LEVELS, BLOCK_DIM), tl.float32)
    for first in range(0, WIDTH, BLOCK):
        n = first + tl.arange(0, BLOCK)
        g = gradients_of(dv, level_start, hat_start, field, n, WIDTH, STRIDE, LEVELS)
        at = n[:, None] * (N_FIELDS * DIM) + field * DIM + d[None, :]
        weights = tl.load(matrix + at, mask=(n < WIDTH)[:, None] & (d < DIM)[None, :], other=0.0)
        found = tl.dot(tl.trans(g), weights, found, input_precision="ieee")
    level = tl.load(level_start + field).to(tl.int32) + tl.arange(0, LEVELS)
    steps = (level < tl.load(summed + field))[:, None]
    found = tl.where(steps, tl.cumsum(tl.where(steps, found, 0.0), 0, reverse=True), found)
    real = (level < tl.load(level_start + field + 1))[:, None] & (d < DIM)[None, :]
    tl.store(table_grad + level[:, None] * DIM + d[None, :], found, mask=real)
    return tl.sum(tl.sum(tl.where(real, found * found, 0.0), 1), 0)


@triton.jit
def gradients_of(dv, level_start, hat_start, field, n, WIDTH: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr):
    """dV of one field, (rows n, LEVELS)."""
    k = tl.arange(0, LEVELS)
    own = k < tl.load(level_start + field + 1) - tl.load(level_start + field)
    from_ = dv + n[:, None] * STRIDE + (4 * tl.load(hat_start + field) + k)[None, :]
    return tl.load(from_, mask=(n < WIDTH)[:, None] & own[None, :], other=0.0)


@triton.jit
def steps_kernel(
    numbers, out, squares, level_start, summed, N_DIMS: tl.constexpr, DIM: tl.constexpr, REVERSE: tl.constexpr,
    BLOCK: tl.constexpr, DIMS: tl.constexpr,
):  # fmt: skip
    """Steps (levels, DIM) to rows, or (REVERSE) gradients of rows to those of steps, of one field and some numbers.

    And the sum of squares of what every program wrote.
    """
    field = tl.program_id(0) // N_DIMS
    d = tl.program_id(0) % N_DIMS * DIMS + tl.arange(0, DIMS)
    first, end = tl.load(level_start + field), tl.load(level_start + field + 1)
    behind = tl.load(summed + field)
    carry = tl.zeros((DIMS,), tl.float64)
    square = tl.zeros((BLOCK, DIMS), tl.float32)
    # Why stages: the next levels are on their way while these are added up.
    for done in tl.range(0, tl.cdiv(end - first, BLOCK) * BLOCK, BLOCK, num_stages=3):
        level = first + done + tl.arange(0, BLOCK)
        if REVERSE:
            level = end - 1 - done - tl.arange(0, BLOCK)
        own = ((level >= first) & (level < end))[:, None] & (d < DIM)[None, :]
        at = level[:, None] * DIM + d[None, :]
        found = tl.load(numbers + at, mask=own, other=0.0)
        steps = (level < behind)[:, None]
        added = tl.where(steps, found, 0.0).to(tl.float64)
        total = tl.cumsum(added, 0) + carry[None, :]
        found = tl.where(steps, total.to(tl.float32), found)
        tl.store(out + at, found, mask=own)
        square += tl.where(own, found * found, 0.0)
        carry += tl.sum(added, 0)
    tl.store(squares + tl.program_id(0), tl.sum(tl.sum(square, 1), 0))
