-- values: SELECT SUM(FLOOR(time / 10)) FROM t
-- SUM(FLOOR(time / 10)): one person moves it by at most 0.1·|x − x'| + 1 where a test of time changes its outcome + 2 for any change of time, at most 13
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          RINT(
            (
              (
                CASE
                  WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                  THEN `time`
                  WHEN `time` < 0.0e0
                  THEN 0.0e0
                  WHEN `time` <= CAST('Infinity' AS DOUBLE)
                  THEN 120.0e0
                END / CAST(10.0e0 AS DOUBLE)
              )
            )
          ) - CASE
            WHEN RINT(
              (
                (
                  CASE
                    WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                    THEN `time`
                    WHEN `time` < 0.0e0
                    THEN 0.0e0
                    WHEN `time` <= CAST('Infinity' AS DOUBLE)
                    THEN 120.0e0
                  END / CAST(10.0e0 AS DOUBLE)
                )
              )
            ) > (
              (
                CASE
                  WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                  THEN `time`
                  WHEN `time` < 0.0e0
                  THEN 0.0e0
                  WHEN `time` <= CAST('Infinity' AS DOUBLE)
                  THEN 120.0e0
                END / CAST(10.0e0 AS DOUBLE)
              )
            )
            THEN 1.0e0
            ELSE 0.0e0
          END
        )
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(CEIL(time)) FROM t
-- SUM(CEIL(time)): one person moves it by at most |x − x'| + 1 for any change of time, at most 121
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
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
          ) + CASE
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
            ) < (
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
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
