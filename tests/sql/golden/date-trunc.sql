-- values: SELECT COUNT(*) FROM t WHERE DATE_TRUNC('month', born) = DATE '1980-05-01'
-- COUNT(*): one person moves it by at most 1, when born changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  (
    CAST(EPOCH_US(
      DATE_TRUNC(
        'MONTH',
        CASE
          WHEN TRY_CAST("born" AS TIMESTAMP) BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP)
          THEN TRY_CAST("born" AS TIMESTAMP)
          WHEN TRY_CAST("born" AS TIMESTAMP) < CAST('1920-01-01 00:00:00' AS TIMESTAMP)
          THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP)
          WHEN NOT TRY_CAST("born" AS TIMESTAMP) IS NULL
          THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP)
        END
      )
    ) AS DOUBLE) / 86400000000.0e0
  ) = 3773.0e0;
