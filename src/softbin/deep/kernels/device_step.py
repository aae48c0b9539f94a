# mypy: ignore-errors
"""What runs on the GPU beside large products of matrices in a training step: one pass over memory per layer and way.

Kernels of a layer work on tiles, ROWS x COLUMNS. Sums over the batch (gradients of biases and of the head, the loss)
are kept per program in ``parts`` (programs, numbers), and summed afterwards in a fixed order. Dropout's coins come from
a hash of the training's seed, the number of the step, the layer and the place.
"""

import triton
import triton.language as tl

from softbin.deep.kernels.device_fold import unfold_matrix, unfold_table


@triton.jit
def gather_kernel(values, target, weight, rows, x, y, w, n_numbers, N_COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """x, y, w = values, target, weight of some rows."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = n < n_numbers
    i, j = n // N_COLUMNS, n % N_COLUMNS
    row = tl.load(rows + i, mask=there, other=0)
    tl.store(x + n, tl.load(values + row * N_COLUMNS + j, mask=there, other=0.0), mask=there)
    first = there & (j == 0)
    tl.store(y + i, tl.load(target + row, mask=first, other=0.0), mask=first)
    tl.store(w + i, tl.load(weight + row, mask=first, other=0.0), mask=first)


@triton.jit
def mixed(number):
    """32 bits, well mixed."""
    number = (number ^ (number >> 16)) * 0x21F0AAAD
    number = (number ^ (number >> 15)) * 0x735A2D97
    return number ^ (number >> 15)


@triton.jit
def lives_on(n, seed, step, LAYER: tl.constexpr, least):
    """Dropout's coin of place n: whether it falls on the side that stays."""
    key = mixed(mixed(seed.to(tl.uint32) + LAYER) + tl.load(step).to(tl.uint32))
    return (mixed(n.to(tl.uint32) ^ key) >> 8).to(tl.int32) >= least


@triton.jit
def activated(before, n, seed, step, least, scale, LAYER: tl.constexpr, DROPS: tl.constexpr):
    """drop(relu(before)), and where it is not cut off."""
    lives = before > 0
    if DROPS:
        lives = lives & lives_on(n, seed, step, LAYER, least)
    # Why so: NaN is not alive, but must not vanish.
    return tl.where(lives | (before != before), before * scale, 0.0), lives


@triton.jit
def activate_kernel(
    before, passed, out, alive, step, seed, n_rows, least, scale,
    WIDTH: tl.constexpr, BYTES: tl.constexpr, LAYER: tl.constexpr, RESIDUAL: tl.constexpr, DROPS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """out = passed + drop(relu(before)); bits of ``alive`` (rows, BYTES) say where it is not cut off."""
    n_tiles: tl.constexpr = (WIDTH + COLUMNS - 1) // COLUMNS
    row = tl.program_id(0) // n_tiles * ROWS + tl.arange(0, ROWS)
    d = tl.program_id(0) % n_tiles * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < n_rows)[:, None] & (d < WIDTH)[None, :]
    n = row[:, None] * WIDTH + d[None, :]
    h, lives = activated(
        tl.load(before + n, mask=inside, other=0.0).to(tl.float32), n, seed, step, least, scale, LAYER, DROPS
    )
    if RESIDUAL:
        h += tl.load(passed + n, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + n, h.to(out.dtype.element_ty), mask=inside)
    bits = tl.reshape(lives.to(tl.int32), (ROWS, COLUMNS // 8, 8)) << tl.arange(0, 8)[None, None, :]
    byte = tl.program_id(0) % n_tiles * (COLUMNS // 8) + tl.arange(0, COLUMNS // 8)
    to = alive + row[:, None] * BYTES + byte[None, :]
    tl.store(to, tl.sum(bits, 2).to(tl.uint8), mask=(row < n_rows)[:, None] & (byte < BYTES)[None, :])


@triton.jit
def last_kernel(
    before, passed, head, head_bias, y, w, slope, back, parts, step, seed, n_rows, n_parts_numbers, at_bias,
    at_head_bias, at_sums, least, scale, WIDTH: tl.constexpr, LAYER: tl.constexpr, RESIDUAL: tl.constexpr,
    DROPS: tl.constexpr, BINARY: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """The last activation, scores, losses, and back again: slopes and the gradient before the last activation.

    Slopes are w d loss / d score / n_rows; the step divides by the mean weight later.
    """
    d = tl.arange(0, BLOCK)
    wide = d < WIDTH
    weights = tl.load(head + d, mask=wide, other=0.0)
    bias = tl.load(head_bias)
    # Why whole tiles: each thread sums its own numbers, and threads meet once, behind the loop.
    head_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    bias_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    losses = tl.zeros((ROWS,), tl.float32)
    slopes = tl.zeros((ROWS,), tl.float32)
    totals = tl.zeros((ROWS,), tl.float32)
    for at in tl.range(tl.program_id(0) * ROWS, n_rows, tl.num_programs(0) * ROWS, num_stages=STAGES):
        row = at + tl.arange(0, ROWS)
        there = row < n_rows
        inside = there[:, None] & wide[None, :]
        n = row[:, None] * WIDTH + d[None, :]
        target = tl.load(y + row, mask=there, other=0.0)
        weight = tl.load(w + row, mask=there, other=0.0)
        found = tl.load(before + n, mask=inside, other=0.0).to(tl.float32)
        h, lives = activated(found, n, seed, step, least, scale, LAYER, DROPS)
        if RESIDUAL:
            h += tl.load(passed + n, mask=inside, other=0.0).to(tl.float32)
        score = tl.sum(h * weights[None, :], 1) + bias
        if BINARY:
            small = tl.exp(-tl.abs(score))
            loss = tl.maximum(score, 0.0) - score * target + tl.log(1.0 + small)
            chance = tl.where(score >= 0, 1.0, small) / (1.0 + small)
            # Why: maximum() loses NaN.
            loss = tl.where(score == score, loss, score)
            pull = (chance - target) * weight / n_rows
        else:
            loss = (score - target) * (score - target)
            pull = 2.0 * (score - target) * weight / n_rows
        losses += tl.where(there, weight * loss, 0.0)
        pull = tl.where(there, pull, 0.0)
        slopes += pull
        totals += weight
        tl.store(slope + row, pull, mask=there)
        head_sum += pull[:, None] * h
        sent = tl.where(lives, pull[:, None] * weights[None, :] * scale, 0.0)
        bias_sum += sent
        tl.store(back + n, sent.to(back.dtype.element_ty), mask=inside)
    parts += tl.program_id(0) * n_parts_numbers
    tl.store(parts + d, tl.sum(head_sum, 0), mask=wide)
    tl.store(parts + at_bias + d, tl.sum(bias_sum, 0), mask=wide)
    tl.store(parts + at_head_bias, tl.sum(slopes, 0))
    tl.store(parts + at_sums, tl.sum(losses, 0))
    tl.store(parts + at_sums + 1, tl.sum(totals, 0))


@triton.jit
def back_kernel(
    sent, slope, head, alive, back, parts, n_rows, n_parts_numbers, at_bias, scale,
    WIDTH: tl.constexpr, BYTES: tl.constexpr, RESIDUAL: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """From what matrices behind this layer sent to the gradient before its activation.

    With RESIDUAL, what the head sends, slope x head, has come around all of them and is not in ``sent``.
    """
    n_tiles: tl.constexpr = (WIDTH + COLUMNS - 1) // COLUMNS
    first, tile = tl.program_id(0) // n_tiles, tl.program_id(0) % n_tiles
    d = tile * COLUMNS + tl.arange(0, COLUMNS)
    byte = tile * (COLUMNS // 8) + tl.arange(0, COLUMNS // 8)
    wide = d < WIDTH
    bias_sum = tl.zeros((ROWS, COLUMNS), tl.float32)
    weights = tl.load(head + d, mask=wide, other=0.0)
    for at in range(first * ROWS, n_rows, tl.num_programs(0) // n_tiles * ROWS):
        row = at + tl.arange(0, ROWS)
        there = row < n_rows
        inside = there[:, None] & wide[None, :]
        n = row[:, None] * WIDTH + d[None, :]
        g = tl.load(sent + n, mask=inside, other=0.0).to(tl.float32)
        from_ = alive + row[:, None] * BYTES + byte[None, :]
        bits = tl.load(from_, mask=there[:, None] & (byte < BYTES)[None, :], other=0).to(tl.int32)
        lives = (bits[:, :, None] >> tl.arange(0, 8)[None, None, :]) & 1
        if RESIDUAL:
            g += tl.load(slope + row, mask=there, other=0.0)[:, None] * weights[None, :]
        g = tl.where(tl.reshape(lives, (ROWS, COLUMNS)) != 0, g * scale, 0.0)
        bias_sum += g
        tl.store(back + n, g.to(back.dtype.element_ty), mask=inside)
    tl.store(parts + first * n_parts_numbers + at_bias + d, tl.sum(bias_sum, 0), mask=wide)


@triton.jit
def collect_matrix(parts, grads, n_numbers, block, stride, N_PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """One block of a matrix' gradient, summed from its parts; its sum of squares."""
    at = block * BLOCK + tl.arange(0, BLOCK)
    there = at < n_numbers
    found = tl.load(parts + at, mask=there, other=0.0)
    for part in tl.static_range(1, N_PARTS):
        found += tl.load(parts + part * stride + at, mask=there, other=0.0)
    tl.store(grads + at, found, mask=there)
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
    first_grad, rest_parts, parts, grads, flat, sums, squares, step, level_start, hat_start, summed, n_rest_numbers,
    n_first_numbers, rest_step, n_summed, at_rest, at_base, at_table, n_rest_each, n_rest_programs, n_first_programs,
    n_table_programs, parts_stride, n_parts, N_SPLITS: tl.constexpr, FOLDED: tl.constexpr,
    N_FIELDS: tl.constexpr, DIM: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, LEVELS: tl.constexpr,
    BLOCK_DIM: tl.constexpr, UNFOLD: tl.constexpr, BLOCK: tl.constexpr, NUMBERS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """All gradients from their parts into ``grads``, and the sum of squares of what every program wrote.

    First come programs for the table (FOLDED: one per field, they take longest), then for the first matrix, for those
    behind it, and for the sums beside the matrices, the last of which (loss and total weight) also stay in ``sums``.
    Counts the step.
    """
    program = tl.program_id(0)
    at_first = program - n_table_programs
    at_matrices = at_first - n_first_programs
    if program < n_table_programs:
        if FOLDED:
            own = unfold_table(
                first_grad, flat, grads + at_table, level_start, hat_start, summed, program,
                N_FIELDS, DIM, WIDTH, STRIDE, LEVELS, UNFOLD, BLOCK_DIM,
            )  # fmt: skip
            tl.store(squares + program, own)
    elif at_first < n_first_programs:
        if FOLDED:
            own = unfold_matrix(
                first_grad, flat + at_table, grads, level_start, hat_start, summed, at_first % N_FIELDS,
                at_first // N_FIELDS * UNFOLD, N_FIELDS, DIM, WIDTH, STRIDE, LEVELS, UNFOLD, BLOCK_DIM,
            )  # fmt: skip
        else:
            own = collect_matrix(first_grad, grads, n_first_numbers, at_first, 0, 1, BLOCK)
        tl.store(squares + program, own)
    elif at_matrices < n_rest_programs:
        layer = at_matrices // n_rest_each
        own = collect_matrix(
            rest_parts + layer * N_SPLITS * n_rest_numbers, grads + at_rest + layer * rest_step, n_rest_numbers,
            at_matrices % n_rest_each, n_rest_numbers, N_SPLITS, BLOCK,
        )  # fmt: skip
        tl.store(squares + program, own)
    else:
        own = collect_others(
            parts, grads + at_base, sums, at_matrices - n_rest_programs, n_summed, parts_stride, n_parts, NUMBERS, PARTS
        )  # fmt: skip
        tl.store(squares + program, own)
    if program == 0:
        tl.store(step, tl.load(step) + 1.0)


@triton.jit
def adamw_kernel(
    weights, grad, first, second, average, half, squares, sums, rate, step, loss_sum, n_numbers, n_squares, n_rows,
    n_decaying, n_half, decay, clip, keep, beta1, beta2, eps, log_beta1, log_beta2,
    BLOCK: tl.constexpr, SQUARES: tl.constexpr,
):  # fmt: skip
    """Clipping, AdamW, the average of the weights, and the weights in half precision for the next step."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < n_numbers
    part = tl.arange(0, SQUARES)
    norm = tl.sqrt(tl.sum(tl.load(squares + part, mask=part < n_squares, other=0.0), 0))
    loss = tl.load(sums)
    total = tl.load(sums + 1)
    mean = tl.where(total > 0, n_rows / total, 0.0)  # a batch whose weights vanish moves nothing
    norm = norm * mean
    # Why not minimum(): NaN must not vanish.
    clipped = clip / (norm + 1e-6)
    clipped = tl.where(clipped >= 1.0, 1.0, clipped)
    t = tl.load(step)
    lr = tl.load(rate)
    g = tl.load(grad + at, mask=there, other=0.0) * (mean * clipped)
    p = tl.load(weights + at, mask=there, other=0.0)
    m = tl.load(first + at, mask=there, other=0.0)
    v = tl.load(second + at, mask=there, other=0.0)
    a = tl.load(average + at, mask=there, other=0.0)
    p = tl.where(at < n_decaying, p * (1.0 - lr * decay), p)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    size = tl.sqrt(v) / tl.sqrt(1.0 - tl.exp(t * log_beta2)) + eps
    p -= lr / (1.0 - tl.exp(t * log_beta1)) * m / size
    tl.store(weights + at, p, mask=there)
    tl.store(first + at, m, mask=there)
    tl.store(second + at, v, mask=there)
    tl.store(average + at, keep * a + (1.0 - keep) * p, mask=there)
    tl.store(half + at, p.to(half.dtype.element_ty), mask=at < n_half)
    if tl.program_id(0) == 0:
        tl.store(loss_sum, tl.load(loss_sum) + (loss * mean / n_rows).to(tl.float64))
