"""Several processes that share one database on PostgreSQL: who works on what, and what each tells the others."""
