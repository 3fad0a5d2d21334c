"""The doctor tells which plugins the next start loads, and imports none of others for that."""

from channels.checkup import Finding, note, ok
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import names_of_ours
from gateway.settings.settings import Settings
from gateway.texts.findings import finding_in
from gateway.upkeep.doctor.plugins import look_at_plugins
from tests.plugins.packages import Packages

TELLS = "open(__file__ + '.imported', 'w').close()\nclass P(Plugin):\n    name = 'dice'\n"
ALL = len(names_of_ours())


def look(packages: Packages, *names: str, off: frozenset[str] = frozenset()) -> list[Finding]:
    settings = Settings(home=packages.home, plugins=names, plugins_off=off)
    found = list(look_at_plugins(settings))
    assert not list(packages.folder.glob("*.imported"))
    for each in found:
        for words in filter(None, (each.what, each.fix)):
            assert finding_in(words, "zh") != words
    return found


def test_without_settings_ours_are_on(packages: Packages) -> None:
    assert look(packages) == [ok(f"plugins: {ALL} of {ALL} that come with Parley are on")]


def test_what_is_off_is_counted_and_what_is_unknown_named(packages: Packages, ours: str) -> None:
    assert look(packages, off=frozenset({ours, "dcie"})) == [
        ok(f"plugins: {ALL - 1} of {ALL} that come with Parley are on; switched off: {ours}"),
        note("PARLEY_PLUGINS_OFF names dcie, and there is no such plugin", "correct it, or leave it out"),
    ]


def test_one_that_would_be_loaded_is_named_with_its_digest_and_not_approved_by_a_look(packages: Packages) -> None:
    packages.install(TELLS)

    found = look(packages, "dice")[1]

    assert found.mark == "ok"
    assert found.what.startswith("plugin dice: parley-dice 1.0, digest ")
    assert "`parley plugin check dice` tells its rights and what it may refuse, /plugins" in found.what
    assert ApprovedPlugins(packages.home).approved("dice") is None


def test_a_changed_one_is_a_problem_until_it_is_approved(packages: Packages) -> None:
    packages.install("class P(Plugin):\n    name = 'dice'\n")
    assert packages.chosen(["dice"]).others
    packages.install(TELLS, version="1.1")

    found = look(packages, "dice")[1]
    assert found.mark == "problem"
    assert "parley-dice 1.1" in found.what
    assert "/plugins approve dice" in found.fix

    ApprovedPlugins(packages.home).approve("dice", packages.chosen(["dice"]).contents["dice"])
    assert look(packages, "dice")[1].mark == "ok"


def test_one_that_is_missing_doubled_unreadable_or_has_the_name_of_ours_is_a_problem(
    packages: Packages, ours: str
) -> None:
    packages.install(TELLS, package="one-dice")
    packages.install(TELLS, package="other-dice")
    packages.install(TELLS, name=ours)
    packages.install(TELLS, name="lost", points={"lost": "no_such_module:P"})

    found = look(packages, "dice", "gone", ours, "lost")[1:]

    assert [each.mark for each in found] == ["problem"] * 4
    assert found[0].fix == "uninstall one-dice and other-dice, or leave one"
    assert found[1].what == "plugin gone: no installed package has it"
    assert found[2].what == f"plugin {ours}: another one has its name, too"
    assert "No module named 'no_such_module'" in found[3].what


def test_one_that_is_switched_off_is_named(packages: Packages) -> None:
    packages.install(TELLS)

    assert look(packages, "dice", off=frozenset({"dice"}))[1:] == [
        ok("plugin dice: switched off by PARLEY_PLUGINS_OFF")
    ]


def test_one_that_is_installed_and_not_named_is_told_of(packages: Packages) -> None:
    packages.install(TELLS)

    assert look(packages)[1:] == [
        note("plugin dice: installed, but PARLEY_PLUGINS does not name it", "add it there if you trust it")
    ]
