"""Every error a caller may catch. Each message says where, what is wrong (with the value), what to do."""


class SoftbinError(Exception):
    """The parent of all errors softbin raises on purpose."""


class OptionError(SoftbinError, ValueError):
    """An option has a value that cannot be used."""


class DataError(SoftbinError, ValueError):
    """The data cannot be used as they are."""


class DataTypeError(DataError, TypeError):
    """The data, or one column of them, are not real numbers."""


class SavedFileError(SoftbinError, ValueError):
    """A saved file cannot be read back."""


class DownloadError(SoftbinError, OSError):
    """A file cannot be downloaded, or is not the one it should be."""


class CacheError(SoftbinError, OSError):
    """The cache directory, or a file in it, cannot be used."""


class MissingDependencyError(SoftbinError, ImportError):
    """An optional package is needed and not installed."""


class DivergedError(SoftbinError, ValueError):
    """A training ran off to NaN or infinity."""


class DeviceMemoryError(SoftbinError, MemoryError):
    """A device has too little memory for what it was asked to do."""


class RunError(SoftbinError, RuntimeError):
    """A computation was cut off from outside."""
