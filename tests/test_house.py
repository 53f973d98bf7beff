"""The borders of the house. Each is one function from files to faults, and a proof that it can find one.

What is loaded is asked of a fresh interpreter; what is written, of the syntax tree.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]


def files(*patterns: str) -> list[Path]:
    return sorted({path for pattern in patterns for path in HOUSE.glob(pattern)})


def tracked() -> list[Path]:
    """The files of the checkout: what git knows, or, in a copy without git, what is not hidden."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=HOUSE,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
        found = [HOUSE / name for name in names if name]
    except (OSError, subprocess.CalledProcessError):
        found = files("*", *(f"{folder}/**/*" for folder in ("rnnviz", "pages", "tests", "benchmarks", "docs")))
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def modules(*patterns: str) -> list[str]:
    """Names to import of the files under rnnviz/, as the globs find them."""
    names = [path.relative_to(HOUSE).with_suffix("").parts for path in files(*patterns)]
    return [".".join(parts[:-1] if parts[-1] == "__init__" else parts) for parts in names]


# ---------------------------------------------------------------- what is loaded

LOADS = """
import importlib, sys
names, forbidden = sys.argv[1].split(","), sys.argv[2].split(",")
for name in names:
    importlib.import_module(name)
    for other in forbidden:
        if other in sys.modules:
            sys.exit(f"{name} loads {other}")
"""


def loads(names: Iterable[str], forbidden: str, folder: Path = HOUSE) -> str:
    """The first fault, or "". A fresh interpreter imports one name after the other and looks after each."""
    done = subprocess.run(
        [sys.executable, "-c", LOADS, ",".join(names), forbidden], cwd=folder, capture_output=True, text=True
    )
    return done.stderr.strip() or ("" if done.returncode == 0 else f"exit code {done.returncode}")


OUTSIDE_UI = [name for name in modules("rnnviz/**/*.py") if not name.startswith("rnnviz.ui")]
WITHOUT_TORCH = modules("rnnviz/figures/**/*.py", "rnnviz/results.py", "rnnviz/config.py", "rnnviz/runs/store.py")
WITHOUT_CHARTS = modules("rnnviz/training.py", "rnnviz/analysis/**/*.py")


@pytest.mark.parametrize(
    ("names", "forbidden"),
    [
        pytest.param(OUTSIDE_UI, "streamlit", id="streamlit stays in ui"),
        pytest.param(WITHOUT_TORCH, "torch", id="torch stops at analysis"),
        pytest.param(WITHOUT_CHARTS, "plotly,altair", id="charts start at figures"),
    ],
)
def test_a_room_loads_only_what_belongs_there(names: list[str], forbidden: str) -> None:
    assert names, "the globs find no module"
    assert loads(names, forbidden) == ""


@pytest.mark.parametrize("forbidden", ["streamlit", "torch", "altair"])
def test_a_load_is_found_also_through_another_module(forbidden: str, tmp_path: Path) -> None:
    (tmp_path / f"{forbidden}.py").touch()  # a stand-in: what counts is the name
    (tmp_path / "friend.py").write_text(f"def later():\n    import {forbidden}\nlater()\n")
    (tmp_path / "guilty.py").write_text("import friend\n")
    assert loads(["json", "guilty"], f"plotly,{forbidden}", tmp_path) == f"guilty loads {forbidden}"


# ---------------------------------------------------------------- what is written


def imports(tree: ast.AST) -> Iterator[str]:
    """The absolute names that the code imports, at any depth: "from a import b" gives a and a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def belongs(name: str, to: Iterable[str]) -> bool:
    return any(name == other or name.startswith(f"{other}.") for other in to)


def processes(tree: ast.Module) -> list[str]:
    """Training and analysis are plain functions of their arguments; processes exist in runs/worker.py alone."""
    forbidden = ("threading", "_thread", "multiprocessing", "concurrent", "torch.multiprocessing")
    return [f"imports {name}" for name in imports(tree) if belongs(name, forbidden)]


def torch_at_all(tree: ast.Module) -> list[str]:
    """A page asks rnnviz/ui/caches*.py, also inside its functions."""
    return [f"imports {name}" for name in imports(tree) if belongs(name, ["torch"])]


def arithmetic(tree: ast.Module) -> list[str]:
    """A page has words and widgets. Its numbers come from the core, its text from f-strings; | joins types."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp | ast.AugAssign) and not isinstance(node.op, ast.BitOr)
    ]


