"""`stanchion deploy fastly`: a plan, then the calls that make it true."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from cli.deploy.account import Found, check_token, look
from cli.deploy.api import Api, ApiError
from cli.deploy.hourly import more_than_an_hour
from cli.deploy.inputs import InputError, check_endpoint
from cli.deploy.package import DEFAULT_PACKAGE, read_package
from cli.deploy.plan import fingerprint, known, plan
from cli.deploy.secrets import check_none_missing, notes
from cli.deploy.steps import Begin, Runner, Step, StepFailed, Validate, carry_out
from cli.deploy.trial import check_no_trial
from cli.deploy.wanted import Options, Wanted, wanted
from cli.kv.folder import FolderStore
from cli.numbering import unnumbered, warning
from cli.redis_rest import ping, start_queue
from host.settings import SettingError, Settings, load


@click.group()
def deploy() -> None:
    """Put the gate where visitors are."""


@deploy.command()
@click.option("--name", default="stanchion", show_default=True, help="Name of the service; created when there is none.")
@click.option("--service-id", default="", help="The service by its id, when a name is not enough.")
@click.option("--domain", "domains", multiple=True, help="A domain that visitors use; may be given again.")
@click.option("--package", type=click.Path(path_type=Path, dir_okay=False), default=DEFAULT_PACKAGE,
              help="The package that `make fastly` builds (pkg/stanchion.tar.gz).")  # fmt: skip
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="KV folder (STANCHION_KV_DIR).")
@click.option("--kv-store", default="", help="Name of the KV store (the service's name and -kv).")
@click.option("--secret-store", default="", help="Name of the secret store (the service's name and -secret).")
@click.option("--config-store", default="", help="Name of the config store (the service's name and -config).")
@click.option("--adopt", is_flag=True, help="Take over a service that runs something which this command did not make.")
@click.option("--trial", is_flag=True, help="Take settings that are for trying out, such as STANCHION_COUNTRY_TRUST_ALL.")
@click.option("--dry-run", is_flag=True, help="Print the calls, secrets masked, and send only those that read.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before acting.")
def fastly(name: str, service_id: str, domains: tuple[str, ...], package: Path, folder: Path | None, kv_store: str,
           secret_store: str, config_store: str, adopt: bool, trial: bool, dry_run: bool, yes: bool) -> None:  # fmt: skip
    """Create or update the gate on Fastly Compute: service, stores, secrets, backends, package, configuration and pages.

    The token comes from FASTLY_API_TOKEN, the rest from the settings of docs/settings.md. Run it again at any time: it compares
    and does only what is missing.
    """
    stores = {"kv": kv_store, "secret": secret_store, "config": config_store}
    with _in_sentences():
        settings = load(os.environ)
        if not trial:
            check_no_trial(settings)
        token = settings.needed("FASTLY_API_TOKEN")
        check_endpoint(settings["FASTLY_API_ENDPOINT"])
        place = FolderStore(folder or Path(settings["STANCHION_KV_DIR"]))
        want = wanted(Options(name, service_id, domains, stores), read_package(package), settings, place)
        with _api(token, settings) as api:
            found = _found(want, api, adopt=adopt)
            _run(want, found, api, settings, dry_run=dry_run, yes=yes)


@contextmanager
def _in_sentences() -> Iterator[None]:
    try:
        yield
    except (InputError, SettingError, ApiError, StepFailed) as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _api(token: str, settings: Settings) -> Iterator[Api]:
    api = Api(token, settings["FASTLY_API_ENDPOINT"])
    try:
        yield api
    finally:
        api.close()


def _found(want: Wanted, api: Api, *, adopt: bool) -> Found:
    """What is there, when it may be worked on. Raises InputError, ApiError."""
    click.echo(f"as {check_token(api)}")
    found = look(api, want)
    if not found.domains and not want.domains:
        raise InputError("the service has no domain yet: give --domain shop.example.org, or a free --domain NAME.edgecompute.app")
    if found.has_active and found.base and not found.base.is_ours and not adopt:
        raise InputError(f"version {found.base.number} of {want.service} is live and was not made by this command; give another "
                         "--name, or --adopt to put the gate in its place")  # fmt: skip
    check_none_missing(want.secrets, found.digests or ())
    for note in notes(want.secrets, found.digests or ()):
        click.echo(note)
    return found


def _run(want: Wanted, found: Found, api: Api, settings: Settings, *, dry_run: bool, yes: bool) -> None:
    steps = plan(want, found)
    runner = Runner(api, known(found), lambda queue: start_queue(queue, _redis(settings), new=True), fingerprint)
    if not steps:
        number = found.base.number if found.base else "?"
        click.echo(f"nothing to do: version {number} of {want.service} and its stores are what this would make")
        return
    _show(steps, runner, want, dry_run=dry_run)
    if scopes := unnumbered(found.config, want.config):
        click.echo(warning(scopes))
    if not _redis_answers(settings, dry_run=dry_run):
        raise click.exceptions.Exit(1)
    if dry_run:
        return
    _ask(yes)
    carry_out(steps, runner)
    click.echo(f"done: {len(steps)} steps; service {runner.known['service']}, version {runner.known.get('version', 'as before')}")
    if domains := sorted(found.domains | set(want.domains)):
        click.echo(f"look at it from outside with: stanchion doctor https://{domains[0]}/ADDRESS-OF-A-QUEUE")


def _redis_answers(settings: Settings, *, dry_run: bool) -> bool:
    """Whether the token opens Redis, before anything is written. Without it: False when nothing would be, else InputError."""
    try:
        ping(_redis(settings))
    except click.ClickException as error:
        why = f"{error.format_message()}. The gate on Fastly asks the same address with the same token"
        if not dry_run:
            raise InputError(f"nothing was changed: {why}") from error
        click.echo(f"this would stop it: {why}")
        return False
    return True


def _redis(settings: Settings) -> dict[str, str]:
    needed = {name: settings.needed(name) for name in ("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN")}
    return needed | {"STANCHION_REDIS_FLAVOUR": settings["STANCHION_REDIS_FLAVOUR"]}


def _show(steps: list[Step], runner: Runner, want: Wanted, *, dry_run: bool) -> None:
    click.echo(f"plan for {want.service}: {len(steps)} steps")
    for step in steps:
        click.echo(f"  {step.what}")
        if dry_run:
            click.echo(f"      {runner.shown(step)}")
    if note := more_than_an_hour(sum(not isinstance(step.action, Begin | Validate) for step in steps)):
        click.echo(note)
    if want.package.setup.log_endpoints:
        names = ", ".join(want.package.setup.log_endpoints)
        click.echo(f"not part of it: the log endpoint {names}; add it in Fastly's console for where your logs go")


def _ask(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("nobody is here to say yes: give --yes to act, or --dry-run to look")
    click.confirm("do it?", abort=True)
