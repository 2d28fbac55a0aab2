"""What is asked of the database about jobs, each in one statement; whoever else is at a row is not waited for."""

STORE = """
    INSERT INTO mace.job (id, operation, owner, holder, request_id, question, body_size, replica, leased_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9)
    """
RENEW = """
    UPDATE mace.job SET leased_until = now() + $3
    WHERE id IN (
        SELECT id FROM mace.job WHERE id = ANY($1) AND replica = $2 AND ended IS NULL FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id, turn
    """
"""One that is locked is being ended, or taken up by another."""
TAKE_UP = """
    UPDATE mace.job SET replica = $1, leased_until = now() + $2, turn = turn + 1,
        deaths = deaths + (replica IS NOT NULL)::int
    WHERE id = (
        SELECT id FROM mace.job WHERE ended IS NULL AND leased_until < now()
        ORDER BY leased_until LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id, question, body_size, request_id, turn, deaths
    """
LET_GO = """
    UPDATE mace.job SET replica = NULL, leased_until = now() + $4
    WHERE id = $1 AND replica = $2 AND turn = $3 AND ended IS NULL RETURNING id
    """
END = """
    UPDATE mace.job SET ended = now(), kept_until = now() + $4, answer = $5, status = $6, size = $7
    WHERE id = $1 AND replica = $2 AND turn = $3 AND ended IS NULL RETURNING id
    """
OF_OWNER = "id = $1 AND owner IS NOT DISTINCT FROM $2 AND (kept_until IS NULL OR kept_until > now())"
LOOK = f"""
    SELECT id, operation, status, answer, size, extract(epoch FROM coalesce(ended, now()) - began) AS seconds,
        extract(epoch FROM kept_until - now()) AS seconds_kept
    FROM mace.job WHERE {OF_OWNER}
    """
FETCHED = (
    f"UPDATE mace.job SET kept_until = least(kept_until, now() + $3) WHERE {OF_OWNER} AND ended IS NOT NULL"
)
CANCEL = f"DELETE FROM mace.job WHERE {OF_OWNER} RETURNING id"
MAKE_ROOM = """
    WITH share AS (
        SELECT id, size, sum(size) OVER newer AS sizes, count(*) OVER newer AS number
        FROM mace.job WHERE ended IS NOT NULL
        WINDOW newer AS (PARTITION BY holder ORDER BY ended DESC, id)
    ), place AS (
        SELECT id, sum(size) OVER (ORDER BY sizes, id) AS total, row_number() OVER (ORDER BY number, id) AS number
        FROM share
    )
    DELETE FROM mace.job WHERE id IN (
        SELECT id FROM mace.job JOIN place USING (id) WHERE total > $1 OR place.number > $2
        FOR UPDATE OF job SKIP LOCKED
    )
    """
"""The oldest answer of whoever keeps most goes first, again and again until there is room. What a holder keeps is what
its oldest answer comes to together with all newer ones, so this is the order in which they go, and one statement."""
FORGET = """
    DELETE FROM mace.job WHERE id IN (
        SELECT id FROM mace.job WHERE kept_until <= now() FOR UPDATE SKIP LOCKED
    )
    """
STATES = """
    SELECT CASE WHEN ended IS NULL THEN 'working' WHEN status < 400 THEN 'done' ELSE 'failed' END AS state, count(*)
    FROM mace.job GROUP BY 1
    """
