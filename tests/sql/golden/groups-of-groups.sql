-- values: SELECT MAX(s) AS most, MIN(s) AS least FROM (SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty)
-- MAX(s) of groups, each SUM(time): one unit moves it by at most 120
-- MIN(s) of groups, each SUM(time): one unit moves it by at most 120
SELECT
  "faculty" COLLATE C AS "faculty",
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
          THEN TRY_CAST("time" AS DOUBLE)
          WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
          THEN 0.0e0
          WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
          THEN 120.0e0
        END
      ) * 1024.0e0 AS BIGINT)
    ),
    0
  ) AS "m0",
  COALESCE(
    SUM(
      CAST((
        CASE
          WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
          THEN TRY_CAST("time" AS DOUBLE)
          WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
          THEN 0.0e0
          WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
          THEN 120.0e0
        END
      ) * 1024.0e0 AS BIGINT)
    ),
    0
  ) AS "m1"
FROM "t"
WHERE
  "faculty" COLLATE C IN ('math', 'law')
GROUP BY
  "faculty" COLLATE C;

-- records: SELECT COUNT(*) AS k FROM (SELECT colour, COUNT(*) AS n FROM t GROUP BY colour) WHERE n >= 9
-- COUNT(*) of groups, each COUNT(*): one unit moves it by at most 2
SELECT
  "colour" COLLATE C AS "colour",
  COUNT(*) AS "m0"
FROM "t"
WHERE
  "colour" COLLATE C IN ('black', 'white', 'brown')
GROUP BY
  "colour" COLLATE C;
