-- values: SELECT SUM(CASE WHEN time > 30 THEN 1 ELSE 0 END) FROM t
-- SUM(CASE WHEN time > 30 THEN 1 ELSE 0 END): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST(CASE
        WHEN "time" > CAST('30.0' AS DOUBLE PRECISION)
        AND "time" <= CAST('Infinity' AS DOUBLE PRECISION)
        THEN CAST('1.0' AS DOUBLE PRECISION)
        ELSE CAST('0.0' AS DOUBLE PRECISION)
      END AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(COALESCE(time, 10)) FROM t
-- SUM(COALESCE(time, 10)): one person moves it by at most |x − x'|, at most 120
SELECT
  COALESCE(
    SUM(
      CAST((
        COALESCE(
          CASE
            WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
            THEN "time"
            WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('120.0' AS DOUBLE PRECISION)
          END,
          CAST('10.0' AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
