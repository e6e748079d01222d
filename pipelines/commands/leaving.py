"""The end of a process that has nothing more to do."""

import atexit
import os
import sys
import threading
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End this process, after what was registered for its end, without taking it apart.

    Python unloads two thousand modules one by one, for as long as evaluating a hundred responses
    takes. Where a thread is still at work that would be waited for, or what was printed finds no
    reader, this is an ordinary exit.
    """
    main = threading.main_thread()
    at_work = any(not (one.daemon or one is main) for one in threading.enumerate())
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        at_work = True
    if at_work:
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)
