from driftmap.cli import main


def test_the_plan_is_printed(tmp_path, capsys):
    (tmp_path / "source").write_text("aa\t1\tnew.txt\nbb\t1\tkept.txt\n")
    (tmp_path / "target").write_text("bb\t1\tkept.txt\ncc\t1\told.txt\n")
    assert main([str(tmp_path / "source"), str(tmp_path / "target")]) == 1
    assert capsys.readouterr().out == "delete  old.txt\ncopy    new.txt\n"


def test_an_unreadable_listing_is_named(tmp_path, capsys):
    (tmp_path / "broken").write_text("nonsense\n")
    assert main([str(tmp_path / "broken"), str(tmp_path / "broken")]) == 2
    assert "broken: line 1" in capsys.readouterr().err
