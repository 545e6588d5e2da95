-- values: SELECT SUM(2 * time) FROM t
-- SUM(2 * time): one person moves it by at most 2·|x − x'|, at most 240
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            2.0e0 * CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(time * age) FROM t
-- SUM(time * age): one person moves it by at most 120·|age − age'| + 100·|time − time'|, at most 12000
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END * CASE
              WHEN `age` BETWEEN 0.0e0 AND 100.0e0
              THEN `age`
              WHEN `age` < 0.0e0
              THEN 0.0e0
              WHEN `age` <= CAST('Infinity' AS DOUBLE)
              THEN 100.0e0
            END
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(time / 60) FROM t
-- SUM(time / 60): one person moves it by at most 0.0166667·|x − x'|, at most 2
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
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
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
