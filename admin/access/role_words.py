"""Roles and permissions in words, as pages show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from admin.access.permissions import MARKETER, OPERATOR, OWNER, VIEWER, Permission
from admin.words import N_


@dataclass(frozen=True)
class Word:
    """A name, and what it means; translated where they are shown."""

    name: str
    says: str


ROLE_WORDS: Mapping[str, Word] = {
    VIEWER: Word(N_("viewer"), N_("sees queues and settings, changes nothing")),
    MARKETER: Word(N_("marketer"), N_("edits and publishes the waiting pages")),
    OPERATOR: Word(N_("operator"), N_("drives queues, changes their settings, reads the audit log")),
    OWNER: Word(N_("owner"), N_("everything, people and tokens included")),
}
PERMISSION_WORDS: Mapping[Permission, Word] = {
    Permission.SEE: Word(N_("see"), N_("read queues, their numbers and settings")),
    Permission.OPERATE: Word(N_("operate"), N_("pause, admit, change limits, end visits, invite")),
    Permission.CONFIGURE: Word(N_("configure"), N_("create and change queues and groups")),
    Permission.EDIT_PAGES: Word(N_("edit pages"), N_("draft waiting pages")),
    Permission.PUBLISH_PAGES: Word(N_("publish pages"), N_("put drafts before visitors, roll back")),
    Permission.SEE_AUDIT: Word(N_("see the audit log"), N_("read who did what")),
    Permission.MANAGE_PEOPLE: Word(N_("manage people"), N_("invite, change roles, make tokens")),
}