LIGHT = ("rnnviz.config", "rnnviz.own", "rnnviz.results", "rnnviz.scenes", "rnnviz.figures", "rnnviz.runs", "rnnviz.ui")
CORE = ["torch", *(name for name in modules("rnnviz/**/*.py") if name != "rnnviz" and not belongs(name, LIGHT))]


def early_core(tree: ast.Module) -> list[str]:
    """A page paints before torch is loaded, so what caches compute with is imported by those who compute."""

    def outside(node: ast.AST) -> Iterator[ast.stmt]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
                continue
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child
            yield from outside(child)

    top = ast.Module(list(outside(tree)), [])
    return [f"imports {name} outside a function" for name in imports(top) if belongs(name, CORE)]


WRITTEN = [
    pytest.param(
        processes, ("rnnviz/training.py", "rnnviz/analysis/**/*.py"), "from threading import Lock", id="processes"
    ),
    pytest.param(arithmetic, ("pages/*.py",), "def show(n):\n    return n * 2", id="pages do no arithmetic"),
    pytest.param(torch_at_all, ("pages/*.py",), "def show():\n    from torch import nn", id="pages import no torch"),
    pytest.param(early_core, ("rnnviz/ui/caches*.py",), "try:\n    from torch import nn\nfinally: ...", id="caches"),
]


@pytest.mark.parametrize(("faults", "patterns", "guilty"), WRITTEN)
def test_a_file_says_only_what_belongs_there(
    faults: Callable[[ast.Module], list[str]], patterns: tuple[str, ...], guilty: str
) -> None:
    found = files(*patterns)
    assert found, f"no file at {patterns}"
    assert [f"{path.name}: {fault}" for path in found for fault in faults(ast.parse(path.read_text("utf-8")))] == []


@pytest.mark.parametrize(("faults", "patterns", "guilty"), WRITTEN)
def test_what_does_not_belong_is_found(
    faults: Callable[[ast.Module], list[str]], patterns: tuple[str, ...], guilty: str
) -> None:
    assert faults(ast.parse(guilty))
    assert not faults(ast.parse("def show(x: int | None):\n    return f'{x:.3g}'\n"))


# ---------------------------------------------------------------- files


LONG = {
    "cells.py": "three cells, read by comparison",
    "results.py": "the vocabulary of results, a frozen dataclass each",
    "scenes.py": "data, a few lines a scene",
}
"""Files that are one idea and may be longer, each with its reason; tests may be as long as their subject needs."""


def shapeless(paths: Iterable[Path]) -> list[str]:
    """Names and lengths: one idea a file has a name, and it is short."""
    faults = []
    for path in paths:
        if path.suffix in (".py", ".js", ".css"):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            free = path.name in LONG or path.name.startswith("test_")
            faults += [f"{path.name}: {lines} lines, more than 350"] if lines > 350 and not free else []
            faults += [f"{path.name}: name it after its one idea"] if path.stem == "utils" else []
    return faults


def test_files_are_short_and_named() -> None:
    assert shapeless(tracked()) == []


