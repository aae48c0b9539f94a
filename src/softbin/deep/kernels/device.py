# mypy: ignore-errors
"""What runs on the GPU: from raw values to rows and weights, to embeddings, and back to the table's gradient.

``place`` is Locate, for one value and one field at a time: bisection among the inner edges, the position inside the bin
in float64, then missing values, special codes and faults. Every kernel calls it again instead of storing its result:
reading a value and a few edges that sit in the cache is cheaper than two rows and two weights from memory.

A program works on some rows of one field. Why: neighbouring threads then search the same few cache lines; with all
fields of a row side by side every load touched a line per thread, and the forward pass took three times as long.

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
    """Lower and upper row, and their weights in float32, of values x in field j."""
    first = tl.load(start + j).to(tl.int32)
    most = tl.load(last + j).to(tl.int32)
    low = tl.zeros(x.shape, tl.int32)
    high = low + most
    for _ in range(STEPS):
        middle = (low + high) >> 1
        open_ = low < high
        cut = tl.load(cuts + j * CUTS + middle, mask=open_, other=0.0)
        right = open_ & (cut <= x)
        high = tl.where(open_ & ~right, middle, high)
        low = tl.where(right, middle + 1, low)
    # Why: NaN is never behind a cut here but behind all of them in torch; its position does not matter.
    missing = x != x
    alone = tl.where(missing, tl.load(missing_row + j).to(tl.int32), -1)
    for s in tl.static_range(CODES):
        code = tl.load(special + j * CODES + s).to(x.dtype)
        own = tl.load(special_row + j * CODES + s).to(tl.int32)
        alone = tl.where((x == code) & (x < float("inf")) & (x > -float("inf")), own, alone)
    # The rows of a field's bins follow each other; only behind the last bin a circle goes back to its first row.
    lower = tl.load(lower_row + first).to(tl.int32) + low
    lower = tl.where(alone >= 0, alone, lower)
    exact = x.to(tl.float64)
    if SOFT:
        fraction = (exact - tl.load(left + first + low)) / tl.load(width + first + low)
        inside = tl.where(fraction < 0, 0.0, tl.where(fraction > 1, 1.0, fraction))
        if LINEAR:
            inside = tl.where(tl.load(linear + j) != 0, fraction, inside)
        if FLAT:
            inside = tl.where(tl.load(flat + j) != 0, 0.0, inside)
        upper = tl.where(low == most, tl.load(upper_row + first + most).to(tl.int32), lower + 1)
        upper = tl.where(alone >= 0, alone, upper)
        upper_weight = tl.where(alone >= 0, 0.0, inside.to(tl.float32))
        lower_weight = 1.0 - upper_weight
    else:
        upper = lower
        lower_weight = tl.full(x.shape, 1.0, tl.float32)
        upper_weight = tl.zeros(x.shape, tl.float32)
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
def values_of(values, source, field, row, there, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr):
    """The values of a field in some rows."""
    column = field
    if VIEWS:
        column = tl.load(source + field).to(tl.int32)
    return tl.load(values + row.to(tl.int64) * N_COLUMNS + column, mask=there, other=0.0)


@triton.jit
def forward_kernel(
    values, table, out, n_rows, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr, PLACES: tl.constexpr,
):  # fmt: skip
    """out[row, field, :] = lower weight * table[lower row] + upper weight * table[upper row]."""
    field = tl.program_id(0) % N_FIELDS
    row = tl.program_id(0) // N_FIELDS * BLOCK + tl.arange(0, BLOCK)
    d = tl.program_id(1) * BLOCK_DIM + tl.arange(0, BLOCK_DIM)
    there = row < n_rows
    x = values_of(values, source, field, row, there, N_COLUMNS, VIEWS)
    lower, upper, lower_weight, upper_weight = place(
        x, field, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
        flat, linear, bounded, finite, strict, blank, void,
        CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
    )  # fmt: skip
    inside = there[:, None] & (d < DIM)[None, :]
    rows = tl.load(table + lower.to(PLACES)[:, None] * DIM + d[None, :], mask=inside, other=0.0).to(tl.float32)
    found = lower_weight[:, None] * rows
    if SOFT:
        rows = tl.load(table + upper.to(PLACES)[:, None] * DIM + d[None, :], mask=inside, other=0.0).to(tl.float32)
        found += upper_weight[:, None] * rows
    to = (row.to(PLACES)[:, None] * N_FIELDS + field) * DIM + d[None, :]
    tl.store(out + to, found.to(out.dtype.element_ty), mask=inside)


@triton.jit
def few_levels_kernel(
    grad, values, parts, n_rows, n_levels, rows_each, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr, PLACES: tl.constexpr, LEVELS: tl.constexpr,
):  # fmt: skip
    """parts[p, levels of field j, :]: the gradient from the rows of program p."""
    field = tl.program_id(0) % N_FIELDS
    part = tl.program_id(0) // N_FIELDS
    d = tl.program_id(1) * BLOCK_DIM + tl.arange(0, BLOCK_DIM)
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
    behind = tl.minimum(part * rows_each + rows_each, n_rows)
    for at in range(part * rows_each, behind, BLOCK):
        row = at + tl.arange(0, BLOCK)
        there = row < behind
        from_ = (row.to(PLACES)[:, None] * N_FIELDS + field) * DIM + d[None, :]
        g = tl.load(grad + from_, mask=there[:, None] & (d < DIM)[None, :], other=0.0)
        x = values_of(values, source, field, row, there, N_COLUMNS, VIEWS)
        lower, upper, lower_weight, upper_weight = place(
            x, field, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
            flat, linear, bounded, finite, strict, blank, void,
            CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
        )  # fmt: skip
        lower = tl.where(there, lower, -1)
        upper = tl.where(there, upper, -1)
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
def sum_parts_kernel(parts, out, n_parts, n_numbers, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    """out = the sum of the parts, always in the same order."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < n_numbers
    found = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n_parts, PARTS):
        part = first + tl.arange(0, PARTS)
        from_ = parts + part.to(tl.int64)[:, None] * n_numbers + at[None, :]
        found += tl.sum(tl.load(from_, mask=(part < n_parts)[:, None] & there[None, :], other=0.0), 0)
    tl.store(out + at, found.to(out.dtype.element_ty), mask=there)


