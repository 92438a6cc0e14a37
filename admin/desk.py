"""Everything that a request may need, made once for an app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment
from starlette.requests import Request

from admin.access.account import Account
from admin.access.api_tokens import ApiTokens
from admin.access.doors import Doors
from admin.access.oidc import Provider
from admin.access.people import People
from admin.access.rates import Rates
from admin.access.sessions import Sessions
from admin.configuration import ConfigurationSource
from admin.configure.keeper import Keeper
from admin.configure.service import Configurator
from admin.credentials import Credentials
from admin.invitations import Invitations
from admin.kv import Kv
from admin.operations import Operations
from admin.settings import Settings
from admin.state.db import Database
from admin.store import Store
from admin.studio.studio import Studio
from admin.throttle import Throttle
from admin.visits import Visits
from admin.watch import Watch

if TYPE_CHECKING:  # its parts record what they do, and the recorder asks for this desk
    from admin.operate.desk import OperateDesk


@dataclass(frozen=True)
class Desk:
    """The parts of the app. `unix_s` is its only clock for times that people see."""

    settings: Settings
    credentials: Credentials
    db: Database
    people: People
    account: Account
    tokens: ApiTokens
    rates: Rates
    sessions: Sessions
    throttle: Throttle
    doors: Doors
    # Where people may sign in elsewhere; None: nowhere.
    provider: Provider | None
    kv: Kv
    source: ConfigurationSource
    configurator: Configurator
    keeper: Keeper
    store: Store
    operations: Operations
    visits: Visits
    invitations: Invitations
    watch: Watch
    operate: OperateDesk
    studio: Studio
    templates: Environment
    unix_s: Callable[[], float]


def desk(request: Request) -> Desk:
    """The desk of the app that got this request."""
    found: Desk = request.app.state.desk
    return found
