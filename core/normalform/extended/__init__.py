"""The extended conventions: repairs proven at every depth of a schema, in closed and open objects.

Plans of version 2 name places in the schema (`at`) where the classic ones name properties.
"""

from fabricd.core.normalform.extended.apply import ExtendedNormalizer
from fabricd.core.normalform.extended.plan import (
    CountedRule,
    ExtendedPlan,
    ExtendedRule,
    ExtendedWitness,
)
from fabricd.core.normalform.extended.repaired import Edit, Repaired

__all__ = [
    "CountedRule",
    "Edit",
    "ExtendedNormalizer",
    "ExtendedPlan",
    "ExtendedRule",
    "ExtendedWitness",
    "Repaired",
]
