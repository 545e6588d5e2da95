-- values: SELECT COUNT(*) FROM t WHERE YEAR(born) = 1980
-- COUNT(*): one person moves it by at most 1, when born changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  CAST(EXTRACT(YEAR FROM CASE
    WHEN `born` BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
    THEN `born`
    WHEN `born` < CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
    THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
    WHEN NOT `born` IS NULL
    THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
  END) AS DOUBLE) = 1980.0e0;

-- values: SELECT SUM(EXTRACT(MONTH FROM born)) FROM t
-- SUM(EXTRACT(MONTH FROM born)): one person moves it by at most 12 (11 if no value can be missing: say missing = false), when born changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        CAST(EXTRACT(MONTH FROM CASE
          WHEN `born` BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
          THEN `born`
          WHEN `born` < CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
          THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
          WHEN NOT `born` IS NULL
          THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
        END) AS DOUBLE)
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
