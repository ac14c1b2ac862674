"""The program `timenav`: the service and its command line."""

from __future__ import annotations

import os
import sysconfig

__all__ = ["find_timenav_bin"]


def find_timenav_bin() -> str:
    """Return the path of the program that this package installed.

    Raise FileNotFoundError if it is in none of the folders in which pip installs programs.
    """
    folders = [
        sysconfig.get_path("scripts"),
        # `pip install --user`
        sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")),
        # `pip install --target`
        os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, "timenav")
        if os.path.isfile(path):
            return path
    message = f"timenav is not in {', '.join(folders)}"
    raise FileNotFoundError(message)
