-- values: SELECT SUM(ROUND(time)) FROM t
-- SUM(ROUND(time)): one person moves it by at most |x − x'| + 1 for any change of time, at most 120
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          SIGN(
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
          ) * (
            (
              ABS(
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
              ) + 0.49999999999999994e0
            ) - (
              ABS(
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
              ) + 0.49999999999999994e0
            ) % 1.0e0
          )
        )
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(ROUND(time / 7, 1)) FROM t
-- SUM(ROUND(time / 7, 1)): one person moves it by at most 0.142858·|x − x'| + 0.1 for any change of time, at most 17.1
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            (
              SIGN(
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
                      END / CAST(7.0e0 AS DOUBLE)
                    )
                  ) * 10.0e0
                )
              ) * (
                (
                  ABS(
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
                          END / CAST(7.0e0 AS DOUBLE)
                        )
                      ) * 10.0e0
                    )
                  ) + 0.49999999999999994e0
                ) - (
                  ABS(
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
                          END / CAST(7.0e0 AS DOUBLE)
                        )
                      ) * 10.0e0
                    )
                  ) + 0.49999999999999994e0
                ) % 1.0e0
              )
            ) / 10.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
