-- values: SELECT COUNT(*) FROM t WHERE time BETWEEN 10 AND 20
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  (
    "time" >= CAST('10.0' AS DOUBLE PRECISION)
    AND "time" <= CAST('Infinity' AS DOUBLE PRECISION)
  )
  AND "time" <= CAST('20.0' AS DOUBLE PRECISION);

-- values: SELECT COUNT(*) FROM t WHERE colour IN ('black', 'white')
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  CAST("colour" AS TEXT) COLLATE "C" IN ('black', 'white');
