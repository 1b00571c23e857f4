"""Tables in memory are counted by numpy while they are few, and by compiled loops."""

from __future__ import annotations

import pytest

from tamis.counting import memory, small


@pytest.fixture(autouse=True, scope="module", params=["by numpy", "compiled"])
def counted(request):
    """Every test of counts holds for both."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by numpy":
            patch.setattr(memory, "is_at_hand", lambda loop: False)
            patch.setattr(small, "FEW_TABLES", 10**9)
        else:
            patch.setattr(small, "FEW_TABLES", 0)
        yield
