-- values: SELECT SUM(ROUND(time)) FROM t
-- SUM(ROUND(time)): one person moves it by at most |x − x'| + 1 for any change of time, at most 120
SELECT
  COALESCE(
    SUM(
      CAST(TRUNC(
        (
          CASE
            WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
            THEN "time"
            WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('120.0' AS DOUBLE PRECISION)
          END
        ) + SIGN(
          (
            CASE
              WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
              THEN "time"
              WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
              THEN CAST('0.0' AS DOUBLE PRECISION)
              WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
              THEN CAST('120.0' AS DOUBLE PRECISION)
            END
          )
        ) * CAST('0.49999999999999994' AS DOUBLE PRECISION)
      ) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT SUM(ROUND(time / 7, 1)) FROM t
-- SUM(ROUND(time / 7, 1)): one person moves it by at most 0.142858·|x − x'| + 0.1 for any change of time, at most 17.1
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          TRUNC(
            (
              (
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
                  ) / CAST(CAST('7.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
                )
              ) * CAST('10.0' AS DOUBLE PRECISION)
            ) + SIGN(
              (
                (
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
                    ) / CAST(CAST('7.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
                  )
                ) * CAST('10.0' AS DOUBLE PRECISION)
              )
            ) * CAST('0.49999999999999994' AS DOUBLE PRECISION)
          ) / CAST('10.0' AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
