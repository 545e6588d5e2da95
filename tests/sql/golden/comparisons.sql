-- values: SELECT COUNT(*) FROM t WHERE time > 30
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  TRY_CAST("time" AS DOUBLE) > 30.0e0
  AND TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE);

-- values: SELECT COUNT(*) FROM t WHERE colour = 'black'
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  "colour" COLLATE C = 'black';

-- values: SELECT COUNT(*) FROM t WHERE time + age > 60
-- COUNT(*): one person moves it by at most 1, when age or time changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  (
    CASE
      WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
      THEN TRY_CAST("time" AS DOUBLE)
      WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
      THEN 0.0e0
      WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
      THEN 120.0e0
    END + CASE
      WHEN TRY_CAST("age" AS DOUBLE) BETWEEN 0.0e0 AND 100.0e0
      THEN TRY_CAST("age" AS DOUBLE)
      WHEN TRY_CAST("age" AS DOUBLE) < 0.0e0
      THEN 0.0e0
      WHEN TRY_CAST("age" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
      THEN 100.0e0
    END
  ) > 60.0e0;
