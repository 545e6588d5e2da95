-- values, 120 rows: SELECT AVG(time) AS mean FROM t WHERE faculty = 'math'
-- AVG(time): one person moves it by at most 0.00833334·|x − x'|, at most 1 (over 120 rows or more, known to have a value)
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
          THEN "time"
          WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('120.0' AS DOUBLE PRECISION)
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0",
  COUNT(
    CASE
      WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
      THEN "time"
      WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
      THEN CAST('0.0' AS DOUBLE PRECISION)
      WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
      THEN CAST('120.0' AS DOUBLE PRECISION)
    END
  ) AS "n0"
FROM "t"
WHERE
  CAST("faculty" AS TEXT) COLLATE "C" = 'math';

-- values: SELECT AVG(time) AS mean FROM t
-- SUM(time): one person moves it by at most |x − x'|, at most 120
-- COUNT(time): one person moves it by at most 1, when a value goes missing
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
          THEN "time"
          WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('120.0' AS DOUBLE PRECISION)
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0",
  COUNT(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN 1 END) AS "m1"
FROM "t";

-- records: SELECT AVG(time) AS mean FROM t
-- SUM(time): adding or removing one record moves it by at most 120, changing one by at most 120
-- COUNT(time): adding or removing one record moves it by at most 1, changing one by at most 1
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
          THEN "time"
          WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('120.0' AS DOUBLE PRECISION)
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0",
  COUNT(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN 1 END) AS "m1"
FROM "t";

-- values, 120 rows: SELECT AVG(CASE WHEN time > 30 THEN time END) AS late FROM t
-- SUM(CASE WHEN time > 30 THEN time END): one person moves it by at most |x − x'| + 30 where a test of time changes its outcome, at most 120
-- COUNT(CASE WHEN time > 30 THEN time END): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "time" > CAST('30.0' AS DOUBLE PRECISION)
          AND "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CASE
            WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
            THEN "time"
            WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('120.0' AS DOUBLE PRECISION)
          END
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0",
  COUNT(
    CASE
      WHEN NOT (
        CASE
          WHEN "time" > CAST('30.0' AS DOUBLE PRECISION)
          AND "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CASE
            WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
            THEN "time"
            WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('120.0' AS DOUBLE PRECISION)
          END
        END
      ) IS NULL
      THEN 1
    END
  ) AS "m1"
FROM "t";
