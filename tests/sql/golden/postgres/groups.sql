-- values, 120 rows: SELECT faculty, AVG(time) AS mean FROM t GROUP BY faculty ORDER BY mean DESC LIMIT 1
-- AVG(time): one person moves it by at most 0.00833334·|x − x'|, at most 1 (over 120 rows or more, known to have a value)
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
  CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
GROUP BY
  CAST("faculty" AS TEXT) COLLATE "C";

-- records: SELECT faculty, SUM(time) AS total FROM t GROUP BY faculty HAVING total > 100
-- SUM(time): adding or removing one record moves it by at most 120, changing one by at most 240
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
  ) AS "m0"
FROM "t"
WHERE
  CAST("faculty" AS TEXT) COLLATE "C" IN ('math', 'law')
GROUP BY
  CAST("faculty" AS TEXT) COLLATE "C";

-- values: SELECT colour, COUNT(*) AS n FROM t GROUP BY colour
-- COUNT(*): one person moves it by at most 2, in both groups together, when colour changes
SELECT
  CAST("colour" AS TEXT) COLLATE "C" AS "colour",
  COUNT(*) AS "m0"
FROM "t"
WHERE
  CAST("colour" AS TEXT) COLLATE "C" IN ('black', 'white', 'brown')
GROUP BY
  CAST("colour" AS TEXT) COLLATE "C";

-- values, 120 rows: SELECT smoker, AVG(time) AS mean FROM t GROUP BY smoker
-- SUM(time): one person moves it by at most 240, in both groups together, when smoker changes
-- COUNT(time): one person moves it by at most 2, in both groups together, when smoker changes
SELECT
  CAST("smoker" AS TEXT) COLLATE "C" AS "smoker",
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
FROM "t"
WHERE
  CAST("smoker" AS TEXT) COLLATE "C" IN ('true', 'false')
GROUP BY
  CAST("smoker" AS TEXT) COLLATE "C";
