# mypy: ignore-errors
"""What runs on the GPU in a training step where products of matrices are written out too.

Each product finishes its own tile before it leaves the chip: bias, activation, dropout and what goes around a layer
forwards, the activation's slope and the sums of the bias backwards. The last layer also scores its rows and sends the
first gradient back, so its output is never stored.

Few levels: the first layer is folded into the table. With hats H (rows, levels), two of a field's levels each,

    embeddings W' = H V,   V = blockdiag(table) W'        dV = H' dOut,   dW and dTable from dV, field by field

so neither embeddings nor their gradient exist. V is made once per step, from a few hundred rows.
Sums over the batch are split among programs (``parts``) and added up in a fixed order.
"""

import triton
import triton.language as tl

from softbin.deep.kernels.device import place, values_of
from softbin.deep.kernels.device_step import lives_on


@triton.jit
def hats_kernel(
    rows, values, target, weight, y, w, hats, n_rows, level_start, source,
    cuts, left, width, start, last, lower_row, upper_row, missing_row, special_row, special, ends,
    flat, linear, bounded, finite, strict, blank, void,
    N_FIELDS: tl.constexpr, N_COLUMNS: tl.constexpr, VIEWS: tl.constexpr, DIM: tl.constexpr,
    CUTS: tl.constexpr, STEPS: tl.constexpr, CODES: tl.constexpr, SOFT: tl.constexpr,
    FLAT: tl.constexpr, LINEAR: tl.constexpr, BOUNDED: tl.constexpr, FINITE: tl.constexpr,
    STRICT: tl.constexpr, BLANK: tl.constexpr, VOID: tl.constexpr,
    GATHERS: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """hats[i, level] = what row i gives to each level of the table, and y, w = target, weight of these rows.

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
    level = tl.load(level_start + field).to(tl.int32) + tl.arange(0, LEVELS)
    own = level < tl.load(level_start + field + 1)
    found = tl.where(level[None, :] == lower[:, None], lower_weight[:, None], 0.0)
    if SOFT:
        found += tl.where(level[None, :] == upper[:, None], upper_weight[:, None], 0.0)
    tl.store(
        hats + i[:, None] * STRIDE + level[None, :], found.to(hats.dtype.element_ty), mask=there[:, None] & own[None, :]
    )
    if field == 0:
        tl.store(y + i, tl.load(target + row, mask=there, other=0.0), mask=there)
        tl.store(w + i, tl.load(weight + row, mask=there, other=0.0), mask=there)


@triton.jit
def fold_kernel(
    table, matrix, folded, level_start,
    N_FIELDS: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr,
):  # fmt: skip
    """folded[n, level] = sum_d matrix[n, field, d] table[level, d]."""
    field = tl.program_id(0) % N_FIELDS
    n = tl.program_id(0) // N_FIELDS * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, BLOCK_DIM)
    level = tl.load(level_start + field).to(tl.int32) + tl.arange(0, LEVELS)
    own = level < tl.load(level_start + field + 1)
    rows = tl.load(table + level[None, :] * DIM + d[:, None], mask=own[None, :] & (d < DIM)[:, None], other=0.0)
    from_ = matrix + n[:, None] * (N_FIELDS * DIM) + field * DIM + d[None, :]
    weights = tl.load(from_, mask=(n < WIDTH)[:, None] & (d < DIM)[None, :], other=0.0)
    found = tl.dot(weights, rows, input_precision="ieee")
    to = folded + n[:, None] * STRIDE + level[None, :]
    tl.store(to, found.to(folded.dtype.element_ty), mask=(n < WIDTH)[:, None] & own[None, :])


@triton.jit
def product(
    a, b, row, column, n_rows, A_STRIDE: tl.constexpr, B_DEEP: tl.constexpr, B_ACROSS: tl.constexpr,
    SIZE: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """sum over k < SIZE of a[row, k] b[k, column] in float32. Rows and columns outside hold anything."""
    found = tl.zeros((ROWS, COLUMNS), tl.float32)
    # Why not masks: any row will do, and the loop stays plain.
    row = tl.minimum(row, n_rows - 1)
    if WIDTH % COLUMNS != 0:
        column = tl.minimum(column, WIDTH - 1)
    k = tl.arange(0, DEEP)
    a_at = a + row[:, None] * A_STRIDE + k[None, :]
    b_at = b + k[:, None] * B_DEEP + column[None, :] * B_ACROSS
    for at in range(0, SIZE, DEEP):
        if SIZE % DEEP == 0:
            left = tl.load(a_at)
            right = tl.load(b_at)
        else:
            left = tl.load(a_at, mask=(k < SIZE - at)[None, :], other=0.0)
            right = tl.load(b_at, mask=(k < SIZE - at)[:, None], other=0.0)
        found = tl.dot(left, right, found)
        a_at += DEEP
        b_at += DEEP * B_DEEP
    return found


@triton.jit
def product_of_halves(
    a, b, row, column, n_rows, A_STRIDE: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """``product`` with b' for a tile's left and right half."""
    found, others = tl.zeros((ROWS, COLUMNS), tl.float32), tl.zeros((ROWS, COLUMNS), tl.float32)
    row = tl.minimum(row, n_rows - 1)
    other = column + COLUMNS
    if WIDTH % (2 * COLUMNS) != 0:
        column, other = tl.minimum(column, WIDTH - 1), tl.minimum(other, WIDTH - 1)
    k = tl.arange(0, DEEP)
    a_at = a + row[:, None] * A_STRIDE + k[None, :]
    b_at = b + k[:, None] + column[None, :] * SIZE
    other_at = b + k[:, None] + other[None, :] * SIZE
    for at in range(0, SIZE, DEEP):
        if SIZE % DEEP == 0:
            left = tl.load(a_at)
            right = tl.load(b_at)
            more = tl.load(other_at)
        else:
            left = tl.load(a_at, mask=(k < SIZE - at)[None, :], other=0.0)
            right = tl.load(b_at, mask=(k < SIZE - at)[:, None], other=0.0)
            more = tl.load(other_at, mask=(k < SIZE - at)[:, None], other=0.0)
        found = tl.dot(left, right, found)
        others = tl.dot(left, more, others)
        a_at += DEEP
        b_at += DEEP
        other_at += DEEP
    return found, others


@triton.jit
def stepped(
    found, x, bias, row, d, n_rows, key, least, scale, RESIDUAL: tl.constexpr, DROPS: tl.constexpr, WIDTH: tl.constexpr
):
    """A layer's step, from its product, and its output."""
    found += tl.load(bias + d, mask=d < WIDTH, other=0.0).to(tl.float32)[None, :]
    own, _ = activated(found, row, d, tl.load(key), least, scale, WIDTH, DROPS)
    return own, around(own, x, row, d, n_rows, RESIDUAL, WIDTH)


@triton.jit
def around(own, x, row, d, n_rows, RESIDUAL: tl.constexpr, WIDTH: tl.constexpr):
    h = own
    if RESIDUAL:
        inside = (row < n_rows)[:, None] & (d < WIDTH)[None, :]
        h += tl.load(x + row[:, None] * WIDTH + d[None, :], mask=inside, other=0.0).to(tl.float32)
    return h


@triton.jit
def sent_back(
    own, x, pull, head, back, parts, at_bias, row, d, n_rows, scale, RESIDUAL: tl.constexpr, WIDTH: tl.constexpr
):
    """The head's gradient, and that before the last activation."""
    wide = d < WIDTH
    h = around(own, x, row, d, n_rows, RESIDUAL, WIDTH)
    tl.store(parts + d, tl.sum(pull[:, None] * h, 0), mask=wide)
    weights = tl.load(head + d, mask=wide, other=0.0)
    sent = tl.where(own > 0, pull[:, None] * weights[None, :] * scale, 0.0)
    inside = (row < n_rows)[:, None] & wide[None, :]
    tl.store(back + row[:, None] * WIDTH + d[None, :], sent.to(back.dtype.element_ty), mask=inside)
    tl.store(parts + at_bias + d, tl.sum(sent, 0), mask=wide)


@triton.jit
def activated(before, row, d, key, least, scale, WIDTH: tl.constexpr, DROPS: tl.constexpr):
    """drop(relu(before)), and where it is not cut off."""
    lives = before > 0
    if DROPS:
        lives = lives & lives_on(row[:, None] * WIDTH + d[None, :], key, least)
    # Why so: NaN is not alive, but must not vanish.
    return tl.where(lives | (before != before), before * scale, 0.0), lives


@triton.jit
def layer_kernel(
    x, matrix, bias, out, alive, key, n_rows, least, scale,
    RESIDUAL: tl.constexpr, DROPS: tl.constexpr, WIDTH: tl.constexpr, SIZE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEEP: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    """out = x + drop(relu(x matrix' + bias)), the first x only where RESIDUAL."""
    n_tiles: tl.constexpr = (WIDTH + COLUMNS - 1) // COLUMNS
    row = tl.program_id(0) // n_tiles * ROWS + tl.arange(0, ROWS)
    if HALVES:
        half: tl.constexpr = COLUMNS // 2
        d = tl.program_id(0) % n_tiles * COLUMNS + tl.arange(0, half)
        found, others = product_of_halves(x, matrix, row, d, n_rows, SIZE, SIZE, WIDTH, ROWS, half, DEEP)
        own, h = stepped(found, x, bias, row, d, n_rows, key, least, scale, RESIDUAL, DROPS, WIDTH)
        keep(own, h, out, alive, row, d, n_rows, WIDTH)
        e = d + half
        other, h = stepped(others, x, bias, row, e, n_rows, key, least, scale, RESIDUAL, DROPS, WIDTH)
        keep(other, h, out, alive, row, e, n_rows, WIDTH)
    else:
        d = tl.program_id(0) % n_tiles * COLUMNS + tl.arange(0, COLUMNS)
        found = product(x, matrix, row, d, n_rows, SIZE, 1, SIZE, SIZE, WIDTH, ROWS, COLUMNS, DEEP)
        own, h = stepped(found, x, bias, row, d, n_rows, key, least, scale, RESIDUAL, DROPS, WIDTH)
        keep(own, h, out, alive, row, d, n_rows, WIDTH)


@triton.jit
def keep(own, h, out, alive, row, d, n_rows, WIDTH: tl.constexpr):
    inside = (row < n_rows)[:, None] & (d < WIDTH)[None, :]
    n = row[:, None] * WIDTH + d[None, :]
    tl.store(out + n, h.to(out.dtype.element_ty), mask=inside)
    tl.store(alive + n, (own > 0).to(tl.int8), mask=inside)


@triton.jit
def pulled(score, y, w, n_rows, BINARY: tl.constexpr):
    """Losses, and w d loss / d score / n_rows."""
    if BINARY:
        small = tl.exp(-tl.abs(score))
        loss = tl.maximum(score, 0.0) - score * y + tl.log(1.0 + small)
        chance = tl.where(score >= 0, 1.0, small) / (1.0 + small)
        # Why: maximum() loses NaN.
        loss = tl.where(score == score, loss, score)
        pull = (chance - y) * w / n_rows
    else:
        loss = (score - y) * (score - y)
        pull = 2.0 * (score - y) * w / n_rows
    return loss, pull


@triton.jit
def last_layer_kernel(
    x, matrix, bias, head, head_bias, y, w, slope, back, parts, key, n_rows, n_parts_numbers, at_bias, at_head_bias,
    at_sums, least, scale, RESIDUAL: tl.constexpr, DROPS: tl.constexpr, BINARY: tl.constexpr,
    WIDTH: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """The last layer, scores, losses, their slopes, and the gradient before its activation, a tile of whole rows."""
    HALF: tl.constexpr = COLUMNS // 2
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, HALF)
    there = row < n_rows
    # Why halves: a tile this wide fills the registers; what is made of it must not be there all at once.
    found, others = product_of_halves(x, matrix, row, d, n_rows, SIZE, SIZE, WIDTH, ROWS, HALF, DEEP)
    own, h = stepped(found, x, bias, row, d, n_rows, key, least, scale, RESIDUAL, DROPS, WIDTH)
    score = tl.sum(h * tl.load(head + d, mask=d < WIDTH, other=0.0)[None, :], 1)
    e = d + HALF
    other, h = stepped(others, x, bias, row, e, n_rows, key, least, scale, RESIDUAL, DROPS, WIDTH)
    score += tl.sum(h * tl.load(head + e, mask=e < WIDTH, other=0.0)[None, :], 1) + tl.load(head_bias)
    target = tl.load(y + row, mask=there, other=0.0)
    weight = tl.load(w + row, mask=there, other=0.0)
    loss, pull = pulled(score, target, weight, n_rows, BINARY)
    tl.store(slope + row, pull, mask=there)
    loss = tl.where(there, weight * loss, 0.0)
    pull = tl.where(there, pull, 0.0)
    parts += tl.program_id(0) * n_parts_numbers
    sent_back(own, x, pull, head, back, parts, at_bias, row, d, n_rows, scale, RESIDUAL, WIDTH)
    sent_back(other, x, pull, head, back, parts, at_bias, row, e, n_rows, scale, RESIDUAL, WIDTH)
    tl.store(parts + at_head_bias, tl.sum(pull, 0))
    tl.store(parts + at_sums, tl.sum(loss, 0))
    tl.store(parts + at_sums + 1, tl.sum(weight, 0))


@triton.jit
def score_back_kernel(
    h, alive, head, head_bias, y, w, slope, back, parts, n_rows, n_parts_numbers, at_bias, at_head_bias, at_sums, scale,
    WIDTH: tl.constexpr, BINARY: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Scores, losses, their slopes, and the gradient before the last activation, from the last layer's output."""
    d = tl.arange(0, BLOCK)
    wide = d < WIDTH
    weights = tl.load(head + d, mask=wide, other=0.0)
    bias = tl.load(head_bias)
    head_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    bias_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    losses = tl.zeros((ROWS,), tl.float32)
    slopes = tl.zeros((ROWS,), tl.float32)
    totals = tl.zeros((ROWS,), tl.float32)
    for at in range(tl.program_id(0) * ROWS, n_rows, tl.num_programs(0) * ROWS):
        row = at + tl.arange(0, ROWS)
        there = row < n_rows
        inside = there[:, None] & wide[None, :]
        n = row[:, None] * WIDTH + d[None, :]
        own = tl.load(h + n, mask=inside, other=0.0).to(tl.float32)
        lives = tl.load(alive + n, mask=inside, other=0)
        target = tl.load(y + row, mask=there, other=0.0)
        weight = tl.load(w + row, mask=there, other=0.0)
        score = tl.sum(own * weights[None, :], 1) + bias
        loss, pull = pulled(score, target, weight, n_rows, BINARY)
        losses += tl.where(there, weight * loss, 0.0)
        pull = tl.where(there, pull, 0.0)
        slopes += pull
        totals += weight
        tl.store(slope + row, pull, mask=there)
        head_sum += pull[:, None] * own
        sent = tl.where(lives != 0, pull[:, None] * weights[None, :] * scale, 0.0)
        bias_sum += sent
        tl.store(back + n, sent.to(back.dtype.element_ty), mask=inside)
    parts += tl.program_id(0) * n_parts_numbers
    tl.store(parts + d, tl.sum(head_sum, 0), mask=wide)
    tl.store(parts + at_bias + d, tl.sum(bias_sum, 0), mask=wide)
    tl.store(parts + at_head_bias, tl.sum(slopes, 0))
    tl.store(parts + at_sums, tl.sum(losses, 0))
    tl.store(parts + at_sums + 1, tl.sum(totals, 0))


@triton.jit
def back_layer_kernel(
    after, matrix, passed, slope, head, alive, total, back, parts, n_rows, n_parts_numbers, at_bias, scale,
    WIDTH: tl.constexpr, FROM_HEAD: tl.constexpr, RESIDUAL: tl.constexpr, KEEPS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """From the gradient ``after`` before the next layer's activation to ``back``, that before this layer's own.

    The next layer's matrix (outputs, inputs) sends after x matrix; what went around it is the head's gradient, slope x
    head, where the next layer is the last (FROM_HEAD), or ``passed``. ``total`` is what goes around this layer (KEEPS).
    """
    n_tiles: tl.constexpr = (WIDTH + COLUMNS - 1) // COLUMNS
    first = tl.program_id(0) // n_tiles
    row = first * ROWS + tl.arange(0, ROWS)
    d = tl.program_id(0) % n_tiles * COLUMNS + tl.arange(0, COLUMNS)
    there, wide = row < n_rows, d < WIDTH
    inside = there[:, None] & wide[None, :]
    n = row[:, None] * WIDTH + d[None, :]
    g = product(after, matrix, row, d, n_rows, WIDTH, WIDTH, 1, WIDTH, WIDTH, ROWS, COLUMNS, DEEP)
    if RESIDUAL:
        if FROM_HEAD:
            weights = tl.load(head + d, mask=wide, other=0.0)
            g += tl.load(slope + row, mask=there, other=0.0)[:, None] * weights[None, :]
        else:
            g += tl.load(passed + n, mask=inside, other=0.0).to(tl.float32)
    if KEEPS:
        tl.store(total + n, g.to(total.dtype.element_ty), mask=inside)
    lives = tl.load(alive + n, mask=inside, other=0)
    g = tl.where(lives != 0, g * scale, 0.0)
    tl.store(back + n, g.to(back.dtype.element_ty), mask=inside)
    tl.store(parts + first * n_parts_numbers + at_bias + d, tl.sum(g, 0), mask=wide)


@triton.jit
def matrix_part(
    back, x, part, tile, first_row, end, n_rows, WIDTH: tl.constexpr, SIZE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """One tile of back' x over some rows of the batch: part[n, k] = sum over rows of back[row, n] x[row, k]."""
    n_tiles: tl.constexpr = (SIZE + COLUMNS - 1) // COLUMNS
    n = tile // n_tiles * ROWS + tl.arange(0, ROWS)
    k = tile % n_tiles * COLUMNS + tl.arange(0, COLUMNS)
    from_n, from_k = n, k
    if WIDTH % ROWS != 0:
        from_n = tl.minimum(n, WIDTH - 1)
    if SIZE % COLUMNS != 0:
        from_k = tl.minimum(k, SIZE - 1)
    found = tl.zeros((ROWS, COLUMNS), tl.float32)
    for at in range(first_row, end, DEEP):
        row = at + tl.arange(0, DEEP)
        left = tl.load(back + from_n[:, None] + row[None, :] * WIDTH, mask=(row < end)[None, :], other=0.0)
        right = tl.load(x + row[:, None] * SIZE + from_k[None, :], mask=(row < end)[:, None], other=0.0)
        found = tl.dot(left, right, found)
    tl.store(part + n[:, None] * SIZE + k[None, :], found, mask=(n < WIDTH)[:, None] & (k < SIZE)[None, :])


@triton.jit
def matrices_kernel(
    backs, x, hidden, parts, n_rows, rows_each, n_parts_numbers, at_first, step,
    WIDTH: tl.constexpr, SIZE: tl.constexpr, DEPTH: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """Gradients of the matrices of all layers, over the rows of one part; x goes into the first layer.

    In parts, the first layer's is at ``at_first``, the others' one behind the other, ``step`` numbers apart.
    """
    first_tiles: tl.constexpr = ((WIDTH + ROWS - 1) // ROWS) * ((SIZE + COLUMNS - 1) // COLUMNS)
    other_tiles: tl.constexpr = ((WIDTH + ROWS - 1) // ROWS) * ((WIDTH + COLUMNS - 1) // COLUMNS)
    n_tiles: tl.constexpr = first_tiles + (DEPTH - 1) * other_tiles
    part, tile = tl.program_id(0) // n_tiles, tl.program_id(0) % n_tiles
    end = tl.minimum(part * rows_each + rows_each, n_rows)
    parts += part.to(tl.int64) * n_parts_numbers
    if tile < first_tiles:
        matrix_part(
            backs, x, parts + at_first, tile, part * rows_each, end, n_rows, WIDTH, SIZE, ROWS, COLUMNS, DEEP
        )  # fmt: skip
    elif DEPTH > 1:
        other = (tile - first_tiles) // other_tiles
        before = other.to(tl.int64) * n_rows * WIDTH
        backs += before + n_rows * WIDTH
        matrix_part(
            backs, hidden + before, parts + other * step, (tile - first_tiles) % other_tiles, part * rows_each, end,
            n_rows, WIDTH, WIDTH, ROWS, COLUMNS, DEEP,
        )  # fmt: skip


@triton.jit
def summed(parts, at, there, n_parts_numbers, N_PARTS: tl.constexpr):
    """The sum of the parts, always in the same order."""
    found = tl.load(parts + at, mask=there, other=0.0)
    for part in tl.static_range(1, N_PARTS):
        found += tl.load(parts + part * n_parts_numbers + at, mask=there, other=0.0)
    return found


@triton.jit
def unfold(
    parts, table, matrix, table_grad, matrix_grad, n_parts_numbers, level_start, field,
    N_PARTS: tl.constexpr, N_FIELDS: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr,
    LEVELS: tl.constexpr, BLOCK: tl.constexpr, BLOCK_DIM: tl.constexpr,
):  # fmt: skip
    """From dV (WIDTH, levels) to one field's share of the table's and the matrix' gradients; their sum of squares."""
    d = tl.arange(0, BLOCK_DIM)
    level = tl.load(level_start + field).to(tl.int32) + tl.arange(0, LEVELS)
    own = level < tl.load(level_start + field + 1)
    at_rows = level[:, None] * DIM + d[None, :]
    real = own[:, None] & (d < DIM)[None, :]
    rows = tl.load(table + at_rows, mask=real, other=0.0)
    pulled_rows = tl.zeros((LEVELS, BLOCK_DIM), tl.float32)
    squares = tl.zeros((BLOCK, BLOCK_DIM), tl.float32)
    for first in range(0, WIDTH, BLOCK):
        n = first + tl.arange(0, BLOCK)
        inside = (n < WIDTH)[:, None]
        g = summed(parts, n[:, None] * STRIDE + level[None, :], inside & own[None, :], n_parts_numbers, N_PARTS)
        at = n[:, None] * (N_FIELDS * DIM) + field * DIM + d[None, :]
        weights = tl.load(matrix + at, mask=inside & (d < DIM)[None, :], other=0.0)
        pulled_rows = tl.dot(tl.trans(g), weights, pulled_rows, input_precision="ieee")
        found = tl.dot(g, rows, input_precision="ieee")
        tl.store(matrix_grad + at, found, mask=inside & (d < DIM)[None, :])
        squares += found * found
    tl.store(table_grad + at_rows, pulled_rows, mask=real)
    return tl.sum(tl.sum(squares, 1), 0) + tl.sum(tl.sum(pulled_rows * pulled_rows, 1), 0)


@triton.jit
def collect_matrix(parts, grads, n_numbers, block, n_parts_numbers, N_PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """One block of a matrix' gradient; its sum of squares."""
    at = block * BLOCK + tl.arange(0, BLOCK)
    found = summed(parts, at, at < n_numbers, n_parts_numbers, N_PARTS)
    tl.store(grads + at, found, mask=at < n_numbers)
    return tl.sum(found * found, 0)


@triton.jit
def collect_others(
    parts, grads, sums, block, n_summed, n_parts_numbers, n_parts, NUMBERS: tl.constexpr, PARTS: tl.constexpr
):
    """Some of the sums beside the matrices; the sum of squares of those that are gradients."""
    at = block * NUMBERS + tl.arange(0, NUMBERS)
    there = at < n_parts_numbers
    found = tl.zeros((NUMBERS,), tl.float32)
    for first in range(0, n_parts, PARTS):
        part = first + tl.arange(0, PARTS)
        from_ = parts + part[:, None] * n_parts_numbers + at[None, :]
        found += tl.sum(tl.load(from_, mask=(part < n_parts)[:, None] & there[None, :], other=0.0), 0)
    tl.store(sums + at, found, mask=there)
    tl.store(grads + at, found, mask=at < n_summed)
    found = tl.where(at < n_summed, found, 0.0)
    return tl.sum(found * found, 0)


@triton.jit
def collect_kernel(
    matrix_parts, parts, grads, flat, sums, squares, step, level_start, n_matrix_numbers, n_first_numbers, n_summed,
    at_first_part, at_rest, at_base, at_table, n_matrix_programs, n_first_programs, matrix_stride, parts_stride,
    n_parts, N_MATRIX_PARTS: tl.constexpr, FOLDED: tl.constexpr,
    N_FIELDS: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr,
    BLOCK_DIM: tl.constexpr, UNFOLD: tl.constexpr, BLOCK: tl.constexpr, NUMBERS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """All sums over parts into ``grads``, and the sum of squares of what every program wrote; counts the step.

    First come programs for the matrices behind the first, then for the first (FOLDED: one per field), then for the sums
    beside the matrices, the last of which (loss and total weight) also stay in ``sums``.
    """
    program = tl.program_id(0)
    if program < n_matrix_programs:
        own = collect_matrix(
            matrix_parts, grads + at_rest, n_matrix_numbers, program, matrix_stride, N_MATRIX_PARTS, BLOCK
        )  # fmt: skip
        tl.store(squares + program, own)
    elif program < n_matrix_programs + n_first_programs:
        if FOLDED:
            own = unfold(
                matrix_parts + at_first_part, flat + at_table, flat, grads + at_table, grads, matrix_stride,
                level_start, program - n_matrix_programs, N_MATRIX_PARTS, N_FIELDS, DIM, WIDTH, STRIDE, LEVELS, UNFOLD,
                BLOCK_DIM,
            )  # fmt: skip
        else:
            own = collect_matrix(
                matrix_parts + at_first_part, grads, n_first_numbers, program - n_matrix_programs, matrix_stride,
                N_MATRIX_PARTS, BLOCK,
            )  # fmt: skip
        tl.store(squares + program, own)
    else:
        own = collect_others(
            parts, grads + at_base, sums, program - n_matrix_programs - n_first_programs, n_summed, parts_stride,
            n_parts, NUMBERS, PARTS,
        )  # fmt: skip
        tl.store(squares + program, own)
    if program == 0:
        tl.store(step, tl.load(step) + 1.0)
