"""`python -m rejoinder`: the same program as the `rejoinder` command."""

from rejoinder.cli import main

if __name__ == "__main__":
    main()
