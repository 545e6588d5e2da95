-- values: SELECT SUM(late) AS s FROM (SELECT time - 30 AS late FROM t WHERE time > 30) AS q
-- SUM((time - 30)): one person moves it by at most |x − x'|, at most 90
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
          END - CAST('30.0' AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t"
WHERE
  "time" > CAST('30.0' AS DOUBLE PRECISION)
  AND "time" <= CAST('Infinity' AS DOUBLE PRECISION);

-- values: WITH a AS (SELECT * FROM t WHERE faculty = 'law') SELECT SUM(salary) AS s FROM a
-- SUM(salary): one person moves it by at most |x − x'|, at most 3000
SELECT
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN "salary" BETWEEN CAST('1000.0' AS DOUBLE PRECISION) AND CAST('4000.0' AS DOUBLE PRECISION)
          THEN "salary"
          WHEN "salary" < CAST('1000.0' AS DOUBLE PRECISION)
          THEN CAST('1000.0' AS DOUBLE PRECISION)
          WHEN "salary" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('4000.0' AS DOUBLE PRECISION)
          ELSE CAST('1000.0' AS DOUBLE PRECISION)
        END
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t"
WHERE
  CAST("faculty" AS TEXT) COLLATE "C" = 'law';
