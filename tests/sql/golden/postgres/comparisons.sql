-- values: SELECT COUNT(*) FROM t WHERE time > 30
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  "time" > CAST('30.0' AS DOUBLE PRECISION)
  AND "time" <= CAST('Infinity' AS DOUBLE PRECISION);

-- values: SELECT COUNT(*) FROM t WHERE colour = 'black'
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  CAST("colour" AS TEXT) COLLATE "C" = 'black';

-- values: SELECT COUNT(*) FROM t WHERE time + age > 60
-- COUNT(*): one person moves it by at most 1, when age or time changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  (
    CASE
      WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
      THEN "time"
      WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
      THEN CAST('0.0' AS DOUBLE PRECISION)
      WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
      THEN CAST('120.0' AS DOUBLE PRECISION)
    END + CASE
      WHEN "age" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('100.0' AS DOUBLE PRECISION)
      THEN "age"
      WHEN "age" < CAST('0.0' AS DOUBLE PRECISION)
      THEN CAST('0.0' AS DOUBLE PRECISION)
      WHEN "age" <= CAST('Infinity' AS DOUBLE PRECISION)
      THEN CAST('100.0' AS DOUBLE PRECISION)
    END
  ) > CAST('60.0' AS DOUBLE PRECISION);
