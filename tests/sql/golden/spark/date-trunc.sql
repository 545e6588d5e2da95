-- values: SELECT COUNT(*) FROM t WHERE DATE_TRUNC('month', born) = DATE '1980-05-01'
-- COUNT(*): one person moves it by at most 1, when born changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  (
    CAST(UNIX_MICROS(
      CAST(CAST(DATE_TRUNC(
        'MONTH',
        CASE
          WHEN `born` BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
          THEN `born`
          WHEN `born` < CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
          THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
          WHEN NOT `born` IS NULL
          THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
        END
      ) AS TIMESTAMP_NTZ) AS TIMESTAMP_LTZ)
    ) AS DOUBLE) / 86400000000.0e0
  ) = 3773.0e0;
