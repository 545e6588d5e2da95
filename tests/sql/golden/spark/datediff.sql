-- values: SELECT SUM(DATEDIFF('day', born, DATE '2026-01-01')) FROM t
-- SUM(DATE_DIFF('DAY', born, CAST('2026-01-01' AS DATE))): one person moves it by at most |x − x'|, at most 38717 (38716 if no value can be missing: say missing = false)
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            20454.0e0 - (
              CAST(UNIX_MICROS(
                CAST(CASE
                  WHEN `born` BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
                  THEN `born`
                  WHEN `born` < CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
                  THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
                  WHEN NOT `born` IS NULL
                  THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
                END AS TIMESTAMP_LTZ)
              ) AS DOUBLE) / 86400000000.0e0
            )
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM((DATE '2026-01-01' - born) / 365.25) FROM t
-- SUM((CAST('2026-01-01' AS DATE) - born) / 365.25): one person moves it by at most 0.00273786·|x − x'|, at most 106.002 (105.999 if no value can be missing: say missing = false)
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            (
              20454.0e0 - (
                CAST(UNIX_MICROS(
                  CAST(CASE
                    WHEN `born` BETWEEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ) AND CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
                    THEN `born`
                    WHEN `born` < CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
                    THEN CAST('1920-01-01 00:00:00' AS TIMESTAMP_NTZ)
                    WHEN NOT `born` IS NULL
                    THEN CAST('2025-12-31 00:00:00' AS TIMESTAMP_NTZ)
                  END AS TIMESTAMP_LTZ)
                ) AS DOUBLE) / 86400000000.0e0
              )
            ) / CAST(365.25e0 AS DOUBLE)
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
