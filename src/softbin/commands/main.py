"""The ``softbin`` command: which subcommands there are, and how errors and warnings reach the user.

Exit codes: 0 done, 1 the data, a file or an option cannot be used (or cells failed), 2 the command line is wrong,
3 a fault of softbin itself, 130 interrupted.
"""

import os
import re
import shlex
import sys
import warnings
from typing import Any

from softbin.errors import MissingDependencyError, SoftbinError
from softbin.optional import need

EPILOG = "Errors are one line; softbin --debug COMMAND shows where they come from."


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    try:
        for name in ("typer", "rich", "pyarrow"):
            need(name)
        code = run(given, debug)
    except MissingDependencyError as error:
        code = 1
        print(f"softbin: {error}", file=sys.stderr)
    sys.exit(code)


def run(arguments: list[str], debug: bool) -> int:
    """Runs the command line; returns the exit code."""
    from typer.main import get_command

    from softbin.commands.app import app

    command = get_command(app)
    previous = warnings.showwarning
    if not debug:
        warnings.showwarning = _show_warning
    try:
        done = command.main(arguments, prog_name="softbin", standalone_mode=False, obj=_as_typed(arguments))
        return done if isinstance(done, int) else 0
    except KeyboardInterrupt:
        print("softbin: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Why: whoever read our output has stopped, and Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if debug:
            raise
        print(f"softbin: {_line(error)}", file=sys.stderr)
        return _code(error)
    finally:
        warnings.showwarning = previous


def _as_typed(arguments: list[str]) -> str:
    """The command line, to be read on other machines: of absolute paths only the name."""
    return shlex.join(["softbin", *(re.sub(r"(^|=)/.*/", r"\1", argument) for argument in arguments)])


def _code(error: Exception) -> int:
    if isinstance(error, (SoftbinError, OSError)):
        return 1
    return 2 if _is_usage(error) else 130 if type(error).__name__ == "Abort" else 3


def _line(error: Exception) -> str:
    if _is_usage(error):
        context = getattr(error, "ctx", None)
        place = "softbin" if context is None else context.command_path
        return f"{error.format_message()} See: {place} --help"  # type: ignore[attr-defined]
    if isinstance(error, (SoftbinError, OSError)):
        return " ".join(str(error).replace("pass overwrite=True to replace it", "pass --force to replace it").split())
    if type(error).__name__ == "Abort":
        return "interrupted"
    return f"a fault of softbin itself, {type(error).__name__}: {error}; please report it with what --debug shows"


def _is_usage(error: Exception) -> bool:
    return hasattr(error, "format_message")


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print(f"softbin: warning: {str(message).splitlines()[0]}", file=sys.stderr)
