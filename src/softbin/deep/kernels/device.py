# mypy: ignore-errors
"""What runs on the GPU: from raw values to rows and weights, to embeddings, and back to the table's gradient.

``place`` is Locate, for one value and one field at a time: bisection among the inner edges, the position inside the bin
in float64, then missing values, special codes and faults. Every kernel calls it again instead of storing its result:
reading a value and a few edges that sit in the cache is cheaper than two rows and two weights from memory.

How gradients stay the same from run to run (adding floats in whatever order threads arrive does not):

few levels    G_j = hats_j' dOut_j as a product of matrices in tensor cores; hats are made on the fly, one tile at a
              time. Each program sums its own rows in order; the programs' tables are then summed in order.
many levels   every contribution becomes a 64-bit integer, in units so small that nothing is lost beside float32 and so
              large that the sum of all cannot overflow; integers give the same sum in any order.
"""

import triton
import triton.language as tl


@triton.jit
def place(
    x, j, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
):  # fmt: skip
    """Lower and upper row, and their weights in float32, of values x in fields j."""
    low = tl.zeros_like(j)
    most = tl.load(last + j).to(tl.int32)
    high = most
    for _ in range(STEPS):
        middle = (low + high) // 2
        open_ = low < high
        cut = tl.load(cuts + j * CUTS + middle, mask=open_, other=0.0)
        right = open_ & (cut <= x)
        high = tl.where(open_ & ~right, middle, high)
        low = tl.where(right, middle + 1, low)
    # Why: NaN is never behind a cut here but behind all of them in torch; its position does not matter.
    position = tl.load(start + j).to(tl.int32) + low
    missing = x != x
    alone = tl.where(missing, tl.load(missing_row + j).to(tl.int32), -1)
    for s in tl.static_range(CODES):
        code = tl.load(special + j * CODES + s).to(x.dtype)
        own = tl.load(special_row + j * CODES + s).to(tl.int32)
        alone = tl.where((x == code) & (tl.abs(code) < float("inf")), own, alone)
    lower = tl.load(lower_row + position).to(tl.int32)
    lower = tl.where(alone >= 0, alone, lower)
    exact = x.to(tl.float64)
    if SOFT:
        fraction = (exact - tl.load(left + position)) / tl.load(width + position)
        inside = tl.where(fraction < 0, 0.0, tl.where(fraction > 1, 1.0, fraction))
        if LINEAR:
            inside = tl.where(tl.load(linear + j) != 0, fraction, inside)
        if FLAT:
            inside = tl.where(tl.load(flat + j) != 0, 0.0, inside)
        upper = tl.load(upper_row + position).to(tl.int32)
        upper = tl.where(alone >= 0, alone, upper)
        upper_weight = tl.where(alone >= 0, 0.0, inside.to(tl.float32))
        lower_weight = 1.0 - upper_weight
    else:
        upper = lower
        lower_weight = tl.where(missing, 1.0, tl.full(x.shape, 1.0, tl.float32))
        upper_weight = tl.zeros_like(lower_weight)
    ordinary = (alone < 0) & ~missing
    nothing = ordinary & ~ordinary
    trouble = nothing
    if BLANK:
        nothing = nothing | (missing & (tl.load(blank + j) != 0))
    if VOID:
        nothing = nothing | (ordinary & (tl.load(void + j) != 0))
    if STRICT:
        trouble = trouble | (missing & (tl.load(strict + j) != 0))
    if BOUNDED:
        beyond = (exact < tl.load(ends + 2 * j)) | (exact > tl.load(ends + 2 * j + 1))
        trouble = trouble | (ordinary & beyond & (tl.load(bounded + j) != 0))
    if FINITE:
        trouble = trouble | ((tl.abs(x) == float("inf")) & (tl.load(finite + j) != 0))
    lower_weight = tl.where(nothing, 0.0, lower_weight)
    upper_weight = tl.where(nothing, 0.0, upper_weight)
    lower_weight = tl.where(trouble, float("nan"), lower_weight)
    upper_weight = tl.where(trouble, float("nan"), upper_weight)
    return lower, upper, lower_weight, upper_weight


