-- values: SELECT SUM(time % 60) FROM t
-- SUM(time % 60): one person moves it by at most 60, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST((
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
          ) - CAST('60.0' AS DOUBLE PRECISION) * TRUNC(
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
              ) / CAST(CAST('60.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
            )
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT COUNT(*) FROM t WHERE MOD(FLOOR(time), 2) = 0
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  (
    (
      FLOOR(
        CASE
          WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
          THEN "time"
          WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
          THEN CAST('120.0' AS DOUBLE PRECISION)
        END
      )
    ) - CAST('2.0' AS DOUBLE PRECISION) * TRUNC(
      (
        (
          (
            (
              FLOOR(
                CASE
                  WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                  THEN "time"
                  WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                  THEN CAST('0.0' AS DOUBLE PRECISION)
                  WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                  THEN CAST('120.0' AS DOUBLE PRECISION)
                END
              )
            ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
        ) / CAST(CAST('2.0' AS DOUBLE PRECISION) AS DOUBLE PRECISION)
      )
    )
  ) = CAST('0.0' AS DOUBLE PRECISION);
