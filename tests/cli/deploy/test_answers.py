"""What the stand-in answers is what Fastly's own client can read: it checks every answer against the described types."""

from __future__ import annotations

from collections.abc import Iterator

import fastly
import pytest
from fastly.api import (
    backend_api,
    config_store_api,
    config_store_item_api,
    domain_api,
    kv_store_api,
    kv_store_item_api,
    resource_api,
    secret_store_api,
    secret_store_item_api,
    service_api,
    tokens_api,
    version_api,
)

from tests.cli.deploy.standin import TOKEN
from tests.cli.deploy.world import Desk


@pytest.fixture
def client(desk: Desk) -> Iterator[fastly.ApiClient]:
    desk.act()
    settings = fastly.Configuration(host=desk.fastly.url)
    settings.api_key["token"] = TOKEN
    with fastly.ApiClient(settings) as made:
        yield made


def test_fastlys_client_sees_what_was_deployed(desk: Desk, client: fastly.ApiClient) -> None:
    assert tokens_api.TokensApi(client).get_token_current().scope == "global"
    (service,) = service_api.ServiceApi(client).list_services()
    (version,) = version_api.VersionApi(client).list_service_versions(service.id)
    assert (service.name, version.number, version.active, version.locked) == ("stanchion", 1, True, True)
    place = {"service_id": service.id, "version_id": version.number}
    backends = {backend.name: backend for backend in backend_api.BackendApi(client).list_backends(**place)}
    assert (backends["redis"].first_byte_timeout, backends["redis"].use_ssl) == (800, True)
    assert [domain.name for domain in domain_api.DomainApi(client).list_domains(**place).value] == ["shop.edgecompute.app"]
    links = resource_api.ResourceApi(client).list_resources(**place)
    assert {link.resource_type.value for link in links} == {"kv-store", "secret-store", "config"}


def test_fastlys_client_sees_the_stores(desk: Desk, client: fastly.ApiClient) -> None:
    (pages,) = kv_store_api.KvStoreApi(client).kv_store_list().data
    keys = kv_store_item_api.KvStoreItemApi(client).kv_store_list_item_keys(pages.id)
    assert "config.json" in keys.data
    (secrets,) = secret_store_api.SecretStoreApi(client).get_secret_stores().data
    held = secret_store_item_api.SecretStoreItemApi(client).get_secrets(secrets.id).data
    assert {secret.name for secret in held} == {"signing-keys", "redis-rest-token"}
    assert all(secret.digest for secret in held)
    (settings,) = config_store_api.ConfigStoreApi(client).list_config_stores()
    (item,) = config_store_item_api.ConfigStoreItemApi(client).list_config_store_items(settings.id)
    assert item.item_key == "settings"
