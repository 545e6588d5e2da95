-- values: SELECT SUM(CAST(time AS DOUBLE)) FROM t
-- SUM(CAST(time AS DOUBLE)): one person moves it by at most |x − x'|, at most 120
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `time` BETWEEN 0.0e0 AND 120.0e0
            THEN `time`
            WHEN `time` < 0.0e0
            THEN 0.0e0
            WHEN `time` <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT MIN(born + INTERVAL 30 DAY) FROM t
-- MIN(born + INTERVAL '30' DAY): one person moves it by at most |x − x'|, at most 38716
SELECT
  LEAST(
    MIN(
      CAST(RINT(
        (
          (
            (
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
            ) + 30.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT)
    ),
    20974592
  ) AS `m0`
FROM `t`;
