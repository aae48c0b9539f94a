"""Scores of many rows: portion by portion, in smaller ones where the device has too little memory."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from softbin.errors import DeviceMemoryError


def scores_of(network: nn.Module, values: Tensor, most: int) -> Iterator[Tensor]:
    """What comes out for every ``most`` rows, or half as many, again and again, until they fit."""
    begin = 0
    while begin < len(values):
        scores = None
        try:
            scores = network(values[begin : begin + most])
        except torch.OutOfMemoryError as error:
            if most == 1:
                raise DeviceMemoryError(
                    f"{values.device}: too little memory for the scores of one row ({error}); "
                    "pass a smaller network, or another device"
                ) from None
        # Why not above: an error keeps alive what the network was about, until it is forgotten.
        if scores is None:
            most = (most + 1) // 2
            if values.is_cuda:
                torch.cuda.empty_cache()
        else:
            begin += len(scores)
            yield scores
