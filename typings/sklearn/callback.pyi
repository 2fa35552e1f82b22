"""What this library uses of `sklearn.callback`, which has no types of its own."""

from collections.abc import Callable
from typing import Any, Self

class CallbackSupportMixin:
    def set_callbacks(self, *callbacks: Any) -> Self: ...
    def _init_callback_context(
        self,
        task_name: str = "fit",
        task_id: int = 0,
        max_subtasks: int | None = 0,
        sequential_subtasks: bool = True,
    ) -> Any: ...

def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]: ...
