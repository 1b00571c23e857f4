"""Real tables out of the wheels of PyPI packages, as they are but for columns named here.

What is left out, always by name, names a row (numbers and names of persons, firms, places), dates
it, or is written freely. Files are read where they lie: no package but scikit-learn is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from study import check, stream

MANY = 10
"""Numbers with more different values than this are cut."""


def public(name: str, cut: bool) -> pd.DataFrame:
    """One table; ``cut``: all of it as text, numbers of many values in three levels of equal size.

    Missing values stay missing.
    """
    check("public table", name, PUBLIC)
    frame = PUBLIC[name]()
    return frame.apply(in_levels) if cut else frame


def in_levels(column: pd.Series) -> pd.Series:
    """A column as text: numbers of many values as low, middle and high, others one by one."""
    values = column.astype(object)
    if pd.api.types.is_numeric_dtype(column):
        values = values.map("is {}".format)
        if column.nunique() > MANY:
            names = np.array(["low", "middle", "high"], dtype=object)
            values = pd.Series(names[np.searchsorted(limits(column), column)], column.index)
    return values.where(column.notna(), None)


def limits(column: pd.Series) -> list[float]:
    """The ends of low and middle: a third is low, or what ties leave, half of the others middle."""
    found: list[float] = []
    for parts in (3, 2):
        shares = column.value_counts(normalize=True).sort_index().cumsum()
        if len(shares) > 1:
            found.append((shares.iloc[:-1] - 1 / parts).abs().idxmin())
            column = column[column > found[-1]]
    return found


def halves(frame: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows in two parts, at random, each in the order of the table."""
    rows = stream(seed, "halves", len(frame)).permutation(len(frame))
    cut = len(rows) // 2
    first, second = (frame.iloc[np.sort(part)] for part in (rows[:cut], rows[cut:]))
    return first.reset_index(drop=True), second.reset_index(drop=True)


def packaged(package: str, path: str, *drop: str, **reading: str) -> pd.DataFrame:
    """A file of an installed package, without the columns to ``drop``."""
    spec = find_spec(package)
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = Path(root, path)
        return READERS[file.suffix](file, **reading).drop(columns=list(drop))
    raise ModuleNotFoundError(
        f"{path} is in the wheel of {package}: pip install {package}, in the version that "
        "study/requirements.txt names"
    )


READERS: dict[str, Callable[..., pd.DataFrame]] = {
    ".csv": pd.read_csv,
    ".dta": pd.read_stata,
    ".json": pd.read_json,
}


def learn(name: str, columns: slice = slice(None), **options: bool) -> pd.DataFrame:
    """A table of scikit-learn with its target, which is always the last column."""
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError as error:
        raise ModuleNotFoundError(
            "sklearn.datasets is not here: pip install scikit-learn"
        ) from error
    frame = getattr(datasets, f"load_{name}")(as_frame=True, **options).frame
    return frame.iloc[:, columns].assign(target=frame["target"])


statsmodels = partial(packaged, "statsmodels")
lifelines = partial(packaged, "lifelines")
causaldata = partial(packaged, "causaldata")
vega = partial(packaged, "vega_datasets")

PUBLIC: dict[str, Callable[[], pd.DataFrame]] = {
    "affairs": partial(statsmodels, "datasets/fair/fair.csv"),
    "election": partial(statsmodels, "datasets/anes96/anes96.csv", sep="\t", quotechar="'"),
    "health-insurance": partial(statsmodels, "datasets/randhie/randhie.csv"),
    "travel-mode": partial(
        statsmodels, "datasets/modechoice/modechoice.csv", "individual", sep=";"
    ),
    "credit-cards": partial(statsmodels, "datasets/ccard/ccard.csv"),
    "schools": partial(statsmodels, "datasets/star98/star98.csv"),
    "arrests": partial(lifelines, "datasets/rossi.csv"),
    "kidney": partial(lifelines, "datasets/kidney_transplant.csv"),
    "breast-cancer-trial": partial(lifelines, "datasets/gbsg2.csv"),
    "lung": partial(lifelines, "datasets/lung.csv"),
    "larynx": partial(lifelines, "datasets/larynx.csv"),
    "rulers": partial(
        lifelines,
        "datasets/dd.csv",
        *("ctryname", "cowcode2", "politycode", "ehead", "leaderspellreg"),
    ),
    "titanic": partial(causaldata, "titanic/titanic.dta"),
    "training": partial(causaldata, "nsw_mixtape/nsw_mixtape.dta", "data_id"),
    "hiv-results": partial(causaldata, "thornton_hiv/thornton_hiv.dta", "villnum"),
    "college": partial(causaldata, "close_college/close_college.dta"),
    "crop-insurance": partial(causaldata, "social_insure/Cai_2015.csv", "address", "village"),
    "politicians": partial(causaldata, "black_politicians/black_politicians.csv"),
    "transfers": partial(causaldata, "gov_transfers/Government_Transfers_RDD_Data.csv"),
    "services": partial(causaldata, "adult_services/adult_services.dta", "id"),
    "late-payment": partial(causaldata, "credit_cards/credit_cards.dta"),
    "restaurants": partial(
        causaldata, "restaurant_inspections/restaurant_data.csv", "business_name"
    ),
    "labour": partial(causaldata, "Mroz/Mroz.csv", "Unnamed: 0"),
    "autos": partial(causaldata, "auto/auto.dta", "make"),
    "nations": partial(causaldata, "gapminder/gapminder.csv", "country"),
    "cars": partial(vega, "_data/cars.json", "Name", "Year"),
    "barley-yield": partial(vega, "_data/barley.json"),
    "weather": partial(vega, "_data/seattle-weather.csv", "date"),
    "penguins": partial(packaged, "palmerpenguins", "data/penguins.csv"),
    "wine": partial(learn, "wine"),
    "tumours": partial(learn, "breast_cancer", slice(10)),
    "diabetes-progress": partial(learn, "diabetes", scaled=False),
}
