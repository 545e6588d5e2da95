-- values: SELECT ROUND(SUM(time) / COUNT(time), 1) AS m, ABS(SUM(age)) + 1 AS a FROM t
-- SUM(time): one person moves it by at most |x − x'|, at most 120
-- COUNT(time): one person moves it by at most 1, when a value goes missing
-- SUM(age): one person moves it by at most |x − x'|, at most 100
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
  ) AS `m0`,
  COUNT(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m1`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `age` BETWEEN 0.0e0 AND 100.0e0
            THEN `age`
            WHEN `age` < 0.0e0
            THEN 0.0e0
            WHEN `age` <= CAST('Infinity' AS DOUBLE)
            THEN 100.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m2`
FROM `t`;
