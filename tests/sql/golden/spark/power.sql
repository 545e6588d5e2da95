-- values: SELECT SUM(POWER(time, 2)) FROM t
-- SUM(POWER(time, 2)): one person moves it by at most 240·|x − x'|, at most 14400
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          POWER(
            CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END,
            2.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(time^3 / 1000) FROM t
-- SUM(POWER(time, 3) / 1000): one person moves it by at most 43.2·|x − x'|, at most 1728
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            POWER(
              CASE
                WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                THEN `time`
                WHEN `time` < 0.0e0
                THEN 0.0e0
                WHEN `time` <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END,
              3.0e0
            ) / CAST(1000.0e0 AS DOUBLE)
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
