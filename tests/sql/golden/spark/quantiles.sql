-- values: SELECT MEDIAN(grade) AS middle FROM t
-- MEDIAN(grade): a value is picked by its rank; one person moves the ranks of two values apart by at most 2
SELECT
  CAST(RINT((
    `x` / CAST(0.5e0 AS DOUBLE)
  )) AS BIGINT) AS `place`,
  COUNT(*) AS `n`
FROM (
  SELECT
    CASE
      WHEN `grade` BETWEEN 0.0e0 AND 20.0e0
      THEN `grade`
      WHEN `grade` < 0.0e0
      THEN 0.0e0
      WHEN `grade` <= CAST('Infinity' AS DOUBLE)
      THEN 20.0e0
    END AS `x`
  FROM `t`
  WHERE
    `grade` <= CAST('Infinity' AS DOUBLE)
) AS `kept`
GROUP BY
  1;

-- values: SELECT faculty, QUANTILE(grade, 0.9) AS high, COUNT(time) AS n FROM t WHERE smoker GROUP BY faculty
-- QUANTILE(grade, 0.9): a value is picked by its rank; one person moves the ranks of two values apart by at most 2
-- COUNT(time): one person moves it by at most 1, when smoker changes the outcome of a test
SELECT
  `faculty` AS `faculty`,
  COUNT(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m1`
FROM `t`
WHERE
  `smoker` = 'true' AND `faculty` IN ('math', 'law')
GROUP BY
  `faculty`;
SELECT
  `k0`,
  CAST(RINT((
    `x` / CAST(0.5e0 AS DOUBLE)
  )) AS BIGINT) AS `place`,
  COUNT(*) AS `n`
FROM (
  SELECT
    `faculty` AS `k0`,
    CASE
      WHEN `grade` BETWEEN 0.0e0 AND 20.0e0
      THEN `grade`
      WHEN `grade` < 0.0e0
      THEN 0.0e0
      WHEN `grade` <= CAST('Infinity' AS DOUBLE)
      THEN 20.0e0
    END AS `x`
  FROM `t`
  WHERE
    (
      `smoker` = 'true' AND `faculty` IN ('math', 'law')
    )
    AND `grade` <= CAST('Infinity' AS DOUBLE)
) AS `kept`
GROUP BY
  1,
  2;

-- records: SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY ROUND(time / 7)) AS weeks FROM t
-- PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY ROUND(CAST(time AS DOUBLE PRECISION) / 7)): a value is picked by its rank; adding or removing one record moves the ranks of two values apart by at most 1.5, changing one by at most 2
SELECT
  CAST(RINT((
    `x` / CAST(1.0e0 AS DOUBLE)
  )) AS BIGINT) AS `place`,
  COUNT(*) AS `n`
FROM (
  SELECT
    (
      SIGN(
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
        )
      ) * (
        (
          ABS(
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
            )
          ) + 0.49999999999999994e0
        ) - (
          ABS(
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
            )
          ) + 0.49999999999999994e0
        ) % 1.0e0
      )
    ) AS `x`
  FROM `t`
  WHERE
    NOT (
      (
        SIGN(
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
          )
        ) * (
          (
            ABS(
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
              )
            ) + 0.49999999999999994e0
          ) - (
            ABS(
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
              )
            ) + 0.49999999999999994e0
          ) % 1.0e0
        )
      )
    ) IS NULL
) AS `kept`
GROUP BY
  1;
