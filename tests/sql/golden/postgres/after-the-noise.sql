-- values: SELECT ROUND(SUM(time) / COUNT(time), 1) AS m, ABS(SUM(age)) + 1 AS a FROM t
-- SUM(time): one person moves it by at most |x − x'|, at most 120
-- COUNT(time): one person moves it by at most 1, when a value goes missing
-- SUM(age): one person moves it by at most |x − x'|, at most 100
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
  COUNT(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN 1 END) AS "m1",
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "age" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('100.0' AS DOUBLE PRECISION)
          THEN "age"
          WHEN "age" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "age" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('100.0' AS DOUBLE PRECISION)
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m2"
FROM "t";
