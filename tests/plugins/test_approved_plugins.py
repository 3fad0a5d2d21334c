"""What is installed of a plugin of others is loaded only as an owner has approved it."""

import importlib
import os
import py_compile
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.app.chosen_plugins import own_plugins
from gateway.permissions.approved_plugins import ApprovedPlugins
from tests.plugins.packages import Packages

PLAIN = "class P(Plugin):\n    name = 'dice'\n"
TELLS = "open(__file__ + '.imported', 'w').close()\n" + PLAIN


def is_loaded(packages: Packages) -> bool:
    for module in [name for name in sys.modules if name.startswith("parley_dice")]:
        del sys.modules[module]
    importlib.invalidate_caches()
    chosen = packages.chosen(["dice"])
    assert chosen.left_out.keys() == chosen.changed
    return "dice" in chosen.others


def test_what_is_found_first_is_approved_and_kept(packages: Packages) -> None:
    packages.install(PLAIN)

    assert is_loaded(packages)

    approved = ApprovedPlugins(packages.home).approved("dice")
    assert approved is not None
    assert (approved.package, approved.version) == ("parley-dice", "1.0")
    assert (packages.home / "plugins.json").stat().st_mode & 0o777 == 0o600


def test_a_later_version_is_not_imported_until_it_is_approved(packages: Packages) -> None:
    packages.install(PLAIN)
    assert is_loaded(packages)
    packages.install(TELLS, version="1.1")

    chosen = packages.chosen(["dice"])

    assert chosen.kinds == own_plugins()
    assert not list(packages.folder.glob("*.imported"))
    assert "found parley-dice 1.1, digest " in chosen.left_out["dice"]
    assert "instead of 1.0, digest " in chosen.left_out["dice"]

    ApprovedPlugins(packages.home).approve("dice", chosen.contents["dice"])

    assert is_loaded(packages)
    assert list(packages.folder.glob("*.imported"))


def test_the_version_that_was_approved_before_needs_approval_again(packages: Packages) -> None:
    packages.install(PLAIN)
    assert is_loaded(packages)
    packages.install(PLAIN, version="1.1")
    ApprovedPlugins(packages.home).approve("dice", packages.chosen(["dice"]).contents["dice"])

    packages.install(PLAIN)

    assert not is_loaded(packages)


def test_the_same_version_installed_again_needs_no_approval(packages: Packages) -> None:
    packages.install(PLAIN)
    assert is_loaded(packages)
    packages.install(PLAIN)
    module, about = packages.folder / "parley_dice.py", packages.folder / "parley_dice-1.0.dist-info"
    os.utime(module, (1, 1))
    py_compile.compile(str(module))
    for name in ("INSTALLER", "REQUESTED", "direct_url.json"):
        (about / name).write_text("of another installer")
    compiled = [f"__pycache__/{each.name},," for each in (packages.folder / "__pycache__").iterdir()]
    lines = [*compiled, *(f"{about.name}/{name},," for name in ("INSTALLER", "REQUESTED", "direct_url.json"))]
    (about / "RECORD").write_text((about / "RECORD").read_text() + "\n".join(lines))

    assert is_loaded(packages)


def edits_the_module(folder: Path) -> None:
    (folder / "parley_dice" / "__init__.py").write_text((folder / "parley_dice" / "__init__.py").read_text() + "\n")


def adds_a_module(folder: Path) -> None:
    (folder / "parley_dice" / "inner" / "more.py").write_text("")


def edits_an_inner_module(folder: Path) -> None:
    (folder / "parley_dice" / "inner" / "rules.py").write_text("SIDES = 7")


def edits_data(folder: Path) -> None:
    (folder / "parley_dice" / "sides.txt").write_text("7")


def removes_a_file(folder: Path) -> None:
    (folder / "parley_dice" / "sides.txt").unlink()


def renames_a_file(folder: Path) -> None:
    (folder / "parley_dice" / "sides.txt").rename(folder / "parley_dice" / "sides.txt.old")


