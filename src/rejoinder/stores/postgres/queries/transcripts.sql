-- Transcripts of vendors' sessions.

-- query: append_transcript
-- Entries behind those that are there. Whoever writes to a transcript holds its row until the end, so that the keys
-- of its entries grow in the order in which they are committed. $1 tenant, $2 conversation, $3 project, $4 session,
-- $5 part; $6 ids, $7 digests and $8 bodies of the entries.
WITH place AS (
    INSERT INTO {schema}.transcript AS t (tenant, conversation, project, session, part)
    VALUES (
        $1::text,
        (SELECT c.key FROM {schema}.conversation AS c WHERE c.tenant = $1::text AND c.id = $2::text),
        $3::text, $4::text, $5::text
    )
    ON CONFLICT (tenant, project, session, part) DO UPDATE SET modified_at = clock_timestamp()
    RETURNING t.key
)
INSERT INTO {schema}.transcript_entry (transcript, id, digest, body)
SELECT place.key, entry.id, entry.digest, entry.body
FROM place, unnest($6::text[], $7::text[], $8::bytea[]) WITH ORDINALITY AS entry (id, digest, body, number)
ORDER BY entry.number
ON CONFLICT DO NOTHING

-- query: read_transcript
-- $1 tenant, $2 project, $3 session, $4 part.
SELECT e.body
FROM {schema}.transcript AS t JOIN {schema}.transcript_entry AS e ON e.transcript = t.key
WHERE t.tenant = $1::text AND t.project = $2::text AND t.session = $3::text AND t.part = $4::text
ORDER BY e.key

-- query: list_transcripts
-- $1 tenant, $2 project.
SELECT session, modified_at FROM {schema}.transcript
WHERE tenant = $1::text AND project = $2::text AND part = ''
ORDER BY modified_at DESC, key DESC

-- query: list_transcript_parts
-- $1 tenant, $2 project, $3 session.
SELECT part FROM {schema}.transcript
WHERE tenant = $1::text AND project = $2::text AND session = $3::text AND part <> ''
ORDER BY part

-- query: delete_transcript
-- One part, or the session with all parts. $1 tenant, $2 project, $3 session, $4 part.
DELETE FROM {schema}.transcript
WHERE tenant = $1::text AND project = $2::text AND session = $3::text AND ($4::text = '' OR part = $4::text)
