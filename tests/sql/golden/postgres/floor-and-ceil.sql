-- values: SELECT SUM(FLOOR(time / 10)) FROM t
-- SUM(FLOOR(time / 10)): one person moves it by at most 0.1·|x − x'| + 1 where a test of time changes its outcome + 2 for any change of time, at most 13
SELECT
  COALESCE(
    SUM(
      CAST(FLOOR(
        (
          (
            (
              (
                CASE
                  WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                  THEN "time"
                  WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                  THEN CAST('0.0' AS DOUBLE PRECISION)
                  WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('120.0' AS DOUBLE PRECISION)
                END
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          ) / CAST(CAST('10.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
        )
      ) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(CEIL(time)) FROM t
-- SUM(CEIL(time)): one person moves it by at most |x − x'| + 1 for any change of time, at most 121
SELECT
  COALESCE(
    SUM(
      CAST(CEIL(
        CASE
          WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
          THEN "time"
          WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('120.0' AS DOUBLE PRECISION)
        END
      ) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
