"""An http(s) address of the environment, cut into what an outgoing request wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edge.guests.on_wasi.api import new_outgoing_request, types


@dataclass(slots=True)
class Address:
    """Scheme, authority, and the path that goes before every target (without a slash at its end)."""

    scheme: str
    authority: str
    path: str = ""

    @staticmethod
    def parse(url: str, name: str) -> Address:
        """Raises ValueError, which names the variable `name`."""
        scheme, found, rest = url.rstrip("/").partition("://")
        authority, slash, path = rest.partition("/")
        if not found or scheme not in ("http", "https") or not authority or "@" in authority:
            raise ValueError(f"{name}: not an address like https://host[:port]")
        return Address(scheme, authority, slash + path)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        host = self.authority if self.authority.startswith("[") else self.authority.partition(":")[0]
        return host in ("127.0.0.1", "localhost") or host.startswith("[::1]")

    def request(self, fields: Any, method: Any, target: str) -> Any:
        """An outgoing request to it. Raises Err for what the platform takes for no address."""
        made = new_outgoing_request([fields])
        made.set_method(method)
        made.set_scheme(types.Scheme_Https() if self.scheme == "https" else types.Scheme_Http())
        made.set_authority(self.authority)
        made.set_path_with_query(self.path + target)
        return made
