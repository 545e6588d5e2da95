-- values: SELECT COUNT(DISTINCT colour) AS colours FROM t
-- COUNT(DISTINCT colour): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(
    DISTINCT CASE
      WHEN CAST("colour" AS TEXT) COLLATE "C" IN ('black', 'white', 'brown')
      THEN CAST("colour" AS TEXT) COLLATE "C"
    END
  ) AS "m0"
FROM "t";

-- records: SELECT faculty, COUNT(DISTINCT colour) AS colours FROM t WHERE time > 3 GROUP BY faculty
-- COUNT(DISTINCT colour): adding or removing one record moves it by at most 1, changing one by at most 2
SELECT
  CAST("faculty" AS TEXT) COLLATE "C" AS "faculty",
  COUNT(
    DISTINCT CASE
      WHEN CAST("colour" AS TEXT) COLLATE "C" IN ('black', 'white', 'brown')
      THEN CAST("colour" AS TEXT) COLLATE "C"
    END
  ) AS "m0"
FROM "t"
WHERE
  (
    "time" > CAST('3.0' AS DOUBLE PRECISION)
    AND "time" <= CAST('Infinity' AS DOUBLE PRECISION)
  )
  AND CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
GROUP BY
  CAST("faculty" AS TEXT) COLLATE "C";
