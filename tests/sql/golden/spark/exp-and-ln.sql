-- values: SELECT SUM(EXP(time / 60)) FROM t
-- SUM(EXP(time / 60)): one person moves it by at most 0.123151·|x − x'|, at most 7.38906 (6.38906 if no value can be missing: say missing = false)
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          EXP(
            (
              CASE
                WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                THEN `time`
                WHEN `time` < 0.0e0
                THEN 0.0e0
                WHEN `time` <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END / CAST(60.0e0 AS DOUBLE)
            )
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(LN(time + 1)) FROM t
-- SUM(LN(time + 1)): one person moves it by at most |x − x'|, at most 4.7958
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          LN(
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
