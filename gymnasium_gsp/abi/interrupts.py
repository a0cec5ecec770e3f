"""Exceptions at the border of C: those of a ctypes callback, of numba code behind a pointer, and Ctrl-C between them.

None of them can cross it: Python reports them as unraisable and the call returns 0, which may be a valid answer.  So
they are picked up there.
"""

import sys
import threading
from typing import Any, Self


class Interrupts:
    """While entered, keeps what Python could not raise out of a callback; only in the main thread, as signals do.

    Attributes:
        interrupt: Ctrl-C, until somebody raises it again.
        causes: what a callback or numba code raised, where nobody caught it.
    """

    def __init__(self) -> None:
        self.interrupt: BaseException | None = None
        self.causes: list[BaseException] = []
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before, sys.unraisablehook = sys.unraisablehook, self._keep
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            sys.unraisablehook, self._before = self._before, None

    def raise_interrupt(self) -> None:
        """Raise Ctrl-C, if it came."""
        if self.interrupt is not None:
            interrupt, self.interrupt = self.interrupt, None
            raise interrupt

    def take_cause(self) -> BaseException | None:
        """The first exception that was kept, if any; the rest is forgotten."""
        causes, self.causes = self.causes, []
        return causes[0] if causes else None

    def _keep(self, unraisable: Any) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            self.interrupt = unraisable.exc_value
        elif "ctypes" in (unraisable.err_msg or "") or str(unraisable.object).startswith("<numba"):
            self.causes.append(unraisable.exc_value)
        else:
            self._before(unraisable)

    def __getstate__(self) -> dict[str, Any]:
        return {"interrupt": None, "causes": [], "_before": None}
