"""The command line: ``softbin``, or ``python -m softbin``. Needs ``pip install "softbin[cli]"``."""
