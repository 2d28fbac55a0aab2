"""What replicas of the service share, in PostgreSQL: jobs and their answers, runs of batches, the pace of keys, and the
ends of their audit chains. Imported only where `MACE_STORE` or `MACE_STORE_FILE` names the database."""
