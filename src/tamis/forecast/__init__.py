"""Before a long run: what it will take, and what it can see at this number of rows."""

from tamis.forecast.make import forecast
from tamis.forecast.model import Detectable, Forecast

__all__ = ["Detectable", "Forecast", "forecast"]
