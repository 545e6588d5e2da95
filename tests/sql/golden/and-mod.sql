-- values: SELECT SUM(time % 60) FROM t
-- SUM(time % 60): one person moves it by at most 60, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST((
        (
          (
            CASE
              WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
              THEN TRY_CAST("time" AS DOUBLE)
              WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
              THEN 0.0e0
              WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END
          ) - 60.0e0 * TRUNC(
            (
              CASE
                WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
                THEN TRY_CAST("time" AS DOUBLE)
                WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
                THEN 0.0e0
                WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END / CAST(60.0e0 AS DOUBLE)
            )
          )
        )
      ) * 1024.0e0 AS BIGINT)
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
          WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
          THEN TRY_CAST("time" AS DOUBLE)
          WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
          THEN 0.0e0
          WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
          THEN 120.0e0
        END
      )
    ) - 2.0e0 * TRUNC(
      (
        FLOOR(
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
            THEN TRY_CAST("time" AS DOUBLE)
            WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
            THEN 0.0e0
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        ) / CAST(2.0e0 AS DOUBLE)
      )
    )
  ) = 0.0e0;
