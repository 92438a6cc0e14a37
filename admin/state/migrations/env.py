"""What alembic runs: all steps on the connection, and in the transaction, of `admin.state.migrate`."""

from alembic import context

from admin.state.tables import Table

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Table.metadata, transactional_ddl=True, render_as_batch=True)
context.run_migrations()
