-- values: SELECT SUM(time % 60) FROM t
-- SUM(time % 60): one person moves it by at most 60, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            (
              CASE
                WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                THEN `time`
                WHEN `time` < 0.0e0
                THEN 0.0e0
                WHEN `time` <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END
            ) - 60.0e0 * (
              (
                (
                  CASE
                    WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                    THEN `time`
                    WHEN `time` < 0.0e0
                    THEN 0.0e0
                    WHEN `time` <= CAST('Infinity' AS DOUBLE)
                    THEN 120.0e0
                  END / CAST(60.0e0 AS DOUBLE)
                )
              ) - (
                (
                  CASE
                    WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                    THEN `time`
                    WHEN `time` < 0.0e0
                    THEN 0.0e0
                    WHEN `time` <= CAST('Infinity' AS DOUBLE)
                    THEN 120.0e0
                  END / CAST(60.0e0 AS DOUBLE)
                )
              ) % 1.0e0
            )
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT COUNT(*) FROM t WHERE MOD(FLOOR(time), 2) = 0
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  (
    (
      (
        RINT(
          (
            CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END
          )
        ) - CASE
          WHEN RINT(
            (
              CASE
                WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                THEN `time`
                WHEN `time` < 0.0e0
                THEN 0.0e0
                WHEN `time` <= CAST('Infinity' AS DOUBLE)
                THEN 120.0e0
              END
            )
          ) > (
            CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END
          )
          THEN 1.0e0
          ELSE 0.0e0
        END
      )
    ) - 2.0e0 * (
      (
        (
          (
            RINT(
              (
                CASE
                  WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                  THEN `time`
                  WHEN `time` < 0.0e0
                  THEN 0.0e0
                  WHEN `time` <= CAST('Infinity' AS DOUBLE)
                  THEN 120.0e0
                END
              )
            ) - CASE
              WHEN RINT(
                (
                  CASE
                    WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                    THEN `time`
                    WHEN `time` < 0.0e0
                    THEN 0.0e0
                    WHEN `time` <= CAST('Infinity' AS DOUBLE)
                    THEN 120.0e0
                  END
                )
              ) > (
                CASE
                  WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                  THEN `time`
                  WHEN `time` < 0.0e0
                  THEN 0.0e0
                  WHEN `time` <= CAST('Infinity' AS DOUBLE)
                  THEN 120.0e0
                END
              )
              THEN 1.0e0
              ELSE 0.0e0
            END
          ) / CAST(2.0e0 AS DOUBLE)
        )
      ) - (
        (
          (
            RINT(
              (
                CASE
                  WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                  THEN `time`
                  WHEN `time` < 0.0e0
                  THEN 0.0e0
                  WHEN `time` <= CAST('Infinity' AS DOUBLE)
                  THEN 120.0e0
                END
              )
            ) - CASE
              WHEN RINT(
                (
                  CASE
                    WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                    THEN `time`
                    WHEN `time` < 0.0e0
                    THEN 0.0e0
                    WHEN `time` <= CAST('Infinity' AS DOUBLE)
                    THEN 120.0e0
                  END
                )
              ) > (
                CASE
                  WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                  THEN `time`
                  WHEN `time` < 0.0e0
                  THEN 0.0e0
                  WHEN `time` <= CAST('Infinity' AS DOUBLE)
                  THEN 120.0e0
                END
              )
              THEN 1.0e0
              ELSE 0.0e0
            END
          ) / CAST(2.0e0 AS DOUBLE)
        )
      ) % 1.0e0
    )
  ) = 0.0e0;
