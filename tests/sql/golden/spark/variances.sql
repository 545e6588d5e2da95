-- values, 120 rows: SELECT VARIANCE(salary) AS spread FROM t
-- SUM(salary - 2500): one person moves it by at most 0.00833334·|x − x'|, at most 25 (over 120 rows or more, known to have a value)
-- SUM((salary - 2500)^2): one person moves it by at most 25·|x − x'|, at most 18750 (over 120 rows or more, known to have a value)
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            CASE
              WHEN `salary` BETWEEN 1000.0e0 AND 4000.0e0
              THEN `salary`
              WHEN `salary` < 1000.0e0
              THEN 1000.0e0
              WHEN `salary` <= CAST('Infinity' AS DOUBLE)
              THEN 4000.0e0
              ELSE 1000.0e0
            END - 2500.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`,
  COUNT(
    (
      CASE
        WHEN `salary` BETWEEN 1000.0e0 AND 4000.0e0
        THEN `salary`
        WHEN `salary` < 1000.0e0
        THEN 1000.0e0
        WHEN `salary` <= CAST('Infinity' AS DOUBLE)
        THEN 4000.0e0
        ELSE 1000.0e0
      END - 2500.0e0
    )
  ) AS `n0`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          POWER(
            (
              CASE
                WHEN `salary` BETWEEN 1000.0e0 AND 4000.0e0
                THEN `salary`
                WHEN `salary` < 1000.0e0
                THEN 1000.0e0
                WHEN `salary` <= CAST('Infinity' AS DOUBLE)
                THEN 4000.0e0
                ELSE 1000.0e0
              END - 2500.0e0
            ),
            2.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m1`,
  COUNT(
    POWER(
      (
        CASE
          WHEN `salary` BETWEEN 1000.0e0 AND 4000.0e0
          THEN `salary`
          WHEN `salary` < 1000.0e0
          THEN 1000.0e0
          WHEN `salary` <= CAST('Infinity' AS DOUBLE)
          THEN 4000.0e0
          ELSE 1000.0e0
        END - 2500.0e0
      ),
      2.0e0
    )
  ) AS `n1`
FROM `t`;

-- values: SELECT STDDEV_POP(time) AS spread FROM t WHERE smoker
-- SUM(time - 60): one person moves it by at most 60 when smoker changes the outcome of a test + |time − time'|, at most 120
-- SUM((time - 60)^2): one person moves it by at most 3600 when smoker changes the outcome of a test + 120·|time − time'|, at most 3600
-- COUNT(time): one person moves it by at most 1, when smoker changes the outcome of a test
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
            END - 60.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          POWER(
            (
              CASE
                WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                THEN `time`
                WHEN `time` < 0.0e0
                THEN 0.0e0
                WHEN `time` <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END - 60.0e0
            ),
            2.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m1`,
  COUNT(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m2`
FROM `t`
WHERE
  `smoker` = 'true';
