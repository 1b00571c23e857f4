"""Tables in memory are counted by numpy while they are few, and by compiled loops."""

from __future__ import annotations

import pytest

from tamis.counting.compiled import uncompiled


@pytest.fixture(autouse=True, scope="module", params=["by numpy", "compiled"])
def counted(request):
    """Every test of counts holds for both."""
    with pytest.MonkeyPatch.context() as patch:
        by_numpy = request.param == "by numpy"
        patch.setattr(uncompiled, "allows", lambda loop, seconds=0.0: by_numpy and seconds < 1.0)
        yield
