"""What every test may use.

Nothing here imports rnnviz at the top: the import hook that checks shapes is set after this file is read.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# One torch thread, as in the server and its workers (two are slower at these sizes), also in processes that tests start
os.environ["OMP_NUM_THREADS"] = "1"

# In CI the same examples each time; by hand new ones, which may find something new
settings.register_profile("rnnviz", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("rnnviz")


@pytest.fixture(scope="session")
def fixtures() -> Callable[[str], Any]:
    """fixtures("bptt") is the content of tests/fixtures/bptt.json, read anew at each call."""

    def load(name: str) -> Any:
        return json.loads((Path(__file__).parent / "fixtures" / f"{name}.json").read_text(encoding="utf-8"))

    return load


@pytest.fixture(scope="session", autouse=True)
def _runs_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the runs of the person who starts it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RNNVIZ_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file stays in one test process, and so do all browser tests: they share a server and a Chromium."""
    from xdist.scheduler import LoadFileScheduling

    class BrowserTogether(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)

    return BrowserTogether(config, log)
