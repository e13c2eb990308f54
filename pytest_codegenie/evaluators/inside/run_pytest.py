"""Runs pytest on a hostile tree: ``python -I -B run_pytest.py REQUEST.json``.

Everything that pytest needs is imported before the tree gets on ``sys.path``. Where
the tree is pytest's own repository, or that of something that pytest is made of, that
cannot be: then the patch's own pytest runs the tests, and what it says is worth less.
"""

import os
import sys


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import report as reporting


_OURS = sys.path.pop(0)


def import_witness():
    """Import pytest, and the plugins of ours; leave no trace of these."""
    sys.path.insert(0, _OURS)
    import pytest_witness

    sys.path.remove(_OURS)
    for name in ("guard", "pytest_witness", "report"):
        sys.modules.pop(name)
    return pytest_witness


def arguments(request):
    """What pytest is called with; the case's own settings add to it."""
    return [
        "-c",
        request["settings"],
        "--rootdir=" + request["tree"],
        "--confcutdir=" + request["tree"],
        "-o",
        "cache_dir=" + request["cache"],
        "--continue-on-collection-errors",
        "--maxfail=0",
        "--tb=short",
    ]


def main():
    request = reporting.take_request()
    report = reporting.Report(request["report"], request.pop("key"))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    if not request["plugins"]:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    place = (request["tree"], request["roots"])
    if request["pytest_in_tree"]:
        if request["only_begin"]:
            report.write(kind="began")
            return
        reporting.let_in(*place)
    ours = import_witness()
    witness = ours.Witness(request, report)
    plugins = [ours.Door(request, witness), witness]
    if not request["only_begin"]:
        # At the end: plugins of the environment must not get their own modules from
        # the tree, while the tree's own plugins have to be found.
        reporting.let_in(*place, first=request["pytest_in_tree"])
    pytest = sys.modules["pytest"]
    sys.exit(int(pytest.main(arguments(request) + request["files"], plugins=plugins)))


if __name__ == "__main__":
    main()
