-- values, 120 rows: SELECT AVG(time) AS mean FROM t WHERE faculty = 'math'
-- AVG(time): one person moves it by at most 0.00833334·|x − x'|, at most 1 (over 120 rows or more, known to have a value)
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
  COUNT(
    CASE
      WHEN `time` BETWEEN 0.0e0 AND 120.0e0
      THEN `time`
      WHEN `time` < 0.0e0
      THEN 0.0e0
      WHEN `time` <= CAST('Infinity' AS DOUBLE)
      THEN 120.0e0
    END
  ) AS `n0`
FROM `t`
WHERE
  `faculty` = 'math';

-- values: SELECT AVG(time) AS mean FROM t
-- SUM(time): one person moves it by at most |x − x'|, at most 120
-- COUNT(time): one person moves it by at most 1, when a value goes missing
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
  COUNT(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m1`
FROM `t`;

-- records: SELECT AVG(time) AS mean FROM t
-- SUM(time): adding or removing one record moves it by at most 120, changing one by at most 120
-- COUNT(time): adding or removing one record moves it by at most 1, changing one by at most 1
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
  COUNT(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m1`
FROM `t`;

-- values, 120 rows: SELECT AVG(CASE WHEN time > 30 THEN time END) AS late FROM t
-- SUM(CASE WHEN time > 30 THEN time END): one person moves it by at most |x − x'| + 30 where a test of time changes its outcome, at most 120
-- COUNT(CASE WHEN time > 30 THEN time END): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `time` > 30.0e0 AND `time` <= CAST('Infinity' AS DOUBLE)
            THEN CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`,
  COUNT(
    CASE
      WHEN NOT (
        CASE
          WHEN `time` > 30.0e0 AND `time` <= CAST('Infinity' AS DOUBLE)
          THEN CASE
            WHEN `time` BETWEEN 0.0e0 AND 120.0e0
            THEN `time`
            WHEN `time` < 0.0e0
            THEN 0.0e0
            WHEN `time` <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        END
      ) IS NULL
      THEN 1
    END
  ) AS `m1`
FROM `t`;
