-- values: SELECT SUM(ABS(time - 30)) FROM t
-- SUM(ABS(time - 30)): one person moves it by at most |x − x'|, at most 90
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          ABS(
            (
              CASE
                WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                THEN `time`
                WHEN `time` < 0.0e0
                THEN 0.0e0
                WHEN `time` <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END - 30.0e0
            )
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
