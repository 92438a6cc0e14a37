"""What the admin app itself keeps: people, sessions, tokens, audit, versions, drafts, plans. The edge reads none of it."""
