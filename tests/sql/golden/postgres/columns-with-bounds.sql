-- values: SELECT SUM(time) FROM t
-- SUM(time): one person moves it by at most |x − x'|, at most 120
SELECT
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
FROM "t";

-- values: SELECT MIN(time) FROM t
-- MIN(time): one person moves it by at most |x − x'|, at most 120
SELECT
  LEAST(
    CAST((
      CASE
        WHEN MIN("time") BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
        THEN MIN("time")
        WHEN MIN("time") < CAST('0.0' AS DOUBLE PRECISION)
        THEN CAST('0.0' AS DOUBLE PRECISION)
        WHEN MIN("time") <= CAST('Infinity' AS DOUBLE PRECISION)
        THEN CAST('120.0' AS DOUBLE PRECISION)
      END
    ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT),
    122880
  ) AS "m0"
FROM "t";
