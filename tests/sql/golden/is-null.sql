-- values: SELECT COUNT(*) FROM t WHERE time IS NOT NULL
-- COUNT(*): one person moves it by at most 1, when a value goes missing
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  NOT (
    (
      CASE
        WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
        THEN TRY_CAST("time" AS DOUBLE)
      END
    ) IS NULL
  );
