"""``python -m study NAME|FILE.toml [--quick] [--out FOLDER] [--jobs N]``, and ``figure1``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from study import figures
from study.harness import MEASURES, PLANS, Study, load


def main() -> None:
    """Run what is asked for, and say what came of it."""
    names = ", ".join(sorted(one.stem for one in PLANS.glob("*.toml")))
    parser = argparse.ArgumentParser(prog="python -m study", description=__doc__)
    parser.add_argument("study", help=f"{names}, a plan of your own (.toml), or figure1")
    parser.add_argument("--quick", action="store_true", help="the small version of the plan")
    parser.add_argument("--out", type=Path, default=Path("build/study"), help="(%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="(%(default)s)")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.study == "figure1":
        print(*figures.figure1(asked.out / "figure1.png"), sep="\n")
        return
    try:
        plan = load(asked.study, quick=asked.quick)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    os.environ |= {f"{one}_NUM_THREADS": "1" for one in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    path = asked.out / f"{plan.name}{'-quick' * asked.quick}.csv"
    Study(plan, path).run(asked.jobs)
    summary = figures.summarise(figures.read(path))
    print(f"\n## {plan.name}: mean {MEASURES[plan.measure]} ± standard error (CPU seconds)")
    print(*figures.markdown(summary, plan.measure), sep="\n")
    for family, part in summary.groupby("family") if plan.figure else ():
        figures.save(figures.measure_figure(part, plan.measure), path.with_suffix(f".{family}.png"))
    summary.to_csv(path.with_suffix(".means.csv"), index=False, float_format="%.4g")
    print(f"\nEvery run: {path}")


if __name__ == "__main__":
    main()
