-- values: SELECT MAX(s) AS most, MIN(s) AS least FROM (SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty)
-- MAX(s) of groups, each SUM(time): one unit moves it by at most 120
-- MIN(s) of groups, each SUM(time): one unit moves it by at most 120
SELECT
  CAST("faculty" AS TEXT) COLLATE "C" AS "faculty",
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
  ) AS "m1"
FROM "t"
WHERE
  CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
GROUP BY
  CAST("faculty" AS TEXT) COLLATE "C";

-- records: SELECT COUNT(*) AS k FROM (SELECT colour, COUNT(*) AS n FROM t GROUP BY colour) WHERE n >= 9
-- COUNT(*) of groups, each COUNT(*): one unit moves it by at most 2
SELECT
  CAST("colour" AS TEXT) COLLATE "C" AS "colour",
  COUNT(*) AS "m0"
FROM "t"
WHERE
  CAST("colour" AS TEXT) COLLATE "C" IN ('black', 'white', 'brown')
GROUP BY
  CAST("colour" AS TEXT) COLLATE "C";
