-- values, 120 rows: SELECT VARIANCE(salary) AS spread FROM t
-- SUM(salary - 2500): one person moves it by at most 0.00833334·|x − x'|, at most 25 (over 120 rows or more, known to have a value)
-- SUM((salary - 2500)^2): one person moves it by at most 25·|x − x'|, at most 18750 (over 120 rows or more, known to have a value)
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          CASE
            WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
            THEN "salary"
            WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
            THEN CAST('1000.0' AS DOUBLE PRECISION)
            WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('4000.0' AS DOUBLE PRECISION)
            ELSE CAST('1000.0' AS DOUBLE PRECISION)
          END - CAST('2500.0' AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0",
  COUNT(
    (
      CASE
        WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
        THEN "salary"
        WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
        THEN CAST('1000.0' AS DOUBLE PRECISION)
        WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
        THEN CAST('4000.0' AS DOUBLE PRECISION)
        ELSE CAST('1000.0' AS DOUBLE PRECISION)
      END - CAST('2500.0' AS DOUBLE PRECISION)
    )
  ) AS "n0",
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN ABS(
            (
              CASE
                WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
                THEN "salary"
                WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
                THEN CAST('1000.0' AS DOUBLE PRECISION)
                WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
                THEN CAST('4000.0' AS DOUBLE PRECISION)
                ELSE CAST('1000.0' AS DOUBLE PRECISION)
              END - CAST('2500.0' AS DOUBLE PRECISION)
            )
          ) < CAST('3.054936363499605e-151' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          ELSE POWER(
            (
              CASE
                WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
                THEN "salary"
                WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
                THEN CAST('1000.0' AS DOUBLE PRECISION)
                WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
                THEN CAST('4000.0' AS DOUBLE PRECISION)
                ELSE CAST('1000.0' AS DOUBLE PRECISION)
              END - CAST('2500.0' AS DOUBLE PRECISION)
            ),
            CAST('2.0' AS DOUBLE PRECISION)
          )
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m1",
  COUNT(
    CASE
      WHEN ABS(
        (
          CASE
            WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
            THEN "salary"
            WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
            THEN CAST('1000.0' AS DOUBLE PRECISION)
            WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('4000.0' AS DOUBLE PRECISION)
            ELSE CAST('1000.0' AS DOUBLE PRECISION)
          END - CAST('2500.0' AS DOUBLE PRECISION)
        )
      ) < CAST('3.054936363499605e-151' AS DOUBLE PRECISION)
      THEN CAST('0.0' AS DOUBLE PRECISION)
      ELSE POWER(
        (
          CASE
            WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
            THEN "salary"
            WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
            THEN CAST('1000.0' AS DOUBLE PRECISION)
            WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('4000.0' AS DOUBLE PRECISION)
            ELSE CAST('1000.0' AS DOUBLE PRECISION)
          END - CAST('2500.0' AS DOUBLE PRECISION)
        ),
        CAST('2.0' AS DOUBLE PRECISION)
      )
    END
  ) AS "n1"
FROM "t";

-- values: SELECT STDDEV_POP(time) AS spread FROM t WHERE smoker
-- SUM(time - 60): one person moves it by at most 60 when smoker changes the outcome of a test + |time − time'|, at most 120
-- SUM((time - 60)^2): one person moves it by at most 3600 when smoker changes the outcome of a test + 120·|time − time'|, at most 3600
-- COUNT(time): one person moves it by at most 1, when smoker changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          CASE
            WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
            THEN "time"
            WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('120.0' AS DOUBLE PRECISION)
          END - CAST('60.0' AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0",
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN ABS(
            (
              CASE
                WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                THEN "time"
                WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                THEN CAST('0.0' AS DOUBLE PRECISION)
                WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                THEN CAST('120.0' AS DOUBLE PRECISION)
              END - CAST('60.0' AS DOUBLE PRECISION)
            )
          ) < CAST('3.054936363499605e-151' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          ELSE POWER(
            (
              CASE
                WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                THEN "time"
                WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                THEN CAST('0.0' AS DOUBLE PRECISION)
                WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                THEN CAST('120.0' AS DOUBLE PRECISION)
              END - CAST('60.0' AS DOUBLE PRECISION)
            ),
            CAST('2.0' AS DOUBLE PRECISION)
          )
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m1",
  COUNT(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN 1 END) AS "m2"
FROM "t"
WHERE
  CAST("smoker" AS TEXT) COLLATE "C" = 'true';