@triton.jit
def largest_kernel(grad, largest, n_numbers, BLOCK: tl.constexpr):
    """The largest gradient's bits: positive floats are in the order of their bits, infinity and NaN last."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(grad + at, mask=at < n_numbers, other=0.0).to(tl.float32)
    tl.atomic_max(largest, tl.max(tl.abs(g).to(tl.int32, bitcast=True), 0), sem="relaxed")


@triton.jit
def largest_weight_kernel(
    values, largest, n_rows, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The largest weight's bits. Only where a column goes on along its slope can it be above one."""
    field = tl.program_id(0) % N_FIELDS
    row = tl.program_id(0) // N_FIELDS * BLOCK + tl.arange(0, BLOCK)
    there = row < n_rows
    x = values_of(values, source, field, row, there, N_COLUMNS, VIEWS)
    _, _, lower_weight, upper_weight = place(
        x, field, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
        flat, linear, bounded, finite, strict, blank, void,
        CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
    )  # fmt: skip
    weight = tl.abs(lower_weight) + tl.abs(upper_weight)
    bits = tl.where(there & (weight == weight), weight.to(tl.int32, bitcast=True), 0)
    tl.atomic_max(largest + 1, tl.max(bits, 0), sem="relaxed")


@triton.jit
def unit_of(largest, HEADROOM: tl.constexpr):
    """How many units are one: a power of two, so that the largest contribution is just below 2^(62 - HEADROOM)."""
    exponent = (tl.load(largest) >> 23) - 126 + (tl.load(largest + 1) >> 23) - 126
    return ((62 - HEADROOM - exponent.to(tl.int64) + 1023) << 52).to(tl.float64, bitcast=True)


@triton.jit
def many_levels_kernel(
    grad, values, largest, sums, n_rows, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr, PLACES: tl.constexpr, HEADROOM: tl.constexpr,
):  # fmt: skip
    """Adds every contribution, in units, to the 64-bit sums of its row."""
    field = tl.program_id(0) % N_FIELDS
    row = tl.program_id(0) // N_FIELDS * BLOCK + tl.arange(0, BLOCK)
    d = tl.program_id(1) * BLOCK_DIM + tl.arange(0, BLOCK_DIM)
    there = row < n_rows
    x = values_of(values, source, field, row, there, N_COLUMNS, VIEWS)
    lower, upper, lower_weight, upper_weight = place(
        x, field, cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
        flat, linear, bounded, finite, strict, blank, void,
        CUTS, STEPS, CODES, SOFT, FLAT, LINEAR, BOUNDED, FINITE, STRICT, BLANK, VOID,
    )  # fmt: skip
    unit = unit_of(largest, HEADROOM)
    odd = there & ~(tl.abs(lower_weight) + tl.abs(upper_weight) < float("inf"))
    tl.atomic_max(largest + 2, tl.max(odd.to(tl.int32), 0), sem="relaxed")
    # Why upside down, and times one: neighbouring threads must get neighbouring numbers of a row, so that a row takes
    # a few requests; a compiler that knows the numbers to be neighbours gives several of them to one thread instead.
    at = d * tl.load(largest + 3)
    inside = (d < DIM)[:, None] & there[None, :]
    from_ = (row.to(PLACES)[None, :] * N_FIELDS + field) * DIM + d[:, None]
    g = tl.load(grad + from_, mask=inside, other=0.0).to(tl.float32)
    ours = ((lower_weight[None, :] * g).to(tl.float64) * unit).to(tl.int64)
    to = sums + lower.to(PLACES)[None, :] * DIM + at[:, None]
    tl.atomic_add(to, ours, mask=inside & (ours != 0), sem="relaxed")
    if SOFT:
        ours = ((upper_weight[None, :] * g).to(tl.float64) * unit).to(tl.int64)
        to = sums + upper.to(PLACES)[None, :] * DIM + at[:, None]
        tl.atomic_add(to, ours, mask=inside & (ours != 0), sem="relaxed")


@triton.jit
def from_units_kernel(sums, largest, out, n_numbers, HEADROOM: tl.constexpr, BLOCK: tl.constexpr):
    """Sums in units as floats; NaN where a contribution was not finite."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    found = tl.load(sums + at, mask=at < n_numbers, other=0).to(tl.float64) / unit_of(largest, HEADROOM)
    lost = (tl.load(largest) >= 0x7F800000) | (tl.load(largest + 1) >= 0x7F800000) | (tl.load(largest + 2) > 0)
    found = tl.where(lost, float("nan"), found.to(tl.float32))
    tl.store(out + at, found.to(out.dtype.element_ty), mask=at < n_numbers)
