"""`/metrics`: what Prometheus reads, for whom, and at what cost."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from tests.admin.conftest import API_TOKEN, Admin
from tests.admin.world import queue_json


def scrape(admin: Admin) -> dict[tuple[str, str, str], float]:
    with admin.anyone() as client:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {API_TOKEN}"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, sample.labels.get("queue", ""), sample.labels.get("status", "")): sample.value
        for family in text_string_to_metric_families(answer.text) for sample in family.samples
    }  # fmt: skip


def test_every_queue_that_runs_is_measured(admin: Admin) -> None:
    admin.publish(queue_json("sale", max_active=3), queue_json("later"))
    admin.start("sale")
    admin.visitors.join(admin.queues["sale"], 9, wants_in=True)
    admin.clock.ahead_s += 60
    found = scrape(admin)
    assert found["stanchion_queue_waiting", "sale", ""] == 6
    assert found["stanchion_queue_inside", "sale", ""] == 3
    assert found["stanchion_queue_arrived_total", "sale", ""] == 9
    assert found["stanchion_queue_limit_max_active", "sale", ""] == 3
    assert found["stanchion_queue_limit_admit_per_minute", "sale", ""] == 60
    assert ("stanchion_queue_limit_inventory", "sale", "") not in found
    assert found["stanchion_queue_age_seconds", "sale", ""] < 10
    assert found["stanchion_queue_status", "sale", "open"] == 1
    assert found["stanchion_queue_status", "later", "missing"] == 1
    assert ("stanchion_queue_waiting", "later", "") not in found
    assert found["stanchion_admin_redis_up", "", ""] == 1
    assert found["process_resident_memory_bytes", "", ""] > 0


def test_nobody_reads_them_without_a_token(admin: Admin) -> None:
    with admin.anyone() as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"Authorization": "Bearer guess"}).status_code == 401