def moves_the_entry_point(folder: Path) -> None:
    file = folder / "parley_dice-1.0.dist-info" / "entry_points.txt"
    file.write_text(file.read_text().replace(":P", ":Q"))


def shadows_the_package(folder: Path) -> None:
    before = folder.parent / "earlier-on-the-path"
    shutil.copytree(folder / "parley_dice", before / "parley_dice")
    (before / "parley_dice" / "inner" / "rules.py").write_text("SIDES = 8")
    sys.path.insert(0, str(before))


def compiles_something_else(folder: Path) -> None:
    """Leave a compiled file that Python takes as it is, whatever the source says."""
    source = folder / "parley_dice" / "inner" / "rules.py"
    before = source.read_text()
    source.write_text("SIDES = 9")
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    source.write_text(before)


@pytest.mark.parametrize(
    "change",
    [
        edits_the_module,
        adds_a_module,
        edits_an_inner_module,
        edits_data,
        removes_a_file,
        renames_a_file,
        moves_the_entry_point,
        shadows_the_package,
        compiles_something_else,
    ],
)
def test_whatever_changes_in_its_files_needs_approval(
    packages: Packages, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    packages.install_folder(
        {
            "__init__.py": PLAIN,
            "inner/__init__.py": "",
            "inner/rules.py": "SIDES = 6",
            "sides.txt": "6",
        }
    )
    assert is_loaded(packages)
    assert is_loaded(packages), "and a second time, with the compiled files of the first"

    change(packages.folder)

    assert not is_loaded(packages)


def test_without_a_list_of_files_the_class_that_is_named_counts_too(packages: Packages) -> None:
    packages.install_folder({"__init__.py": PLAIN + "Q = P\n"})
    (packages.folder / "parley_dice-1.0.dist-info" / "RECORD").write_text("")
    assert is_loaded(packages)

    moves_the_entry_point(packages.folder)

    assert not is_loaded(packages)


def test_a_package_that_is_read_from_the_folder_of_its_author_is_approved_by_the_files_there(
    packages: Packages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages.install_folder({"__init__.py": PLAIN, "rules.py": "SIDES = 6"})
    source = tmp_path / "source"
    source.mkdir()
    (packages.folder / "parley_dice").rename(source / "parley_dice")
    (packages.folder / "parley_dice-1.0.dist-info" / "RECORD").write_text("parley_dice-1.0.dist-info/METADATA,,\n")
    monkeypatch.syspath_prepend(str(source))
    assert is_loaded(packages)

    (source / "parley_dice" / "rules.py").write_text("SIDES = 7")

    assert not is_loaded(packages)


def test_a_folder_that_links_to_itself_has_an_end(packages: Packages) -> None:
    packages.install_folder({"__init__.py": PLAIN})
    (packages.folder / "parley_dice" / "again").symlink_to(packages.folder / "parley_dice")

    assert is_loaded(packages)


def test_after_the_file_of_approvals_is_damaged_nothing_is_approved_by_itself(packages: Packages) -> None:
    (packages.home / "plugins.json").write_text("{")
    packages.install(PLAIN)
    packages.install("class P(Plugin):\n    name = 'coins'\n", name="coins")

    chosen = packages.chosen(["dice", "coins"])
    assert chosen.changed == {"dice", "coins"}
    ApprovedPlugins(packages.home).approve("dice", chosen.contents["dice"])

    later = packages.chosen(["dice", "coins"])
    assert later.others.keys() == {"dice"}
    assert later.changed == {"coins"}


def test_one_whose_approval_cannot_be_kept_is_left_out(packages: Packages) -> None:
    (packages.home / "plugins.json.lock").mkdir()
    packages.install(TELLS)

    chosen = packages.chosen(["dice"])

    assert "IsADirectoryError" in chosen.left_out["dice"]
    assert not list(packages.folder.glob("*.imported"))
