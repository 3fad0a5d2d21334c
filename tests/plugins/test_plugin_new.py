"""`parley plugin new` writes a package that works, and refuses names and folders that would not."""

from pathlib import Path

import pytest

from gateway.app.chosen_plugins import own_plugins
from gateway.app.new_plugin import new_plugin, steps
from gateway.errors import ParleyError
from tests.plugins.outside import install, run
from tests.process import REPOSITORY


@pytest.mark.parametrize("name", ["greeter", "plugin", "my_list2"])
def test_the_package_is_written_tested_installed_and_checked(tmp_path: Path, name: str) -> None:
    package, site = tmp_path / f"parley-{name.replace('_', '-')}", tmp_path / "site"

    written = run("-P", "-m", "gateway.cli", "plugin", "new", name, cwd=tmp_path, site=site)
    assert written.returncode == 0, written.stderr
    install(package, site)
    tested = run("-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=package, site=site)
    checked = run("-P", "-m", "gateway.cli", "plugin", "check", name, cwd=tmp_path, site=site)
    listed = run("-P", "-m", "gateway.cli", "plugin", "list", cwd=tmp_path, site=site, PARLEY_PLUGINS=name)

    assert f"Wrote the plugin {name} to {package}" in written.stdout
    assert "2 passed" in tested.stdout, tested.stdout
    assert "✓ it can be loaded" in checked.stdout, checked.stdout + checked.stderr
    assert f"commands: /{name}" in checked.stdout
    assert f"tools: {name}_greeting" in checked.stdout
    assert any(line.startswith(f"{name} ") and "  on  " in line for line in listed.stdout.splitlines()), listed.stdout


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Dice", "lower-case letters"),
        ("2dice", "begin with a letter"),
        ("di-ce", "lower-case letters"),
        ("di__ce", "between them"),
        ("dice_", "between them"),
        ("würfel", "lower-case letters"),
        ("../dice", "lower-case letters"),
        ("dice\n", "lower-case letters"),
        ("", "lower-case letters"),
        ("d" * 21, "at most 20"),
        ("class", "a word of Python"),
        ("help", "two commands have the name /help"),
        ("installed", "is installed"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_in_a_sentence(tmp_path: Path, name: str, why: str) -> None:
    folder = tmp_path / "there"

    with pytest.raises(ParleyError) as refused:
        new_plugin(name, folder, {"installed"})

    assert why in refused.value.sentence
    assert "\n" not in refused.value.sentence
    assert not folder.exists()


def test_names_of_ours_are_refused(tmp_path: Path) -> None:
    for ours in own_plugins():
        with pytest.raises(ParleyError, match=f"the name {ours.name} comes with Parley"):
            new_plugin(ours.name, tmp_path / "there")


def test_what_is_there_already_is_left_as_it_is(tmp_path: Path) -> None:
    folder, file, link = tmp_path / "folder", tmp_path / "file", tmp_path / "link"
    folder.mkdir()
    file.write_text("mine")
    link.symlink_to(tmp_path / "nowhere")

    for there in (folder, file, link):
        with pytest.raises(ParleyError, match=r"is there already.*--folder"):
            new_plugin("greeter", there)
    with pytest.raises(ParleyError, match=r"cannot be made.*--folder"):
        new_plugin("greeter", file / "below")

    assert (list(folder.iterdir()), file.read_text(), link.is_symlink()) == ([], "mine", True)
    assert not (tmp_path / "nowhere").exists()


def test_the_next_steps_name_the_folder_and_the_command(tmp_path: Path) -> None:
    told = "\n".join(steps("greeter", tmp_path / "with a space"))

    assert f"cd '{tmp_path / 'with a space'}'" in told
    assert "plugin check greeter" in told
    assert "PARLEY_PLUGINS=greeter" in told


def test_the_next_steps_have_the_command_of_a_checkout_as_a_person_types_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.app.new_plugin.shutil.which", lambda _: None)

    told = [line.strip() for line in steps("greeter", tmp_path)]

    assert f"{REPOSITORY / 'run'} plugin check greeter" in told
