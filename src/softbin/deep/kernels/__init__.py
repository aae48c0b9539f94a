"""Triton kernels for GPUs; ``lookup`` says what they compute, ``device`` is what runs on the GPU.

Nothing here is imported before a GPU asks for it: Triton comes with torch's CUDA builds only.
"""
