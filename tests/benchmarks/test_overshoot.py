"""The table of overshoots runs to its end; how large they are is for an idle machine to say."""

from benchmarks import overshoot


def test_the_table(capsys):
    overshoot.main(["--algorithms", "uct", "--seconds", "0.001", "--cases", "FrozenLake", "a step of 20 ms"])
    *_, lake, line = capsys.readouterr().out.splitlines()
    for text, name in ((lake, "FrozenLake"), (line, "a step of 20 ms")):
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        assert cells[:3] == [name, "uct", "0.001"]
        assert float(cells[3]) <= float(cells[4])
        assert cells[5] in ("yes", "no")
