# mypy: ignore-errors
"""What runs on the GPU beside large products of matrices in a training step: one pass over memory per layer and way.

Every kernel of a layer works on tiles of whole rows, ROWS x WIDTH. Sums over the batch (gradients of biases and of the
head, the loss) are kept per program in ``parts`` (programs, numbers), and summed afterwards in a fixed order.
Dropout's coins come from a hash of the place and a key that is drawn for every step and layer.
"""

import triton
import triton.language as tl


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
def lives_on(n, key, least):
    """Dropout's coin of place n: whether it falls on the side that stays."""
    coin = n.to(tl.uint32) ^ key.to(tl.uint32)
    coin = (coin ^ (coin >> 16)) * 0x21F0AAAD
    coin = (coin ^ (coin >> 15)) * 0x735A2D97
    coin = (coin ^ (coin >> 15)) >> 8
    return coin.to(tl.int32) >= least


@triton.jit
def activate_kernel(
    before, passed, out, alive, keys, n_numbers, least, scale,
    LAYER: tl.constexpr, RESIDUAL: tl.constexpr, DROPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out = passed + drop(relu(before)); ``alive`` says where it is not cut off."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = n < n_numbers
    h = tl.load(before + n, mask=there, other=0.0).to(tl.float32)
    lives = h > 0
    if DROPS:
        lives = lives & lives_on(n, tl.load(keys + LAYER), least)
    # Why so: NaN is not alive, but must not vanish.
    h = tl.where(lives | (h != h), h * scale, 0.0)
    if RESIDUAL:
        h += tl.load(passed + n, mask=there, other=0.0).to(tl.float32)
    tl.store(out + n, h.to(out.dtype.element_ty), mask=there)
    tl.store(alive + n, lives.to(tl.int8), mask=there)


@triton.jit
def score_kernel(
    h, head, head_bias, y, w, slope, parts, n_rows, n_parts_numbers, at_head_bias, at_sums,
    WIDTH: tl.constexpr, BINARY: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Scores, losses, and their slopes, w d loss / d score / n_rows; the step divides by the mean weight later."""
    d = tl.arange(0, BLOCK)
    wide = d < WIDTH
    weights = tl.load(head + d, mask=wide, other=0.0)
    bias = tl.load(head_bias)
    losses = tl.zeros((ROWS,), tl.float32)
    slopes = tl.zeros((ROWS,), tl.float32)
    totals = tl.zeros((ROWS,), tl.float32)
    for at in range(tl.program_id(0) * ROWS, n_rows, tl.num_programs(0) * ROWS):
        row = at + tl.arange(0, ROWS)
        there = row < n_rows
        own = tl.load(h + row[:, None] * WIDTH + d[None, :], mask=there[:, None] & wide[None, :], other=0.0)
        target = tl.load(y + row, mask=there, other=0.0)
        weight = tl.load(w + row, mask=there, other=0.0)
        score = tl.sum(own.to(tl.float32) * weights[None, :], 1) + bias
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
        losses += weight * loss
        slopes += pull
        totals += weight
        tl.store(slope + row, pull, mask=there)
    parts += tl.program_id(0) * n_parts_numbers
    tl.store(parts + at_head_bias, tl.sum(slopes, 0))
    tl.store(parts + at_sums, tl.sum(losses, 0))
    tl.store(parts + at_sums + 1, tl.sum(totals, 0))


@triton.jit
def back_kernel(
    product, passed, slope, head, h, alive, total, before_grad, parts, n_rows, n_parts_numbers, at_bias, scale,
    WIDTH: tl.constexpr, LAST: tl.constexpr, FROM_HEAD: tl.constexpr, RESIDUAL: tl.constexpr, KEEPS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """From what the next layer sends back to the gradient before this layer's activation.

    To the LAST layer the head sends slope x head. To the others a matrix sends ``product``, and what goes around that
    matrix (RESIDUAL) comes on top: again the head's, for the last but one (FROM_HEAD), or ``passed``.
    """
    n_tiles: tl.constexpr = (WIDTH + COLUMNS - 1) // COLUMNS
    first = tl.program_id(0) // n_tiles
    d = tl.program_id(0) % n_tiles * COLUMNS + tl.arange(0, COLUMNS)
    wide = d < WIDTH
    # Why whole tiles: each thread sums its own numbers, and threads meet once, behind the loop.
    bias_sum = tl.zeros((ROWS, COLUMNS), tl.float32)
    head_sum = tl.zeros((ROWS, COLUMNS), tl.float32)
    weights = tl.load(head + d, mask=wide, other=0.0)
    for at in range(first * ROWS, n_rows, tl.num_programs(0) // n_tiles * ROWS):
        row = at + tl.arange(0, ROWS)
        there = row < n_rows
        inside = there[:, None] & wide[None, :]
        n = row[:, None] * WIDTH + d[None, :]
        lives = tl.load(alive + n, mask=inside, other=0)
        pull = tl.load(slope + row, mask=there, other=0.0)
        if LAST:
            g = pull[:, None] * weights[None, :]
            head_sum += pull[:, None] * tl.load(h + n, mask=inside, other=0.0).to(tl.float32)
        else:
            g = tl.load(product + n, mask=inside, other=0.0).to(tl.float32)
            if RESIDUAL:
                if FROM_HEAD:
                    g += pull[:, None] * weights[None, :]
                else:
                    g += tl.load(passed + n, mask=inside, other=0.0).to(tl.float32)
            if KEEPS:
                tl.store(total + n, g.to(total.dtype.element_ty), mask=inside)
        back = tl.where(lives != 0, g * scale, 0.0)
        bias_sum += back
        tl.store(before_grad + n, back.to(before_grad.dtype.element_ty), mask=inside)
    parts += first * n_parts_numbers
    tl.store(parts + at_bias + d, tl.sum(bias_sum, 0), mask=wide)
    if LAST:
        tl.store(parts + d, tl.sum(head_sum, 0), mask=wide)


@triton.jit
def squares_kernel(grad, squares, n_numbers, BLOCK: tl.constexpr):
    """The sum of squares of every block."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(grad + at, mask=at < n_numbers, other=0.0)
    tl.store(squares + tl.program_id(0), tl.sum(g * g, 0))


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
    mean = n_rows / tl.load(sums + 1)
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
