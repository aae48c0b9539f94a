"""``python -m softbin``: the command line."""

from softbin.commands.main import main

if __name__ == "__main__":
    main()
