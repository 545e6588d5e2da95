-- values: SELECT SUM(SQRT(time + 1)) FROM t
-- SUM(SQRT(time + 1)): one person moves it by at most 0.5·|x − x'|, at most 11 (10 if no value can be missing: say missing = false)
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          SQRT(
            (
              CASE
                WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                THEN `time`
                WHEN `time` < 0.0e0
                THEN 0.0e0
                WHEN `time` <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END + 1.0e0
            )
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
