"""The project's records."""

from schemas import TABLES
from transforms import cleaned

NAME = TABLES[0]
TEXT = cleaned(" Oslo is in Norway. ")
