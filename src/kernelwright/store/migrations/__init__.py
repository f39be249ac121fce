"""How tables of earlier versions become those of this one: Alembic's revisions, for both databases."""
