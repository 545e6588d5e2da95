-- values: SELECT COUNT(DISTINCT colour) AS colours FROM t
-- COUNT(DISTINCT colour): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(
    DISTINCT CASE
      WHEN "colour" COLLATE C IN ('black', 'white', 'brown')
      THEN "colour" COLLATE C
    END
  ) AS "m0"
FROM "t";

-- records: SELECT faculty, COUNT(DISTINCT colour) AS colours FROM t WHERE time > 3 GROUP BY faculty
-- COUNT(DISTINCT colour): adding or removing one record moves it by at most 1, changing one by at most 2
SELECT
  "faculty" COLLATE C AS "faculty",
  COUNT(
    DISTINCT CASE
      WHEN "colour" COLLATE C IN ('black', 'white', 'brown')
      THEN "colour" COLLATE C
    END
  ) AS "m0"
FROM "t"
WHERE
  (
    TRY_CAST("time" AS DOUBLE) > 3.0e0
    AND TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
  )
  AND "faculty" COLLATE C IN ('math', 'law')
GROUP BY
  "faculty" COLLATE C;