def test_long_files_and_utils_are_found(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("pass\n" * 351)
    assert shapeless([tmp_path / "utils.py"]) == [
        "utils.py: 351 lines, more than 350",
        "utils.py: name it after its one idea",
    ]


# in pieces and with escaped dots, so that this file does not find itself
HOSTS = re.compile(
    r"pypi\.org|pythonhosted\.org|(?:deb|security|snapshot)\.debian\.org|npmjs\.|yarnpkg\.|unpkg\.|jsdelivr\.|cdnjs\."
    r"|anaconda\.org|\bcdn\.\w|esm\.sh|huggingface\.co|(?<!download)\.pytorch\.org/whl"
)
PLACES = re.compile(r"(?<![\w.~-])/(?:work|root|home|Users|opt/wheels)/")
PLACES_IN_DOCS = re.compile(r"(?<![\w.~-])/(?:tmp|var/tmp)/")


def foreign(paths: Iterable[Path]) -> list[str]:
    """Other package hosts than the one of PyTorch's CPU builds, and folders of somebody's machine."""
    faults = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        patterns = [HOSTS, PLACES, PLACES_IN_DOCS] if path.suffix == ".md" else [HOSTS, PLACES]
        faults += [f"{path.name}: {hit[0]}" for pattern in patterns for hit in pattern.finditer(text)]
    return faults


def test_no_file_names_a_package_host_or_somebodys_folders() -> None:
    assert foreign(tracked()) == []


def test_hosts_and_folders_are_found(tmp_path: Path) -> None:
    folder, host = "/wo" + "rk/main", "https://py" + "pi.org/simple"
    (tmp_path / "a.md").write_text(f"cd {folder} && pip install -i {host} from /tmp/x\n")
    (tmp_path / "b.md").write_text("https://download.pytorch.org/whl/cpu, pages/home.py and tests/tmp/x\n")
    assert len(foreign(tmp_path.glob("*.md"))) == 3


# ---------------------------------------------------------------- the README's tree


def tree(text: str) -> dict[str, bool]:
    """The paths of the README's annotated tree, the lines without a gap around app.py's. True: the path leads a line.

    Deeper lines stand in the folder above them, and words after the leading one may name more files of its folder:
    "pages/", then under it "home.py  gates.py".
    """
    blocks = re.split(r"\n\s*\n|```.*", text)
    block = next((block for block in blocks if re.search(r"^\W*app\.py\b", block, re.MULTILINE)), "")
    paths: dict[str, bool] = {}
    folders: list[tuple[int, str]] = []
    for line in block.splitlines():
        plain = re.sub(r"[│├└─`]", " ", line)
        depth = len(plain) - len(plain.lstrip())
        words = re.findall(r"[\w./-]+", plain)
        if not words or plain.split()[0][0] not in words[0]:
            continue
        while folders and folders[-1][0] >= depth:
            folders.pop()
        here = folders[-1][1] if folders else ""
        paths[here + words[0]] = True
        if words[0].endswith("/"):
            here += words[0]
            folders.append((depth, here))
        for word in words[1:]:
            paths.setdefault(here + word.rstrip("."), False)
    return paths


def missing(readme: str, paths: Iterable[str]) -> list[str]:
    named = tree(readme)
    return [path for path in paths if path not in named]


def gone(readme: str) -> list[str]:
    return [path for path, leads in tree(readme).items() if leads and not (HOUSE / path).exists()]


def readme() -> str:
    return (HOUSE / "README.md").read_text(encoding="utf-8")


def test_every_page_module_and_top_level_file_stands_in_the_tree() -> None:
    names = [path.relative_to(HOUSE).as_posix() for path in tracked()]
    top = [name for name in names if "/" not in name and not name.startswith(".")]
    code = [name for name in names if re.fullmatch(r"(pages|rnnviz)/.*\.py", name) and not name.endswith("__init__.py")]
    assert missing(readme(), top + code) == []


def test_the_tree_names_nothing_that_is_gone() -> None:
    assert gone(readme()) == []


TREE = """
The house:

    app.py                  the server
    pages/                  one script a view
      home.py  gates.py
    rnnviz/
    ├── tasks/adding.py     the task
    ├── runs/               store.py (what a run is), worker.py (who runs it).
    └── cells.py            three cells
    tests/                  mirrors rnnviz/

More words, and setup.py.
"""


def test_a_missing_module_is_found() -> None:
    here = ["app.py", "pages/gates.py", "rnnviz/tasks/adding.py", "rnnviz/runs/worker.py", "rnnviz/cells.py"]
    assert missing(TREE, [*here, "rnnviz/trace.py", "setup.py"]) == ["rnnviz/trace.py", "setup.py"]


def test_a_line_about_nothing_is_found() -> None:
    assert [path for path in gone(TREE.replace("pages/  ", "stages/ ")) if "home" in path] == ["stages/home.py"]


# ---------------------------------------------------------------- links in the docs


def dangling(page: Path) -> list[str]:
    """Relative links and pictures of a Markdown page that lead nowhere."""
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    return [target for target in targets if "://" not in target and not (page.parent / target).exists()]


@pytest.mark.parametrize("page", files("*.md", "docs/*.md"), ids=lambda page: page.name)
def test_links_of_the_docs_lead_somewhere(page: Path) -> None:
    assert dangling(page) == []


def test_a_dangling_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("![x](gone.png) [y](a.md) [z](https://example.org)")
    assert dangling(tmp_path / "a.md") == ["gone.png"]