@triton.jit
def value_of(values, source, n, there, N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr):
    """Values and fields of places n in the (batch, fields) matrix of values."""
    j = n % N_FIELDS
    if VIEWS:
        at = (n // N_FIELDS).to(tl.int64) * N_COLUMNS + tl.load(source + j)
    else:
        at = n
    return tl.load(values + at, mask=there, other=0.0), j


@triton.jit
def forward_kernel(
    values, table, out, n_values, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr,
):  # fmt: skip
    """out[n, :] = lower weight * table[lower row] + upper weight * table[upper row]."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.program_id(1) * BLOCK_DIM + tl.arange(0, BLOCK_DIM)
    there = n < n_values
    x, j = value_of(values, source, n, there, N_FIELDS, N_COLUMNS, VIEWS)
    lower, upper, lower_weight, upper_weight = place(
        x, j, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
        flat, linear, bounded, finite, strict, blank, void,
        CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
    )  # fmt: skip
    inside = there[:, None] & (d < DIM)[None, :]
    rows = tl.load(table + lower.to(tl.int64)[:, None] * DIM + d[None, :], mask=inside, other=0.0).to(tl.float32)
    found = lower_weight[:, None] * rows
    if SOFT:
        rows = tl.load(table + upper.to(tl.int64)[:, None] * DIM + d[None, :], mask=inside, other=0.0).to(tl.float32)
        found += upper_weight[:, None] * rows
    tl.store(out + n.to(tl.int64)[:, None] * DIM + d[None, :], found.to(out.dtype.element_ty), mask=inside)


@triton.jit
def few_levels_kernel(
    grad, values, parts, n_rows, n_levels, rows_each, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr, LEVELS: tl.constexpr,
):  # fmt: skip
    """parts[p, levels of field j, :]: the gradient from the rows of program p."""
    field = tl.program_id(0)
    part = tl.program_id(1)
    d = tl.program_id(2) * BLOCK_DIM + tl.arange(0, BLOCK_DIM)
    end = tl.load(start + field) + tl.load(last + field)
    bottom = tl.load(lower_row + tl.load(start + field))
    top = tl.maximum(tl.load(lower_row + end), tl.load(upper_row + end))
    if VOID:
        is_void = tl.load(void + field) != 0
        bottom = tl.where(is_void, n_levels, bottom)
        top = tl.where(is_void, -1, top)
    own = tl.load(missing_row + field)
    top = tl.maximum(top, own)
    bottom = tl.where(own >= 0, tl.minimum(bottom, own), bottom)
    for s in tl.static_range(CODES):
        code = tl.load(special + field * CODES + s)
        own = tl.where(code == code, tl.load(special_row + field * CODES + s), -1)
        top = tl.maximum(top, own)
        bottom = tl.where(own >= 0, tl.minimum(bottom, own), bottom)
    level = bottom.to(tl.int32) + tl.arange(0, LEVELS)
    found = tl.zeros((LEVELS, BLOCK_DIM), tl.float32)
    first = part * rows_each
    behind = tl.minimum(first + rows_each, n_rows)
    column = field
    if VIEWS:
        column = tl.load(source + field).to(tl.int32)
    for at in range(first, behind, BLOCK):
        row = at + tl.arange(0, BLOCK)
        there = row < behind
        x = tl.load(values + row.to(tl.int64) * N_COLUMNS + column, mask=there, other=0.0)
        lower, upper, lower_weight, upper_weight = place(
            x, tl.zeros_like(row) + field, cuts, left, width, start, last, lower_row, upper_row, missing_row,
            special_row, special, ends, flat, linear, bounded, finite, strict, blank, void,
            CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
        )  # fmt: skip
        lower = tl.where(there, lower, -1)
        upper = tl.where(there, upper, -1)
        from_ = (row.to(tl.int64)[:, None] * N_FIELDS + field) * DIM + d[None, :]
        g = tl.load(grad + from_, mask=there[:, None] & (d < DIM)[None, :], other=0.0)
        hats = tl.where(level[:, None] == lower[None, :], lower_weight[None, :], 0.0)
        if SOFT:
            hats += tl.where(level[:, None] == upper[None, :], upper_weight[None, :], 0.0)
        if grad.dtype.element_ty == tl.float32:
            found = tl.dot(hats, g, found, input_precision="ieee")
        else:
            # Why twice: a weight in half precision, and what the first copy of it leaves out.
            rough = hats.to(g.dtype)
            found = tl.dot(rough, g, found)
            found = tl.dot((hats - rough.to(tl.float32)).to(g.dtype), g, found)
    to = parts + part.to(tl.int64) * n_levels * DIM + level.to(tl.int64)[:, None] * DIM + d[None, :]
    tl.store(to, found, mask=(level <= top)[:, None] & (d < DIM)[None, :])


@triton.jit
def sum_parts_kernel(parts, out, n_parts, n_numbers, BLOCK: tl.constexpr):
    """out = the parts' sum, one after the other."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    found = tl.zeros((BLOCK,), tl.float32)
    for part in range(n_parts):
        found += tl.load(parts + part * n_numbers + at, mask=at < n_numbers, other=0.0)
    tl.store(out + at, found.to(out.dtype.element_ty), mask=at < n_numbers)


@triton.jit
def largest_kernel(
    grad, values, largest, n_values, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr,
):  # fmt: skip
    """The largest contribution's bits: positive floats are in the order of their bits, NaN behind infinity."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.program_id(1) * BLOCK_DIM + tl.arange(0, BLOCK_DIM)
    there = n < n_values
    x, j = value_of(values, source, n, there, N_FIELDS, N_COLUMNS, VIEWS)
    lower, upper, lower_weight, upper_weight = place(
        x, j, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
        flat, linear, bounded, finite, strict, blank, void,
        CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
    )  # fmt: skip
    inside = there[:, None] & (d < DIM)[None, :]
    g = tl.load(grad + n.to(tl.int64)[:, None] * DIM + d[None, :], mask=inside, other=0.0).to(tl.float32)
    weight = tl.abs(lower_weight) + tl.abs(upper_weight)
    bits = tl.abs(weight[:, None] * g).to(tl.int32, bitcast=True)
    bits = tl.where(inside, bits, 0)
    tl.atomic_max(largest, tl.max(tl.max(bits, 1), 0))


@triton.jit
def unit_of(largest, HEADROOM: tl.constexpr):
    """How many units are one: a power of two, so that the largest contribution is just below 2^(62 - HEADROOM)."""
    exponent = (tl.load(largest) >> 23).to(tl.int64) - 126
    return ((62 - HEADROOM - exponent + 1023) << 52).to(tl.float64, bitcast=True)


@triton.jit
def many_levels_kernel(
    grad, values, largest, sums, n_values, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr, HEADROOM: tl.constexpr,
):  # fmt: skip
    """Adds every contribution, in units, to the 64-bit sums of its row."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.program_id(1) * BLOCK_DIM + tl.arange(0, BLOCK_DIM)
    there = n < n_values
    x, j = value_of(values, source, n, there, N_FIELDS, N_COLUMNS, VIEWS)
    lower, upper, lower_weight, upper_weight = place(
        x, j, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
        flat, linear, bounded, finite, strict, blank, void,
        CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
    )  # fmt: skip
    unit = unit_of(largest, HEADROOM)
    inside = there[:, None] & (d < DIM)[None, :]
    g = tl.load(grad + n.to(tl.int64)[:, None] * DIM + d[None, :], mask=inside, other=0.0).to(tl.float32)
    ours = ((lower_weight[:, None] * g).to(tl.float64) * unit).to(tl.int64)
    tl.atomic_add(sums + lower.to(tl.int64)[:, None] * DIM + d[None, :], ours, mask=inside & (ours != 0), sem="relaxed")
    if SOFT:
        ours = ((upper_weight[:, None] * g).to(tl.float64) * unit).to(tl.int64)
        to = sums + upper.to(tl.int64)[:, None] * DIM + d[None, :]
        tl.atomic_add(to, ours, mask=inside & (ours != 0), sem="relaxed")


@triton.jit
def from_units_kernel(sums, largest, out, n_numbers, HEADROOM: tl.constexpr, BLOCK: tl.constexpr):
    """Sums in units as floats; NaN where a contribution was not finite."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    found = tl.load(sums + at, mask=at < n_numbers, other=0).to(tl.float64) / unit_of(largest, HEADROOM)
    found = tl.where(tl.load(largest) >= 0x7F800000, float("nan"), found.to(tl.float32))
    tl.store(out + at, found.to(out.dtype.element_ty), mask=at < n_numbers)
