"""`normal-forms.json`, kept beside the artifact. Whatever ails it never holds up a compile."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from fabricd.core.model import Surface
from fabricd.core.normalform.extended.artifact import (
    NormalForms,
    fresh_normal_forms,
    normal_forms_steps,
)
from fabricd.daemon.cooperate import drive
from fabricd.daemon.health import Health
from fabricd.store import normal_forms
from fabricd.store.durable import shown
from fabricd.store.normal_forms import DamagedNormalForms


class FormKeeper:
    """Derives the extended plans of a surface once, and saves them."""

    def __init__(self, path: Path, health: Health) -> None:
        self._path = path
        self._health = health
        self._forms: NormalForms | None = None
        # Whether the file is not as it should be: the next look tries again.
        self.is_owed = False

    async def keep(self, surface: Surface) -> None:
        """Save the plans of a surface; equal bytes are left alone."""
        forms = self._forms
        if forms is None or forms.surface_digest != surface.digest:
            found = await drive(normal_forms_steps(surface))
            forms = self._forms = fresh_normal_forms(found.plans, surface.digest)
        self.is_owed = True
        try:
            await anyio.to_thread.run_sync(normal_forms.save, self._path, forms)
        except DamagedNormalForms as error:
            self._health.degrade("normal-forms", error.damage.reason, error.damage.cure)
        except OSError as error:
            reason = f"{shown(self._path)} could not be written: {error.strerror or error}"
            cure = "free space or mend the permissions; it is tried again by itself"
            self._health.degrade("normal-forms", reason, cure)
        else:
            self.is_owed = False
            self._health.recover("normal-forms")
